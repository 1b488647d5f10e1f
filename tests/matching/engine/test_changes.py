"""An index that is changed, merged, saved and opened again says what brute force says all along."""

from __future__ import annotations

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.matching.engine.test_batch import batch_of, found_in, told_by
from tests.worlds import anything, graph, model
from triplewire.matching import BruteForce
from triplewire.matching.engine.index import Index
from triplewire.rdf.graph import Event

randoms = st.randoms(use_true_random=False)
ids = st.integers(0, 30).map(lambda number: f"s{number}")


class Changes(RuleBasedStateMachine):
    @initialize(rng=randoms)
    def begin(self, rng: Random) -> None:
        self.model = model(rng)
        self.brute, self.index = BruteForce(self.model), Index(self.model)
        self.folders = TemporaryDirectory()
        self.folder: Path | None = None
        self.ids: set[str] = set()

    @rule(id_=ids, rng=randoms)
    def add_or_replace(self, id_: str, rng: Random) -> None:
        one = anything(rng, id_)
        self.ids.add(id_)
        self.brute.add(one)
        self.index.add(one)

    @rule(rng=randoms, number=st.sampled_from([0, 1, 5, 150]))
    def add_many(self, rng: Random, number: int) -> None:
        some = [anything(rng, f"s{rng.randint(0, 199)}") for _ in range(number)]
        self.ids |= {one.id for one in some}
        for one in some:
            self.brute.add(one)
        self.index.add_all(some)

    @rule(rng=randoms)
    def remove(self, rng: Random) -> None:
        if self.ids:
            id_ = rng.choice(sorted(self.ids))
            self.ids.remove(id_)
            self.brute.remove(id_)
            self.index.remove(id_)
            if self.folder is not None and rng.random() < 0.5:
                self.open_again()
            self.match(rng, False)  # at once: the next change would hide what this one left behind

    @rule(id_=ids)
    def an_unknown_id_cannot_be_removed(self, id_: str) -> None:
        if id_ not in self.ids:
            with pytest.raises(KeyError):
                self.index.remove(id_)

    @rule()
    def merge(self) -> None:
        self.index.merge()

    @rule(name=st.sampled_from(["a", "b"]))
    def save(self, name: str) -> None:
        self.folder = Path(self.folders.name, name)
        self.index.save(self.folder)

    @rule()
    def open_again(self) -> None:
        if self.folder is not None:
            self.index.close()
            self.index = Index.open(self.folder)

    @rule(rng=randoms, bindings=st.booleans())
    def match(self, rng: Random, bindings: bool) -> None:
        event = Event("source", "event", graph(rng))
        assert self.index.match(event, bindings) == self.brute.match(event, bindings)

    @rule(rng=randoms, bindings=st.booleans())
    def match_batch(self, rng: Random, bindings: bool) -> None:
        events = [Event("source", str(number), graph(rng)) for number in range(rng.choice([1, 3]))]
        expected = [match for event in events for match in self.brute.match(event, bindings)]
        if bindings:
            assert told_by(self.index, batch_of(events)) == expected
        else:
            rows = [(match.event, match.subscription, match.score) for match in expected]
            assert found_in(self.index, batch_of(events)) == rows

    @invariant()
    def as_many_are_there(self) -> None:
        assert len(self.index) == len(self.ids)

    def teardown(self) -> None:
        if hasattr(self, "folders"):  # else it ended within its beginning
            self.index.close()
            self.folders.cleanup()


Changes.TestCase.settings = settings(
    max_examples=15, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)


class TestChanges(Changes.TestCase):
    pass

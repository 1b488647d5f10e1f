"""One shard or sixty-four: the matches are those of brute force, and few shards are asked."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from benchmarks.workloads.ops import Workload
from tests.matching.engine.test_batch import batch_of, found_in
from tests.worlds import CLASSES, graph, model, subscription
from triplewire.concepts.model import ConceptModel
from triplewire.errors import IndexFolderError
from triplewire.matching import BruteForce
from triplewire.matching.engine.chunks import compile_chunk, repeated
from triplewire.matching.engine.folder import is_sharded
from triplewire.matching.engine.shards import ShardedIndex, build_shards
from triplewire.rdf.graph import Event
from triplewire.subscriptions.pattern import Alternative, Interest, Pattern, Subscription


def built(subscriptions: list[Subscription], drawn: ConceptModel, count: int, folder: Path) -> ShardedIndex:
    """Shards of some subscriptions, compiled in two chunks; of several with one id the first counts."""
    half = len(subscriptions) // 2
    chunks = [compile_chunk(reversed(some), drawn) for some in (subscriptions[:half], subscriptions[half:])]
    build_shards(chunks, drawn, repeated(chunks), count, folder)
    assert is_sharded(folder)
    return ShardedIndex(folder)


@pytest.mark.parametrize(("seed", "count"), [*((seed, 1 + seed % 5) for seed in range(10)), (10, 64)])
def test_shards_find_what_brute_force_finds(tmp_path: Path, seed: int, count: int) -> None:
    rng = Random(seed)
    drawn = model(rng)
    subscriptions = [subscription(rng, f"s{rng.randrange(60)}") for _ in range(40)]
    interest = Interest((CLASSES[0],), threshold=0.3)
    subscriptions.append(Subscription("i", (Alternative(Pattern(interests=(interest,))),)))
    index, brute = built(subscriptions, drawn, count, tmp_path), BruteForce(drawn)
    for one in reversed(subscriptions):
        brute.add(one)
    assert len(index) == len({one.id for one in subscriptions})
    events = [Event("source", f"event {number}", graph(rng, 12)) for number in range(6)]
    for event in events[:3]:
        assert index.match(event, bindings=True) == brute.match(event, bindings=True)
    expected = [(m.event, m.subscription, m.score) for event in events for m in brute.match(event)]
    assert found_in(index, batch_of(events)) == expected
    told = index.match_batch(batch_of(events), bindings=True).matches
    assert told == [match for event in events for match in brute.match(event, bindings=True)]


def test_an_event_visits_few_shards_and_they_are_of_one_size(tmp_path: Path) -> None:
    load = Workload(classes=10)
    subscriptions = [load.subscription(f"s{number:03}") for number in range(320)]
    index = built(subscriptions, load.model, 64, tmp_path)
    sizes = [len(index.shard(number)) for number in range(64)]
    assert (min(sizes), max(sizes)) == (5, 5)
    events = [load.event(f"e{number}") for number in range(20)]
    visits = index.router.of_batch(batch_of(events))
    assert not visits.refused
    assert len(visits.rows) / 20 < 16
    assert [index.router.of_event(event) for event in events] == [
        sorted(visits.shards[visits.rows == number].tolist()) for number in range(20)
    ]
    index.match_batch(batch_of(events))
    assert index.work["shards visited"] == len(visits.rows)


def test_a_folder_whose_header_is_gone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IndexFolderError, match="SHARDS"):
        ShardedIndex(tmp_path)

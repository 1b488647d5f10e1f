"""The index: subscriptions in, matches out, with changes live at once.

Most subscriptions are in one large segment, the snapshot. What is added goes through small segments, and all are merged
into a new snapshot in the background. Whoever matches looks at one state, and waits for nobody.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from triplewire.concepts.model import ConceptModel
from triplewire.errors import IndexFolderError
from triplewire.matching.answer import told_match
from triplewire.matching.engine.encoded import Flags
from triplewire.matching.engine.facts import Facts
from triplewire.matching.engine.folder import Version, Writer, open_current, while_current
from triplewire.matching.engine.journal import added, changes, removed
from triplewire.matching.engine.segment import Segment
from triplewire.matching.engine.state import State
from triplewire.matching.engine.tables import Prepared, prepare
from triplewire.matching.engine.verify import Verifier
from triplewire.matching.matcher import Lapse, Match, TooManyMappingsError
from triplewire.rdf.graph import Event
from triplewire.subscriptions.pattern import Subscription

if TYPE_CHECKING:
    import pyarrow as pa

    from triplewire.matching.engine.batch import BatchMatcher, BatchMatches, Left
    from triplewire.matching.explanation import Explanation

log = logging.getLogger(__name__)

MERGE_AT = 4096
"""So many changes, and a tenth of the snapshot, are merged into a new one in the background."""

MOST_LOOKS = 1000
"""So often new subscriptions are verified before they are built into a segment, however few they are."""


class Index:
    """Finds the subscriptions that an event trips.

    An index lives in memory, or in a folder once it is saved to one or opened from it. There, what ``add`` and
    ``remove`` did outlives the process from the moment they return; ``sync`` makes sure that it outlives the machine.
    One index may change a folder. Others that have it open stay as they are until they ``sync``. ``work`` counts the
    nodes visited, candidates verified and filters evaluated.
    """

    def __init__(self, model: ConceptModel) -> None:
        self.work: Counter[str] = Counter()
        self._model: ConceptModel | None = model
        self._state: State | None = State()
        self._fixed = 0
        """How many of the state's segments are the snapshot, or are being merged into the next one."""
        self._version: Version | None = None
        self._writer: Writer | None = None
        self._since: list[bytes] | None = None
        """While a version is being written, the changes that come too late for it."""
        self._merging = threading.Lock()
        self._changing = threading.RLock()
        self._batching = threading.Lock()
        self._batches: BatchMatcher | None = None
        self._background: threading.Thread | None = None
        self._changes = 0
        self._looks = 0

    @classmethod
    def build(cls, subscriptions: Iterable[Subscription], model: ConceptModel) -> Index:
        """An index of many subscriptions; of several with one id the last counts."""
        return cls.of(Segment.built(subscriptions, model), model)

    @classmethod
    def of(cls, segment: Segment, model: ConceptModel) -> Index:
        """An index whose snapshot is a segment."""
        index = cls(model)
        index._state, index._fixed = State((segment,)), 1
        return index

    @classmethod
    def open(cls, folder: Path, model: ConceptModel | None = None) -> Index:
        """The index in a folder, mapped into memory.

        It brings its model with it; one that is given must be the same. Others may have it open at the same time, and
        one of them may change it.
        """
        version = open_current(folder)
        if model is not None and model.content_hash != version.model_hash:
            raise IndexFolderError(f"{folder} was made with another ontology: compile it again")
        index = cls(ConceptModel() if model is None else model)
        index._model, index._state, index._version = model, None, version
        return index

    @classmethod
    def over(cls, folder: Path) -> Index:
        """An index in memory that begins as the one in a folder, mapped: what is changed stays in this process."""
        version = open_current(folder)
        index = cls(version.model())
        index._load(version)
        return index

    @property
    def model(self) -> ConceptModel:
        if self._model is None and self._version is not None:
            self._model = self._version.model()
        return self._model or ConceptModel()

    def __len__(self) -> int:
        return self._now().size()

    @property
    def ids(self) -> pa.Array:
        """The ids of the snapshot's subscriptions, removed ones among them, by number: in their own order."""
        segments = self._now().segments
        return segments[0].arrow_ids if segments else pa.array([], pa.large_string())

    def add(self, subscription: Subscription) -> None:
        self.add_all([subscription])

    def add_all(self, subscriptions: Iterable[Subscription]) -> None:
        """Keep many subscriptions; one that has the id of another is kept in its place."""
        latest = {one.id: prepare(one, self.model) for one in subscriptions}
        with self._changing:
            self._now()
            self._write(lambda: added(one.subscription for one in latest.values()))
            self._put(list(latest.values()))
        self._merge_if_due()

    def remove(self, id_: str) -> None:
        with self._changing:
            state = self._now()
            if not state.has(id_):
                raise KeyError(id_)
            self._write(lambda: removed(id_))
            self._state = state.without({id_})
            self._changes += 1
        self._merge_if_due()

    def match(self, event: Event, bindings: bool = False) -> list[Match]:
        return self.match_or_lapse(event, bindings)[0]

    def match_or_lapse(self, event: Event, bindings: bool = False) -> tuple[list[Match], list[Lapse]]:
        """The matches of an event, and the subscriptions that were given up on it, each by id."""
        state = self._now()
        found = self._finish(state, bindings, event, dict.fromkeys(state.segments), state.new)
        self._tidy_if_due(state)
        return sorted_out(found[id_] for id_ in sorted(found))

    def match_batch(self, batch: pa.RecordBatch, bindings: bool = False) -> BatchMatches:
        """The matches of many events, quicker than one by one.

        The batch has a row for each event, in three columns of text or of bytes in UTF-8. ``data`` is the event's graph
        as N-Triples or N-Quads, whose named graphs count as one. ``home`` names its home vertex, ``_:H`` or ``<iri>``;
        where it is null or empty there is none, and nobody looks for one. ``id`` is only what the matches with bindings
        are told to be of. Other columns are ignored.

        What comes back is in the order of the rows, then of the ids. An event that cannot be read is ``refused`` by its
        row number, and the others are matched. ``bindings`` have to be found match by match; events without matches
        cost no more for it. ``work`` counts what was done, and as ``events read one by one`` those that had to be made
        into objects: for interests, residuals and whatever else is verified, for bindings, and where one term alone
        does not tell what it means.

        All subscriptions that were added count, from the first event on. Several threads wait for each other here, and
        nowhere else. What numbers need, groups of equal patterns without ids, is ``trie.match_batch``.
        """
        state = self._now()
        if state.new:
            self._tidy()
            state = self._now()
        with self._batching:
            if self._batches is None:
                from triplewire.matching.engine.batch import BatchMatcher  # which loads Arrow

                self._batches = BatchMatcher()
            return self._batches.match(batch, state, self.work, partial(self._finish, state, bindings), bindings)

    def _finish(
        self, state: State, bindings: bool, event: Event, left: Left, new: Iterable[Prepared] = ()
    ) -> dict[str, Match | Lapse]:
        """The matches of what is left to do for an event, and what is given up, by id."""
        facts = Facts(event, self.model)
        verifier = Verifier(facts, self.work)
        found: dict[str, Match | Lapse] = {}
        for segment, searched in left.items():
            sure, candidates = searched or segment.match(facts, self.work, state.number)
            matched = segment.interested(facts, state.number) | dict.fromkeys(sure, 1.0)
            if not bindings:
                found |= _told(event, segment, matched)
            for number in {**matched, **dict.fromkeys(candidates)} if bindings else candidates:
                known = segment.records[number]
                if matched.get(number) == 1.0 and known.tells_nothing:
                    found[known.id] = Match(event.id, known.id, 1.0, known.only_bindings)
                    continue
                if (told := self._verified(known, event, verifier, bindings, matched.get(number))) is not None:
                    found[known.id] = told
        for one in new:
            if (told := self._verified(one.subscription, event, verifier, bindings)) is not None:
                found[one.subscription.id] = told
        return found

    def explain(self, id_: str, event: Event) -> Explanation:
        from triplewire.matching.explanation import explain  # which looks things up as matchers do

        subscription = self._now().find(id_)
        if subscription is None:
            raise KeyError(id_)
        return explain(subscription, event, self.model)

    def save(self, folder: Path) -> None:
        """Write all to a folder as a new version, and live there from now on; if that fails, where it lived before."""
        self._now()
        if self._version is not None and self._version.folder == folder:
            self.merge()
            return
        writer = Writer(folder)
        try:
            self._merge(writer)
        except BaseException:
            writer.close()
            raise

    def merge(self) -> None:
        """Merge all changes into a new snapshot. Whoever matches meanwhile does not wait for it."""
        with self._changing:
            self._now()
            self._take_folder()
        self._merge()

    def sync(self) -> None:
        """Be at one with the folder: have all changes so far on the disk, and see those that another has made."""
        with self._changing:
            if self._writer is not None and self._writer.journal is not None:
                self._writer.journal.sync()
            elif self._version is not None:
                self._now()
                while_current(self._version.folder, partial(self._follow, self._version))

    def close(self) -> None:
        """End what goes on in the background, and let others write to the folder."""
        if self._background is not None:
            self._background.join()
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _verified(
        self, one: Subscription, event: Event, verifier: Verifier, bindings: bool, known: float | None = None
    ) -> Match | Lapse | None:
        """Whether a subscription matches. What goes wrong with it costs it alone.

        With a score that is ``known`` it matches in any case; what takes too long to find is not told then.
        """
        self.work["candidates verified"] += 1
        try:
            if bindings and (outcome := verifier.outcome(one)) is not None:
                return told_match(event.id, one, verifier.closed, *outcome)
            if not bindings and (score := verifier.score(one)) is not None:
                return Match(event.id, one.id, score)
        except TooManyMappingsError as error:
            if known is not None:
                return Match(event.id, one.id, known, ())
            self.work["given up"] += 1
            return Lapse(event.id, one.id, str(error))
        except Exception as error:
            log.exception("subscription %r cannot be tried on event %r, and is passed over", one.id, event.id)
            return Lapse(event.id, one.id, f"{type(error).__name__}: {error}")
        return None

    def _now(self) -> State:
        """The state; that of an index in a folder is read when it is first needed."""
        if self._state is None:
            with self._changing:
                if self._state is None and self._version is not None:
                    self._load(self._version)
        return State() if self._state is None else self._state

    def _load(self, version: Version) -> None:
        self._fixed = 1
        self._state = self._changed(State((version.segment(self.model),)), version.lines)

    def _follow(self, version: Version, name: str) -> None:
        """See what the version of that name has come to, whether it is the one at hand or has replaced it."""
        if name == version.name:
            self._state = self._changed(self._now(), version.more())
            return
        newer = Version(version.folder, name)
        if self.model.content_hash != newer.model_hash:
            raise IndexFolderError(f"{newer.folder} has been made again with another ontology: open it again")
        self._version = newer
        self._load(newer)

    def _changed(self, state: State, lines: Iterable[bytes]) -> State:
        """The next state, with the changes that a journal's lines tell."""
        latest = changes(lines)
        if not latest:
            return state
        fresh = [prepare(one, self.model) for one in latest.values() if one is not None]
        self._changes += len(latest)
        return state.without(latest).with_new(fresh, self.model).tidied(self.model, self._fixed)

    def _take_folder(self) -> None:
        """Be the one that changes the folder, if the index lives in one."""
        if self._writer is None and self._version is not None:
            writer = Writer(self._version.folder)
            try:
                writer.go_on(self._version)
            except BaseException:
                writer.close()
                raise
            self._writer = writer

    def _write(self, line: Callable[[], bytes]) -> None:
        """Write a change to the journal, if the index lives in a folder or is on its way into one."""
        self._take_folder()
        if self._writer is not None and self._writer.journal is not None:
            self._writer.journal.write(text := line())
        elif self._since is not None:
            text = line()
        if self._since is not None:
            self._since.append(text)

    def _put(self, prepared: Sequence[Prepared]) -> None:
        """Bring subscriptions into the state, in place of those with the same ids."""
        self._state = self._now().with_new(prepared, self.model)
        self._state = self._state.tidied(self.model, self._fixed)
        self._changes += len(prepared)

    def _tidy_if_due(self, state: State) -> None:
        """Have what is new built into a segment once it has been verified often enough."""
        self._looks += len(state.new)
        if self._looks > MOST_LOOKS and self._changing.acquire(blocking=False):
            try:
                self._looks = 0
                self._in_background(self._tidy)
            finally:
                self._changing.release()

    def _tidy(self) -> None:
        with self._changing:
            self._state = self._now().tidied(self.model, self._fixed, most_new=0)

    def _merge_if_due(self) -> None:
        """Begin to merge once there is much to merge."""
        with self._changing:
            snapshot = sum(map(len, self._now().segments[: self._fixed]))
            if self._changes > max(MERGE_AT, snapshot // 10):
                self._in_background(self._merge)

    def _in_background(self, task: Callable[[], None]) -> None:
        """Do something beside whoever adds and matches, unless something is being done already."""

        def run() -> None:
            try:
                task()
            except Exception:
                log.exception("the index could not be tidied up; it goes on as it is, and tries again later")

        if self._background is None or not self._background.is_alive():
            # Not a daemon: the compiler, if it has to be waited for, cannot be torn down while it is at work.
            self._background = threading.Thread(target=run, name="triplewire-index")
            self._background.start()

    def _merge(self, into: Writer | None = None) -> None:
        """Write a new snapshot: of the folder, or into another where the index lives from then on."""
        with self._merging:
            with self._changing:
                state = self._now().tidied(self.model, self._fixed, most_new=0)
                gone = [one.removed > 0 for one in state.segments]
                writer = into or self._writer
                self._since = None if writer is None else []
                self._state, self._fixed, self._changes = state, len(state.segments), 0
            try:
                whole = len(state.segments) == 1 and not gone[0].any()
                merged = state.segments[0] if whole else Segment.merged(self.model, state.segments, removed=gone)
                unfinished = None if writer is None else writer.write_version(merged, self.model)
                with self._changing:
                    if writer is not None and unfinished is not None:
                        merged = self._move(writer, unfinished)
                    self._replace(state, gone, merged)
            finally:
                self._since = None

    def _move(self, writer: Writer, unfinished: Path) -> Segment:
        """Live in the version that a writer has made, which counts from now on."""
        self._version = writer.publish(unfinished, b"".join(self._since or ()))
        if self._writer is not None and self._writer is not writer:
            self._writer.close()
        self._writer = writer
        return self._version.segment(self.model)

    def _replace(self, old: State, gone: Sequence[Flags], merged: Segment) -> None:
        """Put what was merged in the place of the segments that it was made of, without what is gone since then."""
        for segment, before in zip(old.segments, gone, strict=True):
            for number in np.flatnonzero((segment.removed > 0) & ~before).tolist():
                merged.remove(segment.ids_of([number]), int(segment.removed[number]))
        now = self._now()
        self._state, self._fixed = State((merged, *now.segments[len(old.segments) :]), now.new, now.number), 1


def sorted_out(found: Iterable[Match | Lapse]) -> tuple[list[Match], list[Lapse]]:
    """The matches, and what was given up."""
    matches: list[Match] = []
    lapses: list[Lapse] = []
    for one in found:
        if isinstance(one, Match):
            matches.append(one)
        else:
            lapses.append(one)
    return matches, lapses


def _told(event: Event, segment: Segment, matched: Mapping[int, float]) -> dict[str, Match]:
    """The matches of subscriptions by their ids."""
    return {
        id_: Match(event.id, id_, score)
        for id_, score in zip(segment.ids_of(list(matched)), matched.values(), strict=True)
    }

"""The matcher as it stands at a log position.

Which ontology and which subscriptions are valid for an event depends on its position alone, so that a replay matches
as the first run did. An index version is named after just that, not after the snapshot that a worker began from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np
import pyarrow as pa

from triplewire.matching.engine.index import Index
from triplewire.pipeline.snapshots import Snapshot, Snapshots, load_version, read_revision
from triplewire.store import Revision, Store


class Standing:
    """An index that moves along the log, taking in and letting go only what changes on the way.

    ``work`` counts what all indexes did that it came to.
    """

    def __init__(self, store: Store, snapshots: Snapshots) -> None:
        self.work: Counter[str] = Counter()
        self._store = store
        self.snapshots = snapshots
        self._version: int | None = None
        self._snapshot: Snapshot | None = None
        self._position = 0

    def stretches(self, batch: pa.RecordBatch) -> Iterator[tuple[Index, str, pa.RecordBatch]]:
        """Cut a batch, in log order by its column ``position``, where something changes.

        Each stretch comes with its index, which is good until the next stretch is asked for, and with the name of the
        index version: the ontology's version, and the first position for which it and the same subscriptions are valid.
        """
        positions = batch.column("position").to_numpy()
        if not len(positions):
            return
        cuts = self._store.boundaries(int(positions[0]), int(positions[-1]))
        if self._version is not None and self.snapshots.newest(self._version) != self._snapshot:
            self._version = None  # begin from the newer one
        since = [self._store.last_boundary(int(positions[0])), *cuts]
        starts = [0, *np.searchsorted(positions, cuts).tolist()]
        for valid, start, end in zip(since, starts, [*starts[1:], len(positions)], strict=True):
            if start < end:
                index = self.at(int(positions[start]))
                yield index, f"{self._version}@{valid}", batch.slice(start, end - start)

    def at(self, position: int) -> Index:
        """The index for the event at a position, which is in the log: until it is, what is valid for it may change."""
        version = self._store.ontology_version(position)
        if version != self._version:
            self._begin(version, position)
            self._version = version
        else:
            self._change(self._store.changes(*sorted((self._position, position))), position)
        self._position = position
        self._index.work = self.work
        return self._index

    def _begin(self, version: int, position: int) -> None:
        """Start anew: another ontology may give every subscription another meaning."""
        self._snapshot = snapshot = self.snapshots.find(version)
        if snapshot is None:
            self._index = Index(load_version(self._store, version))
            self._change(self._store.revisions(position - 1, position), position)
            return
        self._index = Index.over(self.snapshots.path(snapshot))
        if position > snapshot.position:
            self._change(self._store.changes(snapshot.position, position, snapshot.change), position)
        else:
            self._change(self._store.changes(position, snapshot.position + 1), position)

    def _change(self, changed: Sequence[Revision], position: int) -> None:
        """Have of each subscription that changed the revision that is valid, if there is one."""
        valid = {revision.id: revision for revision in changed if revision.covers(position)}
        read = {id_: read_revision(revision, self._index.model) for id_, revision in valid.items()}
        for id_ in {revision.id: None for revision in changed if read.get(revision.id) is None}:
            with suppress(KeyError):
                self._index.remove(id_)
        if added := [subscription for subscription in read.values() if subscription is not None]:
            self._index.add_all(added)

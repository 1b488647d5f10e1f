"""An index in shards, for more subscriptions than one machine holds: an event goes to the shards that can match it.

::

    SHARDS              how many there are, and which of them each root leads to
    roots/              the index of roots
    shard-0000/         an index like any other
    …

Subscriptions are ordered by their roots and cut into shards of one size, so that those which an event can match
together are together. A root with many subscriptions leads to several shards.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from triplewire.concepts.model import ConceptModel
from triplewire.errors import EventError, IndexFolderError
from triplewire.matching.engine.batch import BatchMatches
from triplewire.matching.engine.chunks import Chunk, put_together
from triplewire.matching.engine.encoded import Flags
from triplewire.matching.engine.folder import SHARDS
from triplewire.matching.engine.index import Index
from triplewire.matching.engine.roots import ANYTHING, root_segment
from triplewire.matching.matcher import Lapse, Match
from triplewire.rdf.graph import Event
from triplewire.subscriptions.pattern import Subscription

if TYPE_CHECKING:
    from triplewire.matching.explanation import Explanation

ROOTS = "roots"
OPEN = 256
"""So many shards are kept open."""


def build_shards(chunks: Sequence[Chunk], model: ConceptModel, removed: Sequence[Flags], count: int, out: Path) -> None:
    """Write the subscriptions that are not removed as shards into a folder."""
    assigned, routes = assign(chunks, removed, count)
    for shard in range(count):
        write_shard(chunks, model, assigned, shard, out)
    write_routes(routes, model, count, out)


def write_shard(
    chunks: Sequence[Chunk], model: ConceptModel, assigned: Sequence[NDArray[np.int32]], shard: int, out: Path
) -> None:
    """Write one shard: the subscriptions that are assigned to it."""
    elsewhere = [places != shard for places in assigned]
    _save(Index.of(put_together(chunks, model, elsewhere), model), shard_folder(out, shard))


def write_routes(routes: dict[bytes, list[int]], model: ConceptModel, count: int, out: Path) -> None:
    """Write what tells which shards an event goes to, with which the folder is whole."""
    names = sorted(routes)
    _save(Index.of(root_segment(names, model), model), out / ROOTS)
    header = {"shards": count, "always": routes.get(ANYTHING, []), "roots": [routes[name] for name in names]}
    (out / SHARDS).write_text(json.dumps(header))


def shard_folder(folder: Path, shard: int) -> Path:
    return folder / f"shard-{shard:04}"


class Visits(NamedTuple):
    """Which rows of a batch visit which shards: pairs, by shard and then by row. And the rows that cannot be read."""

    rows: NDArray[np.int64]
    shards: NDArray[np.int64]
    refused: dict[int, EventError]

    def by_shard(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """The shards that are visited, each with its rows."""
        own, starts = np.unique(self.shards, return_index=True)
        return zip(own.tolist(), np.split(self.rows, starts[1:]), strict=False)


class Router:
    """Tells which shards can match an event."""

    def __init__(self, folder: Path) -> None:
        try:
            header = json.loads((folder / SHARDS).read_text())
            self.shards: int = header["shards"]
            self._always = np.array(header["always"], np.int64)
            led = [np.array(shards, np.int64) for shards in header["roots"]]
        except (OSError, ValueError, LookupError) as error:
            raise IndexFolderError(f"{folder / SHARDS} cannot be read: {error}") from None
        self._led = np.concatenate([np.empty(0, np.int64), *led])
        self._offsets = np.concatenate([[0], np.cumsum([len(shards) for shards in led], dtype=np.int64)])
        self._index = Index.open(folder / ROOTS)

    @property
    def model(self) -> ConceptModel:
        return self._index.model

    def of_event(self, event: Event) -> list[int]:
        roots = np.array([int(match.subscription) for match in self._index.match(event)], np.int64)
        found: list[int] = np.union1d(self._always, self._led[_ranges(*self._spans(roots))]).tolist()
        return found

    def of_batch(self, batch: pa.RecordBatch) -> Visits:
        """The shards that can match each of the events of a batch."""
        told = self._index.match_batch(batch)
        readable = np.setdiff1d(np.arange(batch.num_rows), list(told.refused))
        starts, counts = self._spans(told.subscriptions.cast(pa.int64()).to_numpy())
        rows = np.repeat(np.repeat(np.arange(batch.num_rows), np.diff(told.offsets)), counts)
        shards = self._led[_ranges(starts, counts)]
        rows = np.concatenate([rows, np.tile(readable, len(self._always))])
        shards = np.concatenate([shards, np.repeat(self._always, len(readable))])
        keys = np.unique(shards * max(batch.num_rows, 1) + rows)
        return Visits(keys % max(batch.num_rows, 1), keys // max(batch.num_rows, 1), told.refused)

    def _spans(self, roots: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the shards that roots lead to begin, and how many they are."""
        return self._offsets[roots], self._offsets[roots + 1] - self._offsets[roots]


class ShardedIndex:
    """All shards as one matcher; each is opened when an event first goes there.

    ``work`` counts the ``shards visited``, and what the shards' own indexes count.
    """

    def __init__(self, folder: Path) -> None:
        self.router = Router(folder)
        self.work: Counter[str] = Counter()
        self.shard = lru_cache(OPEN)(lambda number: Index.open(shard_folder(folder, number)))

    @property
    def model(self) -> ConceptModel:
        return self.router.model

    def match(self, event: Event, bindings: bool = False) -> list[Match]:
        return self.match_or_lapse(event, bindings)[0]

    def match_or_lapse(self, event: Event, bindings: bool = False) -> tuple[list[Match], list[Lapse]]:
        """The matches of an event, and the subscriptions that were given up on it, each by id."""
        visited = self.router.of_event(event)
        self.work["shards visited"] += len(visited)
        found = [self._at(shard).match_or_lapse(event, bindings) for shard in visited]
        matches = chain.from_iterable(matches for matches, _ in found)
        lapses = chain.from_iterable(lapses for _, lapses in found)
        return sorted(matches, key=lambda match: match.subscription), sorted(lapses)

    def match_batch(self, batch: pa.RecordBatch, bindings: bool = False) -> BatchMatches:
        """The matches of many events, as ``Index.match_batch`` has them."""
        visits = self.router.of_batch(batch)
        self.work["shards visited"] += len(visits.rows)
        parts = [
            (rows, self._at(shard).match_batch(batch.take(pa.array(rows)), bindings))
            for shard, rows in visits.by_shard()
        ]
        return united(batch.num_rows, parts, visits.refused, bindings)

    def add(self, subscription: Subscription) -> None:
        raise NotImplementedError(f"{subscription.id} cannot be added: shards are compiled, and do not change")

    def remove(self, id_: str) -> None:
        raise NotImplementedError(f"{id_} cannot be removed: shards are compiled, and do not change")

    def explain(self, id_: str, event: Event) -> Explanation:
        for shard in range(self.router.shards):
            try:
                return self._at(shard).explain(id_, event)
            except KeyError:
                continue
        raise KeyError(id_)

    def __len__(self) -> int:
        return sum(len(self._at(shard)) for shard in range(self.router.shards))

    def _at(self, shard: int) -> Index:
        index = self.shard(shard)
        index.work = self.work
        return index


def united(
    count: int,
    parts: Iterable[tuple[NDArray[np.int64], BatchMatches]],
    refused: dict[int, EventError],
    bindings: bool,
) -> BatchMatches:
    """The matches of events that several were asked about: each of the rows that are told."""
    events, ids, scores = [np.empty(0, np.int64)], [pa.array([], pa.large_string())], [np.empty(0)]
    matches: list[Match] = []
    lapses: list[tuple[int, Lapse]] = []
    for rows, told in parts:
        events.append(np.repeat(rows, np.diff(told.offsets)))
        ids.append(told.subscriptions)
        scores.append(told.scores)
        matches += told.matches or []
        lapses += [(int(rows[number]), lapse) for number, lapse in told.lapses]
        refused = refused | {int(rows[number]): error for number, error in told.refused.items()}
    numbers, names = np.concatenate(events), pa.concat_arrays(ids)
    table = pa.table({"event": numbers, "id": names})
    order = pc.sort_indices(table, [("event", "ascending"), ("id", "ascending")]).to_numpy()
    order = order[~np.isin(numbers[order], list(refused))]
    offsets = np.searchsorted(numbers[order], np.arange(count + 1))
    told_matches = [matches[place] for place in order.tolist()] if bindings else None
    unknown = np.full(len(order), -1, np.int32)  # the numbers of several indexes would mean several things
    names, values = names.take(pa.array(order)), np.concatenate(scores)[order]
    return BatchMatches(offsets, names, unknown, values, refused, told_matches, sorted(lapses))


def assign(
    chunks: Sequence[Chunk], removed: Sequence[Flags], count: int
) -> tuple[list[NDArray[np.int32]], dict[bytes, list[int]]]:
    """The shard of each chunk's subscriptions, -1 where they are removed; and the shards that each root leads to."""
    names = sorted({root for chunk in chunks for root in chunk.roots})
    numbers = {name: number for number, name in enumerate(names)}
    own = [np.array([numbers[root] for root in chunk.roots], np.int32) for chunk in chunks]
    firsts = [
        np.where(gone, -1, roots[chunk.root_members[chunk.root_offsets[:-1]]] if len(chunk) else -1)
        for chunk, roots, gone in zip(chunks, own, removed, strict=True)
    ]
    every = np.concatenate([np.empty(0, np.int64), *firsts])
    living = np.flatnonzero(every >= 0)
    places = np.full(len(every), -1, np.int32)
    order = living[np.argsort(every[living], kind="stable")]
    places[order] = np.arange(len(order)) * count // max(len(order), 1)
    assigned = np.split(places, np.cumsum([len(chunk) for chunk in chunks])[:-1])
    led: dict[bytes, set[int]] = {}
    for chunk, roots, shards in zip(chunks, own, assigned, strict=True):
        pairs = np.stack([roots[chunk.root_members], np.repeat(shards, np.diff(chunk.root_offsets))])
        for root, shard in np.unique(pairs, axis=1).T.tolist():
            if shard >= 0:
                led.setdefault(names[root], set()).add(shard)
    return assigned, {name: sorted(shards) for name, shards in led.items()}


def _save(index: Index, folder: Path) -> None:
    index.save(folder)
    index.close()


def _ranges(starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers that follow each other, so many from each start on."""
    ends = np.cumsum(counts)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + counts, counts)

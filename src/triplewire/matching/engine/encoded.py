"""Patterns and events as numbers: what the trie is built from, and what is matched with it.

A pattern is vertices, each with labels, and arcs between them. A **label** is anything that can be asked of one
vertex by itself: that it is the home vertex, that it is a certain constant, that it has a class, that its value lies
in a range. An event says which labels each of its vertices has, and where its values stand; everything that the
concept model infers has been entered on the event's side by then.

A pattern matches an event if its vertices can be mapped to the event's such that each has all the labels, and each
arc is there; where the pattern is *injective*, with different resources for different vertices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]
Offsets = NDArray[np.int64]
Flags = NDArray[np.bool_]

HOME_LABEL = 0
"""The label of the event's home vertex, and of a pattern's."""


@dataclass(frozen=True)
class Ranges:
    """The labels that ask for a value in a range, numbered from ``first`` on.

    Label ``first + i`` holds of a vertex whose rank in domain ``domain[i]`` is there (not -1) and lies in ``low[i] …
    high[i]``, both included. A domain is a kind of values that are ordered among themselves: numbers, texts, moments.
    Ranks come from all the bounds that patterns name: the value equal to bound ``j`` has rank ``2j + 1``, values
    between bound ``j - 1`` and bound ``j`` have rank ``2j``.
    """

    first: int
    domain: Ids
    low: Ids
    high: Ids


@dataclass(frozen=True)
class EncodedPatterns:
    """Many patterns. Pattern ``i`` has the vertices ``vertices[i] … vertices[i + 1]`` and the arcs likewise.

    Vertex ``v`` (counted over all patterns) has the labels ``labels[label_offsets[v] : label_offsets[v + 1]]``, in
    ascending order, each once. An arc is a row of subject, property, object; its ends are numbers of vertices counted
    from the pattern's first, and never the same (a loop is a label). Each pattern has at least one vertex.
    """

    vertices: Offsets
    label_offsets: Offsets
    labels: Ids
    arc_offsets: Offsets
    arcs: Ids
    injective: Flags
    ranges: Ranges

    def __len__(self) -> int:
        return len(self.vertices) - 1


@dataclass(frozen=True)
class Relations:
    """What holds with what among the words of patterns.

    A vertex with label ``l`` has all of ``above[offsets[l] : offsets[l + 1]]``, among which is itself. An arc with
    property ``p`` has ``general[p]`` too.
    """

    offsets: Offsets
    above: Ids
    general: Ids

    @classmethod
    def of(cls, above: Iterable[Iterable[int]], general: Iterable[int]) -> Relations:
        rows = [sorted(row) for row in above]
        labels = np.array([label for row in rows for label in row], np.int32)
        return cls(offsets_of(map(len, rows)), labels, np.array(list(general), np.int32))


@dataclass(frozen=True)
class EncodedEvent:
    """One event. Its vertices are ``0 … len(resource) - 1``.

    Vertex ``v`` has the labels ``labels[label_offsets[v] : label_offsets[v + 1]]``, ascending, each once, ranges left
    out. ``ranks[d, v]`` is the rank of its value in domain ``d``, or -1. ``arcs`` are rows of subject, property,
    object, each once. ``resource`` is false for literals, which an injective mapping may use twice.
    """

    label_offsets: Offsets
    labels: Ids
    ranks: Ids
    arcs: Ids
    resource: Flags

    def __len__(self) -> int:
        return len(self.resource)


@dataclass(frozen=True)
class EncodedEvents:
    """Many events. Event ``i`` has the vertices ``vertices[i] … vertices[i + 1]`` and the arcs likewise.

    Everything else is as in one event. The ends of arcs are counted from the event's own first vertex.
    """

    vertices: Offsets
    label_offsets: Offsets
    labels: Ids
    ranks: Ids
    arc_offsets: Offsets
    arcs: Ids
    resource: Flags

    def __len__(self) -> int:
        return len(self.vertices) - 1


def join(events: Sequence[EncodedEvent]) -> EncodedEvents:
    """Put events one after the other."""
    return EncodedEvents(
        offsets_of(len(event) for event in events),
        offsets_of(length for event in events for length in np.diff(event.label_offsets)),
        np.concatenate([event.labels for event in events]),
        np.concatenate([event.ranks for event in events], axis=1),
        offsets_of(len(event.arcs) for event in events),
        np.concatenate([event.arcs for event in events]),
        np.concatenate([event.resource for event in events]),
    )


def offsets_of(lengths: Iterable[int] | NDArray[np.integer[Any]]) -> Offsets:
    """Where each of some things of these lengths begins if they stand one after the other, and where the last ends."""
    given = lengths if isinstance(lengths, np.ndarray) else np.fromiter(lengths, np.int64)
    offsets = np.zeros(len(given) + 1, np.int64)
    np.cumsum(given, out=offsets[1:])
    return offsets


def spans(starts: Offsets, lengths: Offsets) -> Offsets:
    """The numbers ``start … start + length`` of each, one after the other."""
    ends = np.cumsum(lengths)
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(int(lengths.sum()))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, as one type to the compiler: those of files cannot be written to, so none can."""
    view = np.ascontiguousarray(array).view(np.ndarray)
    view.flags.writeable = False
    return view

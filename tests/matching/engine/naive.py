"""Matching encoded patterns as plainly as their definition reads: the oracle of the trie."""

from __future__ import annotations

from triplewire.matching.engine.encoded import EncodedEvent, EncodedPatterns
from triplewire.matching.engine.kernels.batch import SMALL
from triplewire.matching.engine.kernels.masks import CAREFUL
from triplewire.matching.engine.trie import PATIENCE, Scratch, Trie, expand, match


def naive(patterns: EncodedPatterns, event: EncodedEvent) -> list[int]:
    """The numbers of the patterns that match."""
    return [number for number in range(len(patterns)) if _matches(patterns, number, event)]


def agrees(trie: Trie, patterns: EncodedPatterns, event: EncodedEvent, scratch: Scratch) -> bool:
    """Whether a trie finds these patterns: with masks, with reasons looked for from the beginning, and with lists."""
    right = naive(patterns, event)
    found = []
    for scratch.small, scratch.work.counters[CAREFUL] in ((SMALL, PATIENCE), (SMALL, 0), (0, PATIENCE)):
        found.append(sorted(expand(trie, match(trie, event, scratch)).tolist()))
    return found == [right, right, right]


def _matches(patterns: EncodedPatterns, number: int, event: EncodedEvent) -> bool:
    first, last = patterns.vertices[number : number + 2]
    candidates = [
        [w for w in range(len(event)) if all(_holds(patterns, label, event, w) for label in _labels(patterns, v))]
        for v in range(first, last)
    ]
    here = set(map(tuple, event.arcs.tolist()))
    arcs = patterns.arcs[slice(*patterns.arc_offsets[number : number + 2])].tolist()
    injective = bool(patterns.injective[number])

    def extend(mapping: list[int]) -> bool:
        if len(mapping) == last - first:
            return True
        return any(fits([*mapping, w]) and extend([*mapping, w]) for w in candidates[len(mapping)])

    def fits(mapping: list[int]) -> bool:
        used = [w for w in mapping if event.resource[w]]
        if injective and len(set(used)) < len(used):
            return False
        known = range(len(mapping))
        return all((mapping[s], p, mapping[o]) in here for s, p, o in arcs if s in known and o in known)

    return extend([])


def _labels(patterns: EncodedPatterns, vertex: int) -> list[int]:
    return patterns.labels[patterns.label_offsets[vertex] : patterns.label_offsets[vertex + 1]].tolist()


def _holds(patterns: EncodedPatterns, label: int, event: EncodedEvent, vertex: int) -> bool:
    ranges = patterns.ranges
    if label < ranges.first:
        return label in event.labels[event.label_offsets[vertex] : event.label_offsets[vertex + 1]]
    number = label - ranges.first
    rank = int(event.ranks[ranges.domain[number], vertex])
    return rank >= 0 and bool(ranges.low[number] <= rank <= ranges.high[number])

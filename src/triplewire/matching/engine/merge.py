"""Several segments as one: the living patterns of each, put into the words of all, without compiling anything again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplewire.matching.engine.encoded import (
    HOME_LABEL,
    EncodedPatterns,
    Flags,
    Ids,
    Offsets,
    Ranges,
    offsets_of,
    read_only,
    spans,
)
from triplewire.matching.engine.events import Vocabulary
from triplewire.matching.engine.interests import Interests
from triplewire.matching.engine.kernels.texts import put_texts
from triplewire.matching.engine.ranks import Domains, Range
from triplewire.matching.engine.tables import Layout
from triplewire.matching.engine.texts import Dictionary, Texts


class Part(NamedTuple):
    """A layout, its patterns, and which of its subscriptions are removed."""

    layout: Layout
    patterns: EncodedPatterns
    removed: Flags


def merge(parts: Sequence[Part]) -> tuple[Layout, EncodedPatterns, list[Ids]]:
    """The layout and patterns of all the parts' living subscriptions, of which no two have the same id.

    And for each part the number that each of its subscriptions has in the whole, -1 if it was removed.
    """
    owners = _in_order(parts)
    living = [owners[i][part.layout.owners] >= 0 for i, part in enumerate(parts)]
    kept = [_living(part.patterns, living[i]) for i, part in enumerate(parts)]
    words = _Words([part.layout.vocabulary for part in parts], kept)
    patterns = _joined(kept, words)
    layout = Layout(
        ids=taken([part.layout.ids for part in parts], owners),
        vocabulary=words.vocabulary,
        owners=_all([owners[i][p.layout.owners][living[i]] for i, p in enumerate(parts)], np.int32),
        decided=_all([p.layout.decided[living[i]] for i, p in enumerate(parts)], np.bool_),
        loose=np.sort(_all([(o := owners[i][p.layout.loose])[o >= 0] for i, p in enumerate(parts)], np.int32)),
        interests=_interests([part.layout.interests for part in parts], owners),
    )
    return layout, patterns, owners


def taken(texts: Sequence[Texts], owners: Sequence[Ids]) -> Texts:
    """A text for each subscription of the whole, out of the parts'."""
    lengths = np.zeros(sum(int((own >= 0).sum()) for own in owners), np.int64)
    for one, own in zip(texts, owners, strict=True):
        lengths[own[own >= 0]] = np.diff(one.offsets)[own >= 0]
    offsets = offsets_of(lengths)
    data = np.empty(int(offsets[-1]), np.uint8)
    for one, own in zip(texts, owners, strict=True):
        put_texts(read_only(one.offsets), read_only(one.data), own, offsets, data)
    return Texts(offsets, data)


def _in_order(parts: Sequence[Part]) -> list[Ids]:
    """For each part the numbers of its living subscriptions in the order of all their ids, -1 for the others."""
    living = ~np.concatenate([part.removed for part in parts])
    ids = [id_ for part in parts for id_ in compress(part.layout.ids, (~part.removed).tolist())]
    numbers = np.full(len(living), -1, np.int32)
    numbers[np.flatnonzero(living)[sorted(range(len(ids)), key=ids.__getitem__)]] = np.arange(len(ids))
    return np.split(numbers, np.cumsum([len(part.removed) for part in parts])[:-1])


class _Words:
    """The words that the parts' living patterns use, and each part's numbers in them; -1 where a word is not used."""

    def __init__(self, old: Sequence[Vocabulary], patterns: Sequence[EncodedPatterns]) -> None:
        labels = [_used(v.labels, np.unique(p.labels[p.labels < p.ranges.first]) - 1) for v, p in _pairs(old, patterns)]
        properties = [_used(v.properties, np.unique(p.arcs[:, 1])) for v, p in _pairs(old, patterns)]
        ranges = [_used_ranges(v.domains, p) for v, p in _pairs(old, patterns)]
        self.wanted: list[Range] = list(dict.fromkeys(r for own in ranges for r in own.values()))
        self.vocabulary = Vocabulary(
            Dictionary.of(text for own in labels for text in own.values()),
            Dictionary.of(text for own in properties for text in own.values()),
            Domains.of(self.wanted),
        )
        self.first = len(self.vocabulary.labels) + 1
        new_label = {text: number + 1 for number, text in enumerate(self.vocabulary.labels.texts)}
        new_property = {text: number for number, text in enumerate(self.vocabulary.properties.texts)}
        new_range = {range_: self.first + i for i, range_ in enumerate(self.wanted)}
        self.labels: list[Ids] = []
        self.properties: list[Ids] = []
        for i, one in enumerate(patterns):
            numbers = np.full(one.ranges.first + len(one.ranges.low), -1, np.int32)
            numbers[HOME_LABEL] = HOME_LABEL
            for number, text in labels[i].items():
                numbers[number + 1] = new_label[text]
            for number, range_ in ranges[i].items():
                numbers[one.ranges.first + number] = new_range[range_]
            self.labels.append(numbers)
            arcs = np.full(len(old[i].properties), -1, np.int32)
            for number, text in properties[i].items():
                arcs[number] = new_property[text]
            self.properties.append(arcs)

    @property
    def ranges(self) -> Ranges:
        return self.vocabulary.domains.ranges(self.first, self.wanted)

    def renumbered(self, part: int, patterns: EncodedPatterns) -> tuple[Ids, Ids]:
        """The labels and arcs of a part's patterns in the words of all."""
        labels = self.labels[part][patterns.labels]
        vertices = np.repeat(np.arange(len(patterns.label_offsets) - 1), np.diff(patterns.label_offsets))
        arcs = patterns.arcs.copy()
        arcs[:, 1] = self.properties[part][arcs[:, 1]]
        return labels[np.lexsort((labels, vertices))], arcs


def _pairs(
    vocabularies: Sequence[Vocabulary], patterns: Sequence[EncodedPatterns]
) -> Iterator[tuple[Vocabulary, EncodedPatterns]]:
    return zip(vocabularies, patterns, strict=True)


def _used(dictionary: Dictionary, numbers: Ids) -> dict[int, bytes]:
    return {number: dictionary.texts[number] for number in numbers.tolist() if number >= 0}


def _used_ranges(domains: Domains, patterns: EncodedPatterns) -> dict[int, Range]:
    ranges = patterns.ranges
    used = np.unique(patterns.labels[patterns.labels >= ranges.first]) - ranges.first
    some = Ranges(ranges.first, ranges.domain[used], ranges.low[used], ranges.high[used])
    return dict(zip(used.tolist(), domains.values(some), strict=True))


def _living(patterns: EncodedPatterns, living: Flags) -> EncodedPatterns:
    """Some of the patterns."""
    if living.all():
        return patterns
    sizes, arcs = np.diff(patterns.vertices), np.diff(patterns.arc_offsets)
    vertices = spans(patterns.vertices[:-1][living], sizes[living])
    lengths = np.diff(patterns.label_offsets)[vertices]
    return EncodedPatterns(
        offsets_of(sizes[living]),
        offsets_of(lengths),
        patterns.labels[spans(patterns.label_offsets[:-1][vertices], lengths)],
        offsets_of(arcs[living]),
        patterns.arcs[spans(patterns.arc_offsets[:-1][living], arcs[living])],
        patterns.injective[living],
        patterns.ranges,
    )


def _joined(patterns: Sequence[EncodedPatterns], words: _Words) -> EncodedPatterns:
    labels = np.empty(sum(len(one.labels) for one in patterns), np.int32)
    arcs = np.empty((sum(len(one.arcs) for one in patterns), 3), np.int32)
    label = arc = 0
    for part, one in enumerate(patterns):
        labels[label : label + len(one.labels)], arcs[arc : arc + len(one.arcs)] = words.renumbered(part, one)
        label += len(one.labels)
        arc += len(one.arcs)
    return EncodedPatterns(
        _one_after_other([one.vertices for one in patterns]),
        _one_after_other([one.label_offsets for one in patterns]),
        labels,
        _one_after_other([one.arc_offsets for one in patterns]),
        arcs,
        _all([one.injective for one in patterns], np.bool_),
        words.ranges,
    )


def _one_after_other(parts: Sequence[Offsets]) -> Offsets:
    """Offsets in parts that stand one after the other."""
    offsets = np.zeros(sum(len(part) - 1 for part in parts) + 1, np.int64)
    place = 0
    for part in parts:
        offsets[place + 1 : place + len(part)] = part[1:] + offsets[place]
        place += len(part) - 1
    return offsets


def _interests(parts: Sequence[Interests], owners: Sequence[Ids]) -> Interests:
    texts = {text: None for one in parts for text in one.concepts}
    numbers = {text: number for number, text in enumerate(texts)}
    kept = [own[one.owners] >= 0 for own, one in zip(owners, parts, strict=True)]
    lengths = [np.diff(one.offsets)[keep] for one, keep in zip(parts, kept, strict=True)]
    members = [
        _numbers(numbers[text] for text in one.concepts)[one.members[spans(one.offsets[:-1][keep], length)]]
        for one, keep, length in zip(parts, kept, lengths, strict=True)
    ]
    return Interests(
        Texts.of(texts),
        _all([own[one.owners][keep] for own, one, keep in zip(owners, parts, kept, strict=True)], np.int32),
        offsets_of(_all(lengths, np.int64)),
        _all(members, np.int32),
        np.concatenate([one.thresholds[keep] for one, keep in zip(parts, kept, strict=True)]),
    )


def _numbers(numbers: object) -> Ids:
    return np.fromiter(numbers, np.int32)  # type: ignore[call-overload,no-any-return]


def _all(arrays: Sequence[NDArray[Any]], dtype: type[np.generic]) -> NDArray[Any]:
    return np.concatenate(arrays).astype(dtype, copy=False)

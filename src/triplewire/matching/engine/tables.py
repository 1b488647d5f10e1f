"""Subscriptions laid out as arrays, which can be saved, mapped into memory and merged as they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from triplewire.concepts.model import ConceptModel
from triplewire.matching.engine import trie as tries
from triplewire.matching.engine.compile import HOME_KEY, Compiled, compile_alternative
from triplewire.matching.engine.conditions import Label
from triplewire.matching.engine.encoded import HOME_LABEL, EncodedPatterns, Flags, Ids, offsets_of
from triplewire.matching.engine.events import Vocabulary
from triplewire.matching.engine.interests import Interests
from triplewire.matching.engine.postings import Postings
from triplewire.matching.engine.ranks import Domains, Range
from triplewire.matching.engine.relations import relations_of
from triplewire.matching.engine.texts import Dictionary, Texts
from triplewire.subscriptions.pattern import Alternative, Interest, Pattern, Subscription


@dataclass(frozen=True)
class Prepared:
    """A subscription with what it is asked in the trie: compiled once, however often it is built into a segment.

    ``ways`` are the ways of its alternatives. One without vertices makes the subscription a candidate for every event.
    """

    subscription: Subscription
    ways: tuple[Compiled, ...]
    interests: tuple[Interest, ...]


def prepare(subscription: Subscription, model: ConceptModel) -> Prepared:
    ways: list[Compiled] = []
    interests: list[Interest] = []
    for alternative in subscription.alternatives:
        if _is_interest(alternative):
            interests += alternative.pattern.interests
        else:
            ways += compile_alternative(alternative, model)
    return Prepared(subscription, tuple(ways), tuple(interests))


def _is_interest(alternative: Alternative) -> bool:
    """Whether an alternative is one interest and nothing else."""
    pattern = alternative.pattern
    only = Pattern(interests=pattern.interests, mapping=pattern.mapping)
    return len(pattern.interests) == 1 and pattern == only and alternative.residual is None


@dataclass(frozen=True)
class Layout:
    """Subscriptions, numbered in the order of their ids, and what they are asked.

    Pattern ``i`` of the trie is a way of subscription ``owners[i]``, which is ``decided`` by it or a candidate.
    ``loose`` are the subscriptions that are candidates for every event.
    """

    ids: Texts
    vocabulary: Vocabulary
    owners: Ids
    decided: Flags
    loose: Ids
    interests: Interests


@dataclass(frozen=True)
class Tables:
    """What events are matched with."""

    layout: Layout
    trie: tries.Trie
    postings: Postings

    @classmethod
    def of(cls, layout: Layout, patterns: EncodedPatterns, model: ConceptModel) -> Tables:
        trie = tries.build_trie(patterns, relations_of(layout.vocabulary, model))
        return cls(layout, trie, Postings.of(layout.interests))


def lay_out(prepared: Iterable[Prepared]) -> tuple[Layout, EncodedPatterns, list[Subscription]]:
    """Subscriptions, no two of the same id; the trie's patterns; and the subscriptions by number."""
    rows = sorted(prepared, key=lambda one: id_key(one.subscription.id))
    ways = [(owner, way) for owner, one in enumerate(rows) for way in one.ways if way.vertices]
    vocabulary, patterns = _encode([way for _, way in ways])
    loose = [owner for owner, one in enumerate(rows) if any(not way.vertices for way in one.ways)]
    layout = Layout(
        ids=Texts.of(id_key(one.subscription.id) for one in rows),
        vocabulary=vocabulary,
        owners=np.array([owner for owner, _ in ways], np.int32),
        decided=np.array([way.decided for _, way in ways], np.bool_),
        loose=np.array(loose, np.int32),
        interests=Interests.of((owner, interest) for owner, one in enumerate(rows) for interest in one.interests),
    )
    return layout, patterns, [one.subscription for one in rows]


def id_key(id_: str) -> bytes:
    """An id as it is kept: the bytes are in the order of the code points."""
    return id_.encode("utf-8", "surrogatepass")


def _encode(ways: Sequence[Compiled]) -> tuple[Vocabulary, EncodedPatterns]:
    """The words of some patterns, and the patterns in the numbers of these words."""
    words: dict[Label, None] = {}
    properties: dict[bytes, None] = {}
    for way in ways:
        for labels in way.vertices:
            words.update(dict.fromkeys(labels))
        properties.update(dict.fromkeys(arc[1] for arc in way.arcs))
    words.pop(HOME_KEY, None)
    ranges = [word for word in words if isinstance(word, Range)]
    vocabulary = Vocabulary(
        Dictionary.of(word for word in words if isinstance(word, bytes)),
        Dictionary.of(properties),
        Domains.of(ranges),
    )
    first = len(vocabulary.labels) + 1
    numbers: dict[Label, int] = {text: number + 1 for number, text in enumerate(vocabulary.labels.texts)}
    numbers |= {range_: first + i for i, range_ in enumerate(ranges)}
    numbers[HOME_KEY] = HOME_LABEL
    arcs = {text: number for number, text in enumerate(vocabulary.properties.texts)}
    labels_ = [sorted(numbers[label] for label in labels) for way in ways for labels in way.vertices]
    patterns = EncodedPatterns(
        vertices=offsets_of(len(way.vertices) for way in ways),
        label_offsets=offsets_of(map(len, labels_)),
        labels=np.array([number for row in labels_ for number in row], np.int32),
        arc_offsets=offsets_of(len(way.arcs) for way in ways),
        arcs=np.array([(s, arcs[p], o) for way in ways for s, p, o in way.arcs], np.int32).reshape(-1, 3),
        injective=np.array([way.injective for way in ways], np.bool_),
        ranges=vocabulary.domains.ranges(first, ranges),
    )
    return vocabulary, patterns

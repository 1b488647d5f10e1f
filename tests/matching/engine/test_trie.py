"""The trie finds what the definition finds."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

import numpy as np
import pytest

from tests.matching.engine.encoded_worlds import (
    Vocabulary,
    closed,
    encoded,
    some_event,
    some_patterns,
    some_ranges,
    some_relations,
)
from tests.matching.engine.naive import agrees, naive
from triplewire.matching.engine.encoded import HOME_LABEL, EncodedEvent, EncodedPatterns, Ranges, Relations, join
from triplewire.matching.engine.kernels.batch import SMALL, VISITS
from triplewire.matching.engine.kernels.layout import MORE
from triplewire.matching.engine.kernels.plan import END
from triplewire.matching.engine.trie import MOST_VERTICES, Scratch, Trie, build_trie, expand, match, match_batch

WORLDS = [
    Vocabulary(),
    Vocabulary(labels=2, properties=1, ranges=0),
    Vocabulary(labels=30, ranges=40),
    Vocabulary(labels=3, ranges=60, domains=1, bounds=20),
    Vocabulary(labels=60, properties=40, ranges=0),
]


@pytest.mark.parametrize("words", WORLDS, ids=range(len(WORLDS)))
@pytest.mark.parametrize("number", [1, 10, 200])
def test_the_trie_finds_what_the_definition_finds(words: Vocabulary, number: int) -> None:
    for seed in range(200 // number):
        rng = Random(seed)
        patterns = some_patterns(rng, words, min(number, 1 + 40 * seed + number // 2))
        trie = build_trie(patterns)
        scratch = Scratch(trie)
        for _ in range(4):
            event = some_event(rng, words)
            assert agrees(trie, patterns, event, scratch)


def test_many_comparisons_of_few_attributes_find_what_the_definition_finds() -> None:
    words = Vocabulary(labels=3, properties=2, ranges=100, domains=1, bounds=20)
    for seed in range(8):
        rng = Random(seed)
        drawn = [_comparisons(rng, words) for _ in range(200)]
        patterns = encoded(drawn, some_ranges(rng, words))
        trie = build_trie(patterns)
        assert len(trie.runs) > 0
        scratch = Scratch(trie)
        for _ in range(4):
            event = some_event(rng, words, size=6)
            arcs = {(rng.choice([0, 0, 1, 2]), rng.randrange(2), rng.randrange(1, 6)) for _ in range(rng.randint(2, 9))}
            labels = np.array([HOME_LABEL, 1, 2, 1, 2], np.int32)  # of the first two, and of two others
            event = replace(
                event,
                label_offsets=np.array([0, 1, 3, 3, 4, 5, 5]),
                labels=labels,
                arcs=np.array(sorted(arcs), np.int32),
            )
            assert agrees(trie, patterns, event, scratch)


def _comparisons(rng: Random, words: Vocabulary) -> tuple[list[list[int]], list[tuple[int, int, int]], bool]:
    """Home, and values of its attributes or of other values', most of which are asked to be in a range."""
    size = rng.randint(2, 5)
    ranges = range(words.labels, words.labels + words.ranges)
    labels = [
        [HOME_LABEL],
        *([rng.choice(ranges) if rng.random() < 0.9 else rng.randint(1, 2)] for _ in range(1, size)),
    ]
    arcs = [(0 if rng.random() < 0.6 else end - 1, rng.randrange(words.properties), end) for end in range(1, size)]
    return labels, arcs, rng.random() < 0.3


@pytest.mark.parametrize("words", [words for words in WORLDS if words.labels > 2])
def test_a_hierarchy_changes_how_patterns_are_planned_and_not_what_they_match(words: Vocabulary) -> None:
    detailed = 0
    for seed in range(40):
        rng = Random(seed)
        patterns = some_patterns(rng, words, 40, most=7)
        relations = some_relations(rng, words)
        trie = build_trie(patterns, relations)
        detailed += details(trie)
        scratch = Scratch(trie)
        for _ in range(4):
            event = closed(some_event(rng, words), relations)
            assert agrees(trie, patterns, event, scratch)
    assert detailed > 100


def details(trie: Trie) -> int:
    return int(((trie.nodes[:, 2] == END) & (trie.nodes[:, 3] & MORE > 0)).sum())


def below_one(count: int) -> Relations:
    """As many labels from 2 on, all below label 1 and none below another."""
    return Relations.of([[0], [1], *([1, 2 + number] for number in range(count))], [0])


@pytest.mark.parametrize(("count", "expected"), [(15, 15), (16, 16), (17, 0)])
def test_of_more_than_sixteen_patterns_that_exclude_each_other_none_has_a_detail(count: int, expected: int) -> None:
    drawn = [([[HOME_LABEL, 2 + number], []], [(0, 0, 1)], True) for number in range(count)]
    assert details(build_trie(encoded(drawn, no_ranges(2 + count)), below_one(count))) == expected


@pytest.mark.parametrize(("alike", "expected"), [(2, 0), (3, 6)])
def test_of_many_patterns_one_in_eight_must_be_able_to_match_together(alike: int, expected: int) -> None:
    drawn = [([[HOME_LABEL, 2 + number // alike], []], [(0, 0, 1)], True) for number in range(17)]
    assert details(build_trie(encoded(drawn, no_ranges(30)), below_one(28))) == expected


def no_ranges(first: int) -> Ranges:
    nothing = np.zeros(0, np.int32)
    return Ranges(first, nothing, nothing, nothing)


def test_patterns_at_different_levels_of_a_hierarchy_share_all_but_their_details() -> None:
    levels = range(1, 6)
    drawn = [
        ([[HOME_LABEL], [one], [other]], [(0, one - 1, 1), (1, other - 1, 2)], True)
        for one in levels
        for other in levels
    ]
    patterns = encoded(drawn, no_ranges(6))
    trie = build_trie(patterns, Relations.of([[0], *(range(1, level + 1) for level in levels)], [0] * 5))
    event = EncodedEvent(
        np.array([0, 1, 6, 11]),
        np.array([HOME_LABEL, *levels, *levels], np.int32),
        np.zeros((0, 3), np.int32),
        np.array([(end, level - 1, end + 1) for end in (0, 1) for level in levels], np.int32),
        np.ones(3, np.bool_),
    )
    scratch = Scratch(trie)
    assert len(expand(trie, match(trie, event, scratch))) == len(drawn) == details(trie)
    assert scratch.visits <= len(drawn) + 3


def test_a_vertex_whose_labels_come_late_is_looked_for_by_the_arc_that_leads_on() -> None:
    drawn = [([[HOME_LABEL], [level], []], [(0, 0, 1), (1, 1, 2)], True) for level in range(1, 4)]
    trie = build_trie(encoded(drawn, no_ranges(4)), Relations.of([[0], [1], [1, 2], [1, 2, 3]], [0, 1]))
    size = 50
    event = EncodedEvent(
        np.minimum(np.arange(size + 1), 1),
        np.array([HOME_LABEL], np.int32),
        np.zeros((0, size), np.int32),
        np.array([*((0, 0, end) for end in range(1, size - 1)), (size - 2, 1, size - 1)], np.int32),
        np.ones(size, np.bool_),
    )
    scratch = Scratch(trie)
    assert details(trie) == 3
    assert len(match(trie, event, scratch)) == 0
    assert scratch.visits <= 3 + len(drawn)


@pytest.mark.parametrize("small", [SMALL, 0], ids=["masks", "lists"])
@pytest.mark.parametrize("injective", [True, False])
@pytest.mark.parametrize("there", [[[1, 2], [1]], [[1], [1, 2]], [[1, 2]]])
def test_late_vertices_that_want_the_same_are_told_apart(there: list[list[int]], injective: bool, small: int) -> None:
    drawn = [([[HOME_LABEL, home], [1], [2]], [(0, 0, 1), (0, 0, 2)], injective) for home in (1, 2)]
    trie = build_trie(encoded(drawn, no_ranges(3)), Relations.of([[0], [1], [1, 2]], [0]))
    rows = [[HOME_LABEL, 1, 2], *there]
    event = EncodedEvent(
        np.append(0, np.cumsum([len(row) for row in rows])),
        np.array([label for row in rows for label in row], np.int32),
        np.zeros((0, len(rows)), np.int32),
        np.array([(0, 0, end) for end in range(1, len(rows))], np.int32),
        np.ones(len(rows), np.bool_),
    )
    scratch = Scratch(trie)
    scratch.small = small
    assert details(trie) == 2
    assert len(match(trie, event, scratch)) == (2 if len(there) > 1 or not injective else 0)


def test_an_event_may_have_thousands_of_vertices() -> None:
    rng = Random(3)
    words = Vocabulary(labels=300, properties=20, ranges=0)
    patterns = some_patterns(rng, words, 300, most=4)
    trie = build_trie(patterns)
    scratch = Scratch(trie)
    few = some_event(rng, words, size=60)
    size = 10_000
    labels = np.sort(np.array([rng.randrange(1, 300) for _ in range(size)], np.int32))
    arcs = {(rng.randrange(60, size), rng.randrange(20), rng.randrange(60, size)) for _ in range(100_000)}
    many = EncodedEvent(
        np.concatenate([few.label_offsets, len(few.labels) + 1 + np.arange(size - 60)]),
        np.concatenate([few.labels, labels[60:]]),
        np.concatenate([few.ranks, np.full((len(few.ranks), size - 60), -1, np.int32)], axis=1),
        np.concatenate([few.arcs, np.array(sorted(arcs), np.int32)]),
        np.concatenate([few.resource, np.ones(size - 60, np.bool_)]),
    )
    before = set(match(trie, few, scratch).tolist())
    scratch.work.counters[VISITS] = 0
    assert before < set(match(trie, many, scratch).tolist())
    assert scratch.visits < 20 * size


def test_a_batch_is_matched_like_its_events() -> None:
    rng = Random(1)
    patterns = some_patterns(rng, Vocabulary(), 50)
    trie = build_trie(patterns)
    scratch = Scratch(trie)
    events = [some_event(rng, Vocabulary(), most=9) for _ in range(30)]
    scratch.small = 7  # some with masks, some with lists
    alone = [sorted(match(trie, event, scratch).tolist()) for event in events]
    scratch.groups = scratch.groups[: len(trie.nodes)]  # room for one event at a time
    offsets, groups = match_batch(trie, join(events), scratch)
    assert [sorted(groups[a:b].tolist()) for a, b in pairwise(offsets)] == alone


def test_patterns_that_differ_in_names_only_are_one_group() -> None:
    ranges = some_ranges(Random(0), Vocabulary())
    labels = [[HOME_LABEL], [1], [2], [1]]
    arcs = [(0, 0, 1), (1, 1, 2), (0, 0, 3)]
    renamed = [[1], [2], [1], [HOME_LABEL]]
    trie = build_trie(encoded([(labels, arcs, True), (renamed, [(3, 0, 0), (0, 1, 1), (3, 0, 2)], True)], ranges))
    assert (np.diff(trie.offsets) > 0).sum() == 1


def test_names_that_no_pattern_uses_are_ignored() -> None:
    rng = Random(2)
    patterns = some_patterns(rng, Vocabulary(), 100)
    trie = build_trie(patterns)
    scratch = Scratch(trie)
    wider = Vocabulary(labels=1000, properties=1000)
    for _ in range(20):
        event = some_event(rng, wider)
        assert sorted(expand(trie, match(trie, event, scratch)).tolist()) == naive(patterns, event)


def test_a_trie_of_no_patterns_matches_nothing() -> None:
    nothing = encoded([], some_ranges(Random(0), Vocabulary()))
    trie = build_trie(nothing)
    assert len(match(trie, some_event(Random(0), Vocabulary()), Scratch(trie))) == 0


def test_a_pattern_may_have_as_many_vertices_as_a_plan_has_places() -> None:
    def chain(length: int) -> EncodedPatterns:
        arcs = [(number, 0, number + 1) for number in range(length - 1)]
        return encoded([([[]] * length, arcs, False)], some_ranges(Random(0), Vocabulary()))

    trie = build_trie(chain(MOST_VERTICES))
    event = some_event(Random(0), Vocabulary())
    loop = replace(event, arcs=np.array([[0, 0, 0]], np.int32))
    assert len(match(trie, loop, Scratch(trie))) == 1
    with pytest.raises(ValueError, match="at most 254"):
        build_trie(chain(MOST_VERTICES + 1))

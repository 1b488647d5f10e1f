"""Hierarchies against a closure that is naive on purpose."""

from hypothesis import given, settings
from hypothesis import strategies as st

from triplewire.concepts.hierarchy import Hierarchy
from triplewire.concepts.spelling import Spelling

NODES = "abcdefgh"
graphs = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=14)


def naive(pairs):
    """Every pair (lower, upper), found by trying."""
    found = {(n, n) for pair in pairs for n in pair} | set(pairs)
    while more := {(a, d) for a, b in found for c, d in found if b == c} - found:
        found |= more
    return found


def hierarchy(pairs):
    return Hierarchy({child: {p for c, p in pairs if c == child} for child, _ in pairs})


@settings(max_examples=200, deadline=None)
@given(graphs)
def test_above_below_and_is_below_are_the_naive_closure(pairs):
    built, expected = hierarchy(pairs), naive(pairs)
    for node in built.terms:
        assert built.above(node) == {b for a, b in expected if a == node}
        assert built.below(node) == {a for a, b in expected if b == node}
        assert all(built.is_below(node, other) == ((node, other) in expected) for other in built.terms)


@settings(max_examples=200, deadline=None)
@given(graphs, st.sampled_from(NODES), st.sampled_from(NODES))
def test_the_nearest_common_ancestors_have_no_common_ancestor_strictly_below_them(pairs, a, b):
    built, pairs_ = hierarchy(pairs), naive(pairs) | {(n, n) for n in NODES}
    common = {c for c in NODES if (a, c) in pairs_ and (b, c) in pairs_}
    nearest = {c for c in common if not any((d, c) in pairs_ and (c, d) not in pairs_ for d in common)}
    assert built.nearest_common(a, b) == nearest


@settings(max_examples=120, deadline=None)
@given(graphs)
def test_the_arrays_hold_each_closure_sorted(pairs):
    built = hierarchy(pairs)
    offsets, ancestors = built.closure
    for term, number in built.numbers.items():
        row = ancestors[offsets[number] : offsets[number + 1]].tolist()
        assert row == sorted(row)
        assert {built.terms[n] for n in row} == built.above(term)


@given(graphs)
def test_cycles_are_the_groups_that_are_each_above_the_others(pairs):
    expected = naive(pairs)
    both = {frozenset(b for b in NODES if {(a, b), (b, a)} <= expected) for a in NODES}
    assert {frozenset(c) for c in hierarchy(pairs).cycles} == {group for group in both if len(group) > 1}


def test_depth_is_the_longest_way_up():
    assert Hierarchy({"a": {"b", "d"}, "b": {"c"}, "c": {"d"}}).depth() == 3
    assert Hierarchy({}).depth() == 0


def test_a_very_deep_hierarchy_needs_no_recursion():
    chain = Hierarchy({n: {n + 1} for n in range(5000)})
    assert chain.is_below(0, 5000)
    assert chain.depth() == 5000


@given(st.sampled_from(["computer", "notebook", "telephonenumber"]), st.data())
def test_a_word_with_one_letter_wrong_is_found(word, data):
    place = data.draw(st.integers(0, len(word) - 1))
    wrong = word[:place] + data.draw(st.sampled_from(["", "x", "xx"])) + word[place + 1 :]
    assert Spelling(["computer", "notebook", "telephonenumber", "zebra"]).nearest(wrong) == word

"""A value's ranks decide every comparison with a constant as SPARQL does, to the last bit."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal

from tests.worlds import LITERALS
from triplewire.matching.engine.ranks import Domains, intersection, prefix_range, range_of
from triplewire.rdf.terms import XSD
from triplewire.subscriptions.evaluate import holds
from triplewire.subscriptions.pattern import VALUE, Call

BIG = 1 << 24
"""From here on whole numbers are too close together for single precision; from its square, for double."""

numbers = st.one_of(
    st.integers(-3, 3),
    st.integers(BIG - 3, BIG + 3),
    st.integers((1 << 53) - 3, (1 << 53) + 3),
    st.just(10**400),
)
typed = st.one_of(
    st.builds(lambda n: Literal(str(n), datatype=XSD.integer), numbers),
    st.builds(lambda n, d: Literal(f"{n}.{d}", datatype=XSD.decimal), numbers, st.integers(0, 99)),
    st.builds(lambda n, t: Literal(f"{n}.5E0", datatype=t), numbers, st.sampled_from([XSD.float, XSD.double])),
    st.sampled_from(
        [Literal(text, datatype=t) for text in ("INF", "-INF", "NaN", "-0") for t in (XSD.float, XSD.double)]
    ),
)
texts = st.builds(
    lambda text, language: Literal(text, language=language) if language else Literal(text),
    st.text("ab\x00\ud7ff\ue000\U0010ffff", max_size=3),
    st.sampled_from([None, "en", "EN", "de"]),
)
moments = st.builds(
    lambda day, hour, zone, date: Literal(
        f"2020-01-{day:02}{zone}" if date else f"2020-01-{day:02}T{hour:02}:00:00{zone}",
        datatype=XSD.date if date else XSD.dateTime,
    ),
    st.integers(1, 4),
    st.sampled_from([0, 10, 14]),
    st.sampled_from(["", "Z", "+14:00", "-14:00"]),
    st.booleans(),
)
literals = st.one_of(st.sampled_from(LITERALS), typed, texts, moments)


@settings(max_examples=200, deadline=None)
@given(st.lists(literals, min_size=1, max_size=8), st.lists(literals, min_size=1, max_size=4), st.booleans())
def test_ranks_decide_comparisons_as_filters_do(constants, values, read):
    asked = [
        (op, c, found) for op in ("<", "<=", "=", ">=", ">") for c in constants if (found := range_of(op, c, read))
    ]
    asked += [("strstarts", c, found) for c in constants if (found := prefix_range(c))]
    domains = Domains.of(found for _, _, found in asked)
    ranges = domains.ranges(0, [found for _, _, found in asked])
    assert list(domains.values(ranges)) == [found for _, _, found in asked]
    for value in values:
        places = {domain: (first, last) for domain, first, last in domains.places(value)}
        for number, (operator, constant, _) in enumerate(asked):
            first, last = places.get(int(ranges.domain[number]), (-1, -1))
            low, high = int(ranges.low[number]), int(ranges.high[number])
            read_first = read and operator != "strstarts"
            test = Call(operator, (Call("number", (VALUE,)) if read_first else VALUE, constant))
            expected = holds(test, lambda _, value=value: value, lambda path: frozenset())
            if first == last:
                assert (first >= 0 and low <= first <= high) == expected, (value, operator, constant)
            elif expected:  # one of its places must do, and what matches is verified
                assert any(low <= rank <= high for rank in range(first, last + 1, 2)), (value, operator, constant)


@settings(max_examples=160, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["<", "<=", "=", ">=", ">"]), literals), max_size=4), literals)
def test_a_value_lies_in_an_intersection_if_it_lies_in_all_the_ranges(asked, value):
    ranges = {found for operator, constant in asked if (found := range_of(operator, constant))}
    ranges |= {found for _, constant in asked if (found := prefix_range(constant))}
    domains = Domains.of(ranges)
    places = {domain: set(range(first, last + 1)) for domain, first, last in domains.places(value)}

    def lying(wanted):
        """The ranks of the value that lie in all of some ranges, by domain."""
        found = {}
        rows = domains.ranges(0, list(wanted))
        for domain, low, high in zip(rows.domain.tolist(), rows.low.tolist(), rows.high.tolist(), strict=True):
            found[domain] = found.get(domain, places.get(domain, set())) & set(range(low, high + 1))
        return found

    assert lying(intersection(ranges)) == lying(ranges)


def test_a_lower_and_an_upper_bound_are_one_range():
    low, high = range_of(">=", Literal(10)), range_of("<", Literal(20))
    (met,) = intersection([low, high, range_of(">", Literal(5))])
    assert met == (low.domain, low.low, high.high)
    apart = {range_of(">", Literal(20)), range_of("<", Literal(10))}
    assert intersection(apart) == apart

"""The values of literals."""

from decimal import Decimal

import pytest
from pyoxigraph import Literal

from triplewire.rdf.terms import XSD
from triplewire.rdf.values import NoValueError, Number, Rank, Text, number_literal, value


def literal(text, datatype):
    return Literal(text, datatype=XSD[datatype])


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (literal("007", "integer"), Number(Rank.INTEGER, 7)),
        (literal("-1", "byte"), Number(Rank.INTEGER, -1)),
        (literal("1.50", "decimal"), Number(Rank.DECIMAL, Decimal("1.5"))),
        (literal("1e2", "double"), Number(Rank.DOUBLE, 100.0)),
        (literal("0.1", "float"), Number(Rank.FLOAT, 0.10000000149011612)),
        (literal("1", "boolean"), True),
        (Literal("x"), Text("x")),
        (Literal("x", language="EN"), Text("x", "en")),
    ],
)
def test_a_well_formed_literal_has_its_value(term, expected):
    assert value(term) == expected


@pytest.mark.parametrize(
    "term",
    [
        literal("1.5", "integer"),
        literal("1e2", "decimal"),
        literal(" 1", "integer"),
        literal("yes", "boolean"),
        literal("2021-02-29", "date"),
        literal("2020-13-01", "date"),
        literal("24:00:01", "time"),
        literal("2020-01-01T10:00:00+15:00", "dateTime"),
        literal("20-01-01", "date"),
        literal("x", "token"),
        literal("9" * 5000, "integer"),
        literal("1." + "9" * 5000, "decimal"),
    ],
)
def test_an_ill_formed_literal_has_none(term):
    with pytest.raises(NoValueError):
        value(term)


@pytest.mark.parametrize(
    ("earlier", "later", "datatype"),
    [
        ("2020-02-29T23:59:59.5Z", "2020-03-01T00:00:00Z", "dateTime"),
        ("2020-01-01T10:00:00+01:00", "2020-01-01T09:30:00Z", "dateTime"),
        ("-0001-12-31", "0000-01-01", "date"),
        ("0000-02-29", "0000-03-01", "date"),
        ("09:59:59", "10:00:00", "time"),
    ],
)
def test_moments_lie_on_the_time_line(earlier, later, datatype):
    assert value(literal(earlier, datatype)).seconds < value(literal(later, datatype)).seconds


def test_the_end_of_a_day_is_the_beginning_of_the_next():
    end, beginning = (value(literal(t, "dateTime")) for t in ("2020-12-31T24:00:00", "2021-01-01T00:00:00"))
    assert end.seconds == beginning.seconds


@pytest.mark.parametrize("text", ["5", "-5", "0"])
def test_a_number_is_written_as_it_is_read(text):
    assert number_literal(value(literal(text, "integer"))) == literal(text, "integer")

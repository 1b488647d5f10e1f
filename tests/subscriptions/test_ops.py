"""The ``ops`` language: what it says, and how it says what is wrong."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from triplewire.errors import SubscriptionError
from triplewire.rdf.terms import DAML, RDF, XSD, Vocabulary
from triplewire.subscriptions.ops import parse_ops
from triplewire.subscriptions.pattern import HOME, Arc, Call, ClassConstraint, Scope, Variable

EX = Vocabulary("http://example.org/")
PREFIXES = {"ex": EX.base, "units": "http://example.org/units#"}
ONE = "(_:H, ?1, (ex:Selling, ex:target, ex:Computer){})"


def expression(text):
    return parse_ops(ONE.format(f", {text}"), PREFIXES).filters[0]


def test_the_papers_subscription():
    pattern = parse_ops(
        """
        # cheap computers
        (_:H, ?1, (ex:Selling, ex:target, ex:Computer))
        (_:H, ?2, (ex:Selling, ex:price, ex:MoneyValue))
        (?2, units:dollar, (ex:MoneyValue, ex:currency, daml:Thing))
        (?2, ?3, (ex:MoneyValue, rdf:value, xsd:decimal), ?3<400.00)
        """,
        PREFIXES,
    )
    two, three = Variable("2"), Variable("3")
    dollar = NamedNode("http://example.org/units#dollar")
    assert pattern.arcs == (
        Arc(HOME, EX.target, Variable("1"), Scope.RELATIONS),
        Arc(HOME, EX.price, two, Scope.RELATIONS),
        Arc(two, EX.currency, dollar, Scope.RELATIONS),
        Arc(two, RDF.value, three, Scope.RELATIONS),
    )
    assert ClassConstraint(dollar, DAML.Thing) in pattern.classes
    assert ClassConstraint(three, XSD.decimal) in pattern.classes
    assert pattern.filters == (Call("<", (three, Literal("400.00", datatype=XSD.decimal))),)
    assert pattern.mapping == "injective"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("?1 = 1 and ?1 = 2 or not ?1 = 3", "((?1 = 1) && (?1 = 2)) || !(?1 = 3)"),
        ("?1 + 2 * 3 - 4 < 5", "((?1 + (2 * 3)) - 4) < 5"),
        ("?1 - 1 - 1 = 0", "(?1 - 1) - 1 = 0"),
        ("- ?1 / 2 = 0", "(- ?1) / 2 = 0"),
        ("?1 not in (1, 2)", "not (?1 in (1, 2))"),
        ("REGEX(?1, 'a')", 'regex(?1, "a")'),
        ("?1<?1", "?1 < ?1"),
        ("?1 = 'a' # and so on\n", "?1 = 'a'"),
    ],
)
def test_precedence_and_spelling(text, same):
    assert expression(text) == expression(same)


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("4", Literal(4)),
        ("4.0", Literal("4.0", datatype=XSD.decimal)),
        ("4e0", Literal("4e0", datatype=XSD.double)),
        ('"a\\n\\u00e9"', Literal("a\né")),
        ('"a"@en-GB', Literal("a", language="en-gb")),
        ('"1"^^xsd:byte', Literal("1", datatype=XSD.byte)),
        ("true", Literal(True)),
    ],
)
def test_literals(text, literal):
    assert expression(f"?1 = {text}") == Call("=", (Variable("1"), literal))


def test_a_negative_number_can_be_an_object():
    (arc,) = parse_ops("(_:H, -4.5, (ex:A, ex:p, xsd:decimal))", PREFIXES).arcs
    assert arc.object == Literal("-4.5", datatype=XSD.decimal)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: the text ends here. Expected '('."),
        ("(_:H, ?1, (ex:A, ex:p ex:B))", "line 1, column 23: found 'ex:B'. Expected ','."),
        ("(_:H, ?1,\n (ex:A, exx:p, ex:B))", "line 2, column 9: the prefix 'exx:' is not declared. Did you mean ex:p?"),
        ("(_:H, _:x, (ex:A, ex:p, ex:B))", "_:x is no vertex that a subscription can name. Did you mean ?x?"),
        ("(?a, ?b, (ex:A, ex:p, ex:B))", "no statement has the home vertex _:H for its subject."),
        (
            "(_:H, ?1, (ex:A, ex:p, ex:B)) (?2, ?1, (ex:A, ex:p, ex:B))",
            "line 1, column 31: no path leads from the home vertex _:H to ?2.",
        ),
        (ONE.format(", ?price < 3"), "column 49: the filter uses ?price, which no statement binds. Bound here: ?1."),
        (ONE.format(", regx(?1, 'a')"), "there is no function regx. Did you mean regex?"),
        (ONE.format(", regex(?1)"), "regex takes 2 to 3 arguments, not 1."),
        (ONE.format(", regex(?1, '(a')"), "RE2 refuses the regular expression '(a': missing ): (a."),
        (ONE.format(", regex(?1, 'a', 'z')"), "unknown regular expression flag 'z'"),
        (ONE.format(", ?1 < "), "found ')'. Expected a value."),
        (ONE.format(", ?1 = '\\q'"), "\\q is no escape."),
        (ONE.format(", ?1 = '\\ud800'"), "\\ud800 is no character."),
        ('("x", ?1, (ex:A, ex:p, ex:B))', 'the literal "x" cannot be a subject.'),
        (ONE.format(", " + "not " * 5000 + "?1"), "nested too deeply"),
        (ONE.format(", " + "?1 + " * 100 + "?1"), "nested more than 64 deep"),
        ("#" * 70_000, "at most 65536 are read"),
    ],
)
def test_an_error_tells_where_what_and_what_would_be_right(text, message):
    with pytest.raises(SubscriptionError) as caught:
        parse_ops(text, PREFIXES)
    assert message in str(caught.value)
    assert caught.value.language == "ops"


def test_an_error_points_at_the_place():
    with pytest.raises(SubscriptionError) as caught:
        parse_ops("(_:H, ?1, (ex:A, ex:p ex:B))", PREFIXES)
    assert caught.value.as_dict()["excerpt"] == "(_:H, ?1, (ex:A, ex:p ex:B))\n                      ^"


GOOD = ONE.format(", ?1 < 4 and regex(?1, 'a') or not (?1 in (1, \"x\"@en))")


@settings(max_examples=160, deadline=None)
@given(st.integers(0, len(GOOD)), st.integers(0, 6), st.text("()?_:,\"'<>=!#@^\\ aH1é§\ud800\n", max_size=4))
def test_no_text_causes_any_other_exception(start, length, insertion):
    text = GOOD[:start] + insertion + GOOD[start + length :]
    try:
        parse_ops(text, PREFIXES)
    except SubscriptionError as error:
        assert str(error)

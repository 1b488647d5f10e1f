"""Patterns printed back in ops and sparql mean what they meant."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from tests import worlds
from triplewire.concepts.model import ConceptModel
from triplewire.errors import SubscriptionError
from triplewire.matching import BruteForce
from triplewire.rdf.graph import Event
from triplewire.rdf.terms import OWL, RDF, RDFS, XSD
from triplewire.subscriptions.canonical import canonical
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.ops import parse_ops
from triplewire.subscriptions.pattern import (
    HOME,
    Alternative,
    Arc,
    AttributeExists,
    AttributeTest,
    Call,
    ClassConstraint,
    Interest,
    IsA,
    Pattern,
    Scope,
    Subscription,
    Variable,
)
from triplewire.subscriptions.printing import as_ops, as_sparql

EX = worlds.EX
PREFIXES = {"ex": EX}
NOTHING = ConceptModel()
A, P, Q = NamedNode(f"{EX}A"), NamedNode(f"{EX}p0"), NamedNode(f"{EX}p1")
X, Y = Variable("x"), Variable("y")
STRICT = {"!=", "<", "<=", ">", ">=", "not", "if", "sameterm", "str", "number"}  # where Oxigraph reads SPARQL otherwise


def reachable_pattern(rng):
    """A pattern that ops can say: relations along paths from the home vertex."""
    drawn, arcs = worlds.pattern(rng), []
    reached = [HOME]
    for _ in range(rng.randint(1, 4)):
        end = worlds._vertex(rng)
        arcs.append(Arc(rng.choice(reached), rng.choice(worlds.PROPERTIES), end, Scope.RELATIONS))
        if not isinstance(end, Literal):
            reached.append(end)
    ends = [end for arc in arcs for end in (arc.subject, arc.object)]
    bound = sorted({end for end in ends if isinstance(end, Variable)}, key=str)
    leaves = [*bound, *bound, HOME, rng.choice(worlds.LITERALS), rng.choice(worlds.LITERALS), rng.choice(worlds.NAMES)]
    classes = [ClassConstraint(rng.choice(ends), rng.choice(worlds.CLASS_NAMES)) for _ in range(rng.randint(0, 5))]
    filters = [worlds.condition(rng, leaves) for _ in range(rng.choice([0, 1, 1, 2]))]
    return replace(
        drawn,
        arcs=tuple(dict.fromkeys(arcs)),
        classes=tuple(dict.fromkeys(classes)),
        is_a=(),
        filters=tuple(dict.fromkeys(filters)),
    )


def outcome(pattern_or_subscription, model, graph):
    """Whether it matches, and how."""
    subscription = pattern_or_subscription
    if isinstance(subscription, Pattern):
        subscription = Subscription("s", (Alternative(subscription),))
    brute = BruteForce(model)
    brute.add(replace(subscription, id="s"))
    return [(match.score, match.bindings) for match in brute.match(Event("source", "event", graph), bindings=True)]


def sparql(query, model):
    return parse_subscription({"id": "s", "language": "sparql", "pattern": query, "prefixes": PREFIXES}, model)


def names_of_calls(expression):
    match expression:
        case Call(name, arguments):
            return {name}.union(*map(names_of_calls, arguments))
        case AttributeTest(_, test):
            return names_of_calls(test)
    return set()


@settings(max_examples=160, deadline=None)
@given(st.randoms(use_true_random=False))
def test_what_ops_can_say_it_says_to_the_letter(rng):
    pattern = reachable_pattern(rng)
    read = parse_ops(as_ops(pattern, PREFIXES, NOTHING), PREFIXES, pattern.mapping)
    untold = {v for v in pattern.vertices if not any(c.vertex == v for c in pattern.classes)}
    assert set(read.arcs) == set(pattern.arcs)
    assert set(read.classes) == set(pattern.classes) | {ClassConstraint(v, RDFS.Resource) for v in untold}
    assert read.mapping == pattern.mapping
    if len(pattern.filters) < 2:  # several on one statement are one conjunction
        assert read.filters == pattern.filters


@settings(max_examples=100, deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_pattern_in_ops_matches_as_before(rng):
    pattern, model = reachable_pattern(rng), worlds.model(rng)
    scopes = [Scope.RELATIONS, rng.choice(list(Scope))]
    pattern = replace(pattern, arcs=tuple(replace(arc, scope=rng.choice(scopes)) for arc in pattern.arcs))
    try:
        text = as_ops(pattern, PREFIXES, model)
    except SubscriptionError as error:
        assert "say" in str(error)
        return
    read = parse_ops(text, PREFIXES, pattern.mapping)
    if all(arc.scope != Scope.ASSERTED for arc in pattern.arcs):  # an exact arc is printed as one that is found as well
        assert canonical(read, model)[0] == canonical(pattern, model)[0]
    for _ in range(3):
        graph = worlds.graph(rng)
        assert outcome(read, model, graph) == outcome(pattern, model, graph)


@settings(max_examples=120, deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_pattern_in_sparql_matches_as_before(rng):
    pattern, model = worlds.pattern(rng), worlds.model(rng)
    scopes = [Scope.CLOSED, Scope.CLOSED, rng.choice(list(Scope))]
    pattern = replace(pattern, is_a=(), arcs=tuple(replace(arc, scope=rng.choice(scopes)) for arc in pattern.arcs))
    if any(names_of_calls(f) & STRICT for f in pattern.filters):
        pattern = replace(pattern, filters=())
    try:
        text = as_sparql(pattern, PREFIXES, model)
    except SubscriptionError as error:
        assert "say" in str(error) or "call" in str(error)
        return
    read = parse_subscription({"id": "s", "language": "sparql", "pattern": text}, model)
    for _ in range(3):
        graph = worlds.graph(rng)
        assert outcome(read, model, graph) == outcome(pattern, model, graph), text


@settings(max_examples=100, deadline=None)
@given(st.randoms(use_true_random=False))
def test_arcs_and_classes_in_sparql_come_to_the_equal_pattern(rng):
    model, drawn = worlds.model(rng), worlds.pattern(rng)
    arcs = tuple(replace(arc, scope=Scope.CLOSED) for arc in drawn.arcs)
    subjects = {arc.subject for arc in arcs}
    classes = tuple(c for c in drawn.classes if c.vertex in subjects)
    pattern = Pattern(arcs=arcs, classes=classes)
    (read,) = sparql(as_sparql(pattern, PREFIXES, model), model).alternatives
    assert read.residual is None
    assert canonical(read.pattern, model)[0] == canonical(pattern, model)[0]


def test_a_filter_of_a_query_is_printed_as_it_was():
    query = "SELECT DISTINCT ?x ?y { tw:home ex:p0 ?x ; ex:p1 ?y FILTER(?x != 3 || xsd:integer(?y) < 2) }"
    (read,) = sparql(query, NOTHING).alternatives
    printed = as_sparql(read.pattern, PREFIXES, NOTHING)
    assert "  FILTER(?x != 3 || xsd:integer(?y) < 2)" in printed.splitlines()
    assert sparql(printed, NOTHING).alternatives[0].pattern == read.pattern
    with pytest.raises(SubscriptionError, match="ops: cannot compare unlike types as a SPARQL query does"):
        as_ops(read.pattern, PREFIXES, NOTHING)


@pytest.mark.parametrize(
    ("expression", "ops", "sparql"),
    [
        (Call("<", (X, Literal("400.00", datatype=XSD.decimal))), "?x < 400.00", "?x < 400.00"),
        (Call("=", (X, Literal(-3))), '?x = "-3"^^xsd:integer', "?x = -3"),
        (Call("=", (X, Literal('a "b"\n\\c'))), r'?x = "a \"b\"\n\\c"', r'?x = "a \"b\"\n\\c"'),
        (Call("=", (X, Literal("chat", language="fr"))), '?x = "chat"@fr', '?x = "chat"@fr'),
        (Call("=", (X, Literal("1e3", datatype=XSD.double))), "?x = 1e3", "?x = 1e3"),
        (Call("=", (X, Literal("INF", datatype=XSD.double))), '?x = "INF"^^xsd:double', '?x = "INF"^^xsd:double'),
        (Call("=", (X, A)), "?x = ex:A", "?x = ex:A"),
        (Call("=", (X, NamedNode("urn:a:b"))), "?x = <urn:a:b>", "?x = <urn:a:b>"),
        (Call("and", (Call("or", (X, Y)), X)), "(?x or ?y) and ?x", "(?x || ?y) && ?x"),
        (Call("or", (Call("and", (X, Y)), X)), "?x and ?y or ?x", "?x && ?y || ?x"),
        (Call("not", (Call("=", (X, Y)),)), "not ?x = ?y", "!(?x = ?y)"),
        (Call("=", (Call("not", (X,)), Y)), "(not ?x) = ?y", "!?x = ?y"),
        (Call("not", (Call("in", (X, Literal(1), Y)),)), "?x not in (1, ?y)", "?x NOT IN (1, ?y)"),
        (Call("-", (X, Call("-", (Y, X)))), "?x - (?y - ?x)", "?x - (?y - ?x)"),
        (Call("-", (Call("-", (X, Y)), X)), "?x - ?y - ?x", "?x - ?y - ?x"),
        (Call("*", (Call("+", (X, Y)), X)), "(?x + ?y) * ?x", "(?x + ?y) * ?x"),
        (Call("negate", (Call("+", (X, Y)),)), "-(?x + ?y)", "-(?x + ?y)"),
        (Call("strstarts", (X, Literal("a"))), 'strstarts(?x, "a")', 'STRSTARTS(?x, "a")'),
        (Call("isiri", (X,)), "isiri(?x)", "isIRI(?x)"),
        (Call("=", (HOME, X)), "_:H = ?x", "tw:home = ?x"),
    ],
)
def test_filters_are_written_with_the_parentheses_they_need(expression, ops, sparql):
    arcs = (Arc(HOME, P, X, Scope.RELATIONS), Arc(HOME, Q, Y, Scope.RELATIONS))
    pattern = Pattern(arcs=arcs, filters=(expression,))
    text = as_ops(pattern, PREFIXES, NOTHING)
    assert f", {ops})" in text
    assert parse_ops(text, PREFIXES, "homomorphic").filters == (expression,)
    query = as_sparql(pattern, PREFIXES, NOTHING)
    assert f"FILTER({sparql})" in query
    assert parse_subscription({"id": "s", "language": "sparql", "pattern": query}, NOTHING)


def test_the_longest_namespace_gives_the_name():
    prefixes = {"a": "http://e.org/", "b": "http://e.org/b/", "c": "http://e.org/b/"}
    arc = Arc(HOME, NamedNode("http://e.org/b/p"), NamedNode("http://e.org/x/y"), Scope.RELATIONS)
    text = as_ops(Pattern(arcs=(arc,)), prefixes, NOTHING)
    assert text == "(_:H, <http://e.org/x/y>, (rdfs:Resource, b:p, rdfs:Resource))"


def test_a_filter_of_attributes_keeps_its_three_values_in_sparql():
    cheap = AttributeTest((P, Q), Call("<", (Variable("value"), Literal(400))))
    pattern = Pattern(filters=(Call("and", (Call("not", (cheap,)), Call("not", (AttributeExists((P,)),)))),))
    assert as_sparql(pattern, PREFIXES, NOTHING).splitlines()[-4:] == [
        "SELECT DISTINCT * WHERE {",
        "  FILTER(EXISTS { tw:home ex:p0/ex:p1 ?v1 } && NOT EXISTS { tw:home ex:p0/ex:p1 ?v1 FILTER(?v1 < 400) })",
        "  FILTER(NOT EXISTS { tw:home ex:p0 ?v2 })",
        "}",
    ]


HERE = Arc(HOME, P, X, Scope.RELATIONS)
BELOW_TYPE = ConceptModel(property_parents={RDF.type: frozenset({P})})
BELOW_OTHER = ConceptModel(property_parents={Q: frozenset({P})})


@pytest.mark.parametrize(
    ("language", "pattern", "model", "reason"),
    [
        ("ops", Pattern(arcs=(replace(HERE, property=Y),)), NOTHING, "a variable (?y) for a property"),
        ("ops", Pattern(arcs=(HERE, Arc(Y, P, X, Scope.RELATIONS))), NOTHING, "?y, to which no path leads"),
        ("ops", Pattern(arcs=(HERE,), classes=(ClassConstraint(Y, A),)), NOTHING, "?y, to which no path leads"),
        ("ops", Pattern(arcs=(Arc(X, P, HOME, Scope.RELATIONS),)), NOTHING, "without an arc from the home vertex"),
        ("ops", Pattern(arcs=(HERE,), is_a=(IsA(X, "<=", A),)), NOTHING, "is-a"),
        ("ops", Pattern(arcs=(HERE,), filters=(AttributeExists((P,)),)), NOTHING, "attribute"),
        ("ops", Pattern(arcs=(HERE,), filters=(Y,)), NOTHING, "a filter on ?y, which no arc binds"),
        ("ops", Pattern(interests=(Interest((A,), 0.7),)), NOTHING, "similarity"),
        (
            "ops",
            Pattern(arcs=(replace(HERE, scope=Scope.CLOSED),)),
            BELOW_TYPE,
            "also matches what comes from rdf:type",
        ),
        ("ops", Pattern(arcs=(replace(HERE, scope=Scope.ASSERTED),)), BELOW_OTHER, "matches the event as asserted"),
        ("sparql", Pattern(arcs=(HERE,)), BELOW_TYPE, "matches nothing that comes from rdf:type"),
        ("sparql", Pattern(arcs=(replace(HERE, scope=Scope.ASSERTED),)), BELOW_OTHER, "matches the event as asserted"),
        ("sparql", Pattern(arcs=(replace(HERE, property=Y),)), NOTHING, "matches nothing that comes from rdf:type"),
        ("sparql", Pattern(is_a=(IsA(X, "<=", A),)), NOTHING, "is-a"),
        ("sparql", Pattern(interests=(Interest((A,), 0.7),)), NOTHING, "similarity"),
        ("sparql", Pattern(filters=(Call("if", (AttributeExists((P,)), X, X)),)), NOTHING, "inside a function"),
    ],
)
def test_what_a_language_cannot_say_is_refused_by_name(language, pattern, model, reason):
    with pytest.raises(SubscriptionError) as refused:
        (as_ops if language == "ops" else as_sparql)(pattern, PREFIXES, model)
    assert str(refused.value).startswith(f"{language}: cannot ")
    assert reason in str(refused.value)


@pytest.mark.parametrize("scope", list(Scope))
def test_scopes_that_make_no_difference_are_no_obstacle(scope):
    pattern = Pattern(arcs=(replace(HERE, scope=scope),))
    assert as_ops(pattern, PREFIXES, NOTHING) == "(_:H, ?x, (rdfs:Resource, ex:p0, rdfs:Resource))"
    assert "tw:home ex:p0 ?x ." in as_sparql(pattern, PREFIXES, NOTHING)


@pytest.mark.parametrize(
    ("cls", "line"),
    [
        (A, "?x a ex:A ."),
        (OWL.Thing, "FILTER(!isLiteral(?x))"),
        (RDFS.Literal, "FILTER(isLiteral(?x))"),
        (XSD.short, "FILTER(datatype(?x) IN (xsd:short, xsd:byte))"),
    ],
)
def test_a_class_is_said_as_what_holds_of_the_vertex(cls, line):
    pattern = Pattern(arcs=(HERE,), classes=(ClassConstraint(X, cls),))
    assert f"  {line}" in as_sparql(pattern, PREFIXES, NOTHING).splitlines()


def test_a_class_above_a_datatype_holds_of_resources_and_literals():
    model = ConceptModel(class_parents={NamedNode(f"{EX}Price"): frozenset({A, XSD.decimal})})
    pattern = Pattern(arcs=(HERE,), classes=(ClassConstraint(X, A),))
    assert "FILTER(EXISTS { ?x a ex:A . } || datatype(?x) IN (ex:Price))" in as_sparql(pattern, PREFIXES, model)

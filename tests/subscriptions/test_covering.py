"""Covering: a yes is right on every event, and where it is said to be exact, so is a no."""

from dataclasses import replace
from functools import cache
from itertools import combinations, product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal

from tests import worlds
from tests.worlds import BLANKS, CLASSES, LITERALS, NAMES, PROPERTIES
from triplewire.concepts.closure import close
from triplewire.concepts.model import ConceptModel
from triplewire.matching.brute import match_one
from triplewire.rdf.graph import HOME as HOME_VERTEX
from triplewire.rdf.graph import Graph, event_graph
from triplewire.rdf.terms import OWL, RDF, RDFS, XSD, Triple, Vocabulary
from triplewire.subscriptions.covering import covers, covers_pattern
from triplewire.subscriptions.evaluate import holds
from triplewire.subscriptions.filter import parse_filter
from triplewire.subscriptions.ops import parse_ops
from triplewire.subscriptions.pattern import (
    HOME,
    VALUE,
    Alternative,
    Arc,
    AttributeExists,
    AttributeTest,
    Call,
    ClassConstraint,
    Interest,
    IsA,
    Pattern,
    Residual,
    Scope,
    Subscription,
    Variable,
)

EX = Vocabulary("http://example.org/")
EMPTY = ConceptModel()
X, Y, Z = Variable("x"), Variable("y"), Variable("z")


def matches(pattern, event):
    return match_one(Subscription("s", (Alternative(pattern),)), event) is not None


def weakened(pattern, model, rng):
    """A pattern that says less, most of the time."""

    def some(items, change):
        return tuple(change(item) for item in items if rng.random() < 0.7)

    def wider(arc):
        if isinstance(arc.property, Variable) or rng.random() < 0.5:
            return arc
        above, back = rng.choice(sorted(model.entailed(arc.property), key=str))
        subject, object_ = (arc.object, arc.subject) if back else (arc.subject, arc.object)
        scope = rng.choice([arc.scope, Scope.CLOSED])
        return arc if isinstance(subject, Literal) else Arc(subject, above, object_, scope)

    def above(constraint):
        return replace(constraint, cls=rng.choice(sorted(model.superclasses(constraint.cls), key=str)))

    names = {v: rng.choice([v, v, v, Variable("w")]) for v in sorted(pattern.variables, key=str)}

    def renamed(part):
        return names.get(part, part)

    arcs = [wider(arc) for arc in pattern.arcs if rng.random() < 0.8]
    return Pattern(
        arcs=tuple(Arc(renamed(a.subject), renamed(a.property), renamed(a.object), a.scope) for a in arcs),
        classes=tuple(ClassConstraint(renamed(c.vertex), c.cls) for c in some(pattern.classes, above)),
        is_a=tuple(IsA(renamed(c.vertex), c.operator, c.cls) for c in some(pattern.is_a, above)),
        filters=pattern.filters if all(names[v] == v for v in names) and rng.random() < 0.5 else (),
        mapping=rng.choice([pattern.mapping, "homomorphic", "injective"]),
    )


def instance(pattern, rng):
    """An event that a pattern may well match: its arcs under some mapping, and a few more."""
    ends = [*BLANKS[1:], BlankNode("d"), BlankNode("e"), *NAMES, *rng.sample(LITERALS, 2)]
    mu = {v: rng.choice(ends) for v in sorted(pattern.variables, key=str)} | {HOME: HOME_VERTEX}
    triples = []
    for arc in pattern.arcs:
        s, p, o = (mu.get(part, part) for part in (arc.subject, arc.property, arc.object))
        if not isinstance(s, Literal) and p not in ends:
            triples.append(Triple(s, p if not isinstance(arc.property, Variable) else rng.choice(PROPERTIES), o))
    for constraint in (*pattern.classes, *pattern.is_a):
        vertex = mu.get(constraint.vertex, constraint.vertex)
        if not isinstance(vertex, Literal):
            triples.append(Triple(vertex, RDF.type, constraint.cls))
    more = worlds.graph(rng, 4).triples
    return event_graph([*triples, *more])


def refutation(a, b, model, rng, tries=6):
    for _ in range(tries):
        event = close(instance(b, rng), model)
        if matches(b, event) and not matches(a, event):
            return event
    return None


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**9))
def test_what_covers_matches_whatever_the_covered_matches(seed):
    rng = Random(seed)
    model, b = worlds.model(rng), worlds.pattern(rng)
    a = weakened(b, model, rng) if rng.random() < 0.9 else worlds.pattern(rng)
    if covers_pattern(a, b, model):
        assert refutation(a, b, model, rng) is None


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**9))
def test_a_pattern_covers_itself_and_what_adds_to_it(seed):
    rng = Random(seed)
    model, a, more = worlds.model(rng), worlds.pattern(rng), worlds.pattern(rng)
    assert covers_pattern(a, a, model)
    b = Pattern(arcs=a.arcs + more.arcs, classes=a.classes + more.classes, mapping=a.mapping)
    plain = Pattern(arcs=a.arcs, classes=a.classes, mapping=a.mapping)
    assert covers_pattern(plain, b, model)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**9))
def test_between_homomorphic_patterns_of_closed_arcs_a_no_is_right_too(seed):
    rng = Random(seed)
    model = replace(worlds.model(rng), same={})

    def drawn():
        ends = [HOME, HOME, X, Y, Z, NAMES[0]]
        arcs = tuple(Arc(rng.choice(ends), rng.choice(PROPERTIES), rng.choice(ends)) for _ in range(rng.randint(1, 3)))
        subjects = [arc.subject for arc in arcs]
        typed = tuple(ClassConstraint(rng.choice(subjects), rng.choice(CLASSES)) for _ in range(rng.choice([0, 1, 2])))
        return Pattern(arcs=arcs, classes=typed)

    b = drawn()
    a = weakened(b, model, rng) if rng.random() < 0.7 else drawn()
    a_subjects = {arc.subject for arc in a.arcs}
    a = replace(a, mapping="homomorphic", classes=tuple(c for c in a.classes if c.vertex in a_subjects))
    b_subjects = {arc.subject for arc in b.arcs}
    names = {v: BlankNode(f"v{v.name}") if v in b_subjects else Literal(f"fresh {v.name}") for v in (X, Y, Z)}
    names[HOME] = HOME_VERTEX
    triples = [Triple(names.get(r.subject, r.subject), r.property, names.get(r.object, r.object)) for r in b.arcs]
    triples += [Triple(names.get(c.vertex, c.vertex), RDF.type, c.cls) for c in b.classes]
    home = HOME_VERTEX if b.needs_home else None
    assert covers_pattern(a, b, model) == matches(a, close(Graph(frozenset(triples), home), model))


A = EX.a
SMALL = [Literal(1), Literal(2), Literal("2.5", datatype=XSD.decimal), Literal("a"), Literal("ab"), Literal("b")]
VALUES = [
    *SMALL,
    *(Literal("".join(letters)) for size in range(4) for letters in product("abc", repeat=size)),
    *(Literal(f"{low}{text}") for low in ("\0\0\0", "ab\0\0") for text in ("a", "b", "ab")),
    *(Literal(text, language="en") for text in ("a", "b", "ab", "ba", "cab", "abc")),
    Literal(0),
    Literal(3),
    Literal("1.5", datatype=XSD.decimal),
    Literal("2.25", datatype=XSD.decimal),
    Literal("NaN", datatype=XSD.double),
    EX.thing,
]


def predicates(path):
    for constant in SMALL:
        for name in ("=", "!=", "<", "<=", ">", ">="):
            yield AttributeTest((path,), Call(name, (VALUE, constant)))
        if constant.datatype == XSD.string:
            for name in ("strstarts", "strends", "contains"):
                yield AttributeTest((path,), Call(name, (VALUE, constant)))
    yield AttributeTest((path,), Call("in", (VALUE, Literal(1), Literal("ab"))))
    yield AttributeExists((path,))
    yield Call("not", (AttributeExists((path,)),))


FEW = [frozenset(values) for size in (0, 1, 2) for values in combinations(VALUES, size)]
PREDICATES = list(predicates(A))


@cache
def true_of(predicate):
    """The numbers of the events, with up to two values of one attribute, that a predicate is true of."""
    return {n for n, values in enumerate(FEW) if holds(predicate, lambda _: None, lambda _, values=values: values)}


@settings(max_examples=120, deadline=None)
@given(st.integers(0, 10**9))
def test_between_conjunctions_of_predicates_covering_is_exact(seed):
    rng = Random(seed)
    a, b = ([rng.choice(PREDICATES) for _ in range(rng.choice([1, 2, 2]))] for _ in range(2))
    of_a, of_b = (set.intersection(*map(true_of, ps)) for ps in (a, b))
    assert covers_pattern(Pattern(filters=tuple(a)), Pattern(filters=tuple(b)), EMPTY) == (of_b <= of_a)


MODEL = ConceptModel(
    class_parents={EX.Laptop: frozenset({EX.Computer})},
    property_parents={EX.cost: frozenset({EX.price})},
    inverses={EX.sells: frozenset({EX.soldBy}), EX.soldBy: frozenset({EX.sells})},
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("price < 400", "price < 300"),
        ("exists seller", 'seller.name = "Bob"'),
        ("ex:price < 400", "ex:cost < 300 and brand = 1"),
        ("price < 400 or brand = 1", "price < 300 or brand = 1"),
        ("brand = 3", "price < 3 and price = 4 and not exists price"),
        ("not exists ex:cost", "not exists ex:price"),
        ("not price < 3", "not price < 4"),
        ("price not in (1)", "price not in (1, 2)"),
        ("exists price", "not price = 3"),
        ("brand startswith 'a'", "brand startswith 'ab' and price = 1"),
        ("exists brand", "brand startswith 5"),
    ],
)
def test_filters_that_cover(one, other):
    a, b = (parse_filter(text, {"ex": EX.base}, EMPTY) for text in (one, other))
    assert covers_pattern(a, b, MODEL)
    assert not covers_pattern(b, a, MODEL)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "(_:H, ?1, (ex:O, ex:price, rdfs:Literal), ?1 < 400)",
            "(_:H, ?x, (ex:O, ex:cost, xsd:decimal), ?x < 3)",
        ),
        ("(_:H, ?1, (ex:A, ex:p, ex:Computer))", "(_:H, ?2, (ex:A, ex:p, ex:Laptop))(?2, ?1, (ex:Laptop, ex:q, ex:C))"),
        ("(_:H, ?1, (ex:A, ex:p, ex:B), ?1 > 3)", "(_:H, ?1, (ex:A, ex:p, ex:B), ?1 > 3 and ?1 < 5)"),
        (
            "(_:H, ?1, (ex:A, ex:p, ex:B))(_:H, ?2, (ex:A, ex:q, ex:B), ?2 > ?1)",
            "(_:H, ?2, (ex:A, ex:p, ex:B))(_:H, ?1, (ex:A, ex:q, ex:B), ?2 < ?1 and ?1 != 3)",
        ),
    ],
)
def test_statement_patterns_that_cover(one, other):
    a, b = (parse_ops(text, {"ex": EX.base}) for text in (one, other))
    assert covers_pattern(a, b, MODEL)
    assert not covers_pattern(b, a, MODEL)


def test_an_inverse_covers_only_where_the_end_is_no_literal():
    a = Pattern(arcs=(Arc(Y, EX.soldBy, X),))
    assert not covers_pattern(a, Pattern(arcs=(Arc(X, EX.sells, Y),)), MODEL)
    thing = ClassConstraint(Y, OWL.Thing)
    assert covers_pattern(a, Pattern(arcs=(Arc(X, EX.sells, Y),), classes=(thing,)), MODEL)


def test_an_injective_pattern_covers_only_what_keeps_its_vertices_apart():
    two = Pattern(arcs=(Arc(HOME, EX.p, X), Arc(HOME, EX.p, Y)))
    one = Pattern(arcs=(Arc(HOME, EX.p, X),))
    injective = replace(two, mapping="injective")
    assert covers_pattern(two, one, EMPTY)
    assert not covers_pattern(injective, one, EMPTY)
    assert not covers_pattern(injective, two, EMPTY)
    assert covers_pattern(two, injective, EMPTY)
    three = Pattern(arcs=(*two.arcs, Arc(HOME, EX.p, Z)), mapping="injective")
    assert covers_pattern(injective, three, EMPTY)
    assert not covers_pattern(three, injective, EMPTY)
    constants = Pattern(arcs=(Arc(EX.s, EX.p, EX.o), Arc(EX.s, EX.p, Literal(1))))
    assert covers_pattern(replace(constants, mapping="injective"), constants, EMPTY)


def test_an_asserted_arc_is_covered_by_a_closed_one_and_not_the_other_way_round():
    closed, asserted = (Pattern(arcs=(Arc(X, EX.p, Y, scope),)) for scope in (Scope.CLOSED, Scope.ASSERTED))
    assert covers_pattern(closed, asserted, EMPTY)
    assert not covers_pattern(asserted, closed, EMPTY)


def subscription(*alternatives):
    return Subscription("s", alternatives)


def test_alternatives_and_residuals():
    p, q = (Pattern(arcs=(Arc(X, property_, Y),)) for property_ in (EX.p, EX.q))
    residual = Residual("ASK { ?x ?y ?z }", "ASK", False)
    assert covers(subscription(Alternative(p), Alternative(q)), subscription(Alternative(q)), EMPTY)
    assert not covers(subscription(Alternative(q)), subscription(Alternative(p), Alternative(q)), EMPTY)
    assert covers(subscription(Alternative(p)), subscription(Alternative(p, residual)), EMPTY)
    assert covers(subscription(Alternative(p, residual)), subscription(Alternative(p, residual)), EMPTY)
    assert not covers(subscription(Alternative(p, residual)), subscription(Alternative(p)), EMPTY)


def test_an_interest_covers_the_same_with_a_higher_threshold():
    low, high, other = (
        Pattern(interests=(Interest(concepts, threshold),))
        for concepts, threshold in (((EX.a, EX.b), 0.5), ((EX.b, EX.a), 0.7), ((EX.a,), 0.9))
    )
    assert covers_pattern(low, high, EMPTY)
    assert not covers_pattern(high, low, EMPTY)
    assert not covers_pattern(low, other, EMPTY)


def test_a_search_that_takes_too_long_says_no():
    def tangle(name, size, parts):
        pairs = [(i, j) for i, j in product(range(size), repeat=2) if i % parts != j % parts]
        return Pattern(arcs=tuple(Arc(Variable(f"{name}{i}"), EX.p, Variable(f"{name}{j}")) for i, j in pairs))

    assert not covers_pattern(tangle("x", 7, 7), tangle("y", 30, 6), EMPTY)


def test_very_many_cases_and_constants_are_given_up_on():
    numbers = ", ".join(map(str, range(5000)))
    a, b = (parse_filter(text, {}, EMPTY) for text in (f"a in ({numbers})", f"a in ({numbers}, 5000) and b < 3"))
    assert not covers_pattern(a, b, EMPTY)
    either = " and ".join(f"(a{i} = 1 or b{i} < 2)" for i in range(40))
    assert not covers_pattern(a, parse_filter(either, {}, EMPTY), EMPTY)


def test_resources_are_told_from_literals():
    b = Pattern(arcs=(Arc(HOME, EX.p, X),))
    assert covers_pattern(replace(b, classes=(ClassConstraint(X, RDFS.Resource),)), b, EMPTY)
    assert not covers_pattern(replace(b, classes=(ClassConstraint(X, OWL.Thing),)), b, EMPTY)


def attributes(rng):
    """A conjunction of predicates over paths, and their negations."""

    def drawn():
        path = tuple(rng.choice([*PROPERTIES, RDF.type]) for _ in range(rng.choice([1, 1, 2])))
        if rng.random() < 0.4:
            return AttributeExists(path)
        constant = rng.choice([*LITERALS[:5], Literal("abc"), NAMES[0], CLASSES[0]])
        return AttributeTest(path, Call(rng.choice(["=", "!=", "<", ">="]), (VALUE, constant)))

    parts = [drawn() for _ in range(rng.choice([1, 2, 3]))]
    return tuple(Call("not", (part,)) if rng.random() < 0.25 else part for part in parts)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**9))
def test_attributes_are_covered_by_what_the_model_makes_of_them(seed):
    rng = Random(seed)
    model, b = worlds.model(rng), attributes(rng)
    wider = [rng.choice(sorted(model.superproperties(p), key=str)) for p in PROPERTIES]
    raised = dict(zip(PROPERTIES, wider, strict=True))

    def up(part):
        match part:
            case Call("not", (inner,)):
                return Call("not", (up(inner),))
            case _:
                return replace(part, path=tuple(raised.get(step, step) for step in part.path))

    a = tuple(up(part) for part in b if rng.random() < 0.7) if rng.random() < 0.8 else attributes(rng)
    if covers_pattern(Pattern(filters=a), Pattern(filters=b), model):
        for _ in range(6):
            graph = worlds.graph(rng)
            more = [Triple(HOME_VERTEX, rng.choice(PROPERTIES), rng.choice([*NAMES, *LITERALS[:5]])) for _ in range(3)]
            event = close(Graph(graph.triples | set(more), HOME_VERTEX), model)
            assert matches(Pattern(filters=a), event) or not matches(Pattern(filters=b), event)

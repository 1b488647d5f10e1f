"""Canonical form: the same meaning, and the same value for what differs in names and order only."""

from dataclasses import replace
from itertools import combinations, pairwise, permutations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from tests.worlds import CLASSES, LITERALS, PROPERTIES, VARIABLES, attribute_filter, condition, pattern, worlds
from tests.worlds import model as random_model
from triplewire.concepts.closure import close
from triplewire.concepts.model import ConceptModel
from triplewire.matching.brute import match_one
from triplewire.rdf.terms import OWL, RDF, RDFS, XSD, Vocabulary
from triplewire.subscriptions import labelling
from triplewire.subscriptions.canonical import canonical, canonical_alternative
from triplewire.subscriptions.evaluate import holds
from triplewire.subscriptions.filter import parse_filter
from triplewire.subscriptions.normal import normal_filters
from triplewire.subscriptions.ops import parse_ops
from triplewire.subscriptions.pattern import (
    HOME,
    Alternative,
    Arc,
    Call,
    ClassConstraint,
    Interest,
    IsA,
    Pattern,
    Scope,
    Subscription,
    Variable,
)

EX = Vocabulary("http://example.org/")
EMPTY = ConceptModel()
randoms = st.randoms(use_true_random=False)


def solutions(pattern_, event):
    outcome = match_one(Subscription("s", (Alternative(pattern_),)), event)
    return None if outcome is None else {frozenset(row.items()) for row in outcome[1]}


@settings(max_examples=100, deadline=None)
@given(worlds())
def test_the_canonical_form_has_the_same_mappings_under_its_names(world):
    event = close(world.event.graph, world.model)
    for alternative in world.subscription.alternatives:
        form, names = canonical(alternative.pattern, world.model)
        before, after = solutions(alternative.pattern, event), solutions(form, event)
        called = {str(new): str(old) for old, new in names.items()}
        assert before == (after and {frozenset((called[name], term) for name, term in row) for row in after})


@settings(max_examples=100, deadline=None)
@given(worlds())
def test_the_canonical_form_of_a_canonical_form_is_itself(world):
    for alternative in world.subscription.alternatives:
        form, _ = canonical(alternative.pattern, world.model)
        assert canonical(form, world.model)[0] == form


def shuffled(pattern_, rng):
    """The same pattern under other names and in another order."""
    fresh = [Variable(f"v{i}") for i in range(len(pattern_.variables))]
    rng.shuffle(fresh)
    names = dict(zip(sorted(pattern_.variables, key=str), fresh, strict=True))

    def rename(part):
        match part:
            case Call(name, arguments):
                return Call(name, tuple(map(rename, arguments)))
            case _:
                return names.get(part, part)

    def drawn(items):
        return tuple(rng.sample(items, len(items)))

    return replace(
        pattern_,
        arcs=drawn([Arc(rename(a.subject), rename(a.property), rename(a.object), a.scope) for a in pattern_.arcs]),
        classes=drawn([ClassConstraint(rename(c.vertex), c.cls) for c in pattern_.classes]),
        is_a=drawn([IsA(rename(c.vertex), c.operator, c.cls) for c in pattern_.is_a]),
        filters=drawn([rename(f) for f in pattern_.filters]),
    )


@settings(max_examples=100, deadline=None)
@given(randoms)
def test_names_and_order_do_not_matter(rng):
    model, one = random_model(rng), pattern(rng)
    assert canonical(shuffled(one, rng), model)[0] == canonical(one, model)[0]


def drawing(edges, colours=(), mapping="injective"):
    """A pattern of variables that looks like a graph."""
    arcs = tuple(Arc(Variable(f"x{a}"), EX.p, Variable(f"x{b}")) for a, b in edges)
    classes = tuple(ClassConstraint(Variable(f"x{v}"), EX[f"C{c}"]) for v, c in enumerate(colours))
    return Pattern(arcs=arcs, classes=classes, mapping=mapping)


def both(edges):
    return [(a, b) for x, y in edges for a, b in ((x, y), (y, x))]


def rook(side):
    cells = range(side * side)
    return [(a, b) for a in cells for b in range(a) if a // side == b // side or a % side == b % side]


def shrikhande():
    steps = {(0, 1), (0, 3), (1, 0), (3, 0), (1, 1), (3, 3)}
    return [(a, b) for a in range(16) for b in range(a) if ((a // 4 - b // 4) % 4, (a - b) % 4) in steps]


def cycle(length, first=0):
    return [(first + i, first + (i + 1) % length) for i in range(length)]


def copies(edges, size, times):
    return [(a + size * k, b + size * k) for k in range(times) for a, b in edges]


PETERSEN = [*cycle(5), *((i, i + 5) for i in range(5)), *((5 + i, 5 + (i + 2) % 5) for i in range(5))]
REGULAR = {
    "cycle": both(cycle(64)),
    "directed cycle": cycle(64),
    "complete": both(combinations(range(24), 2)),
    "hypercube": [(i, i ^ 1 << bit) for i in range(64) for bit in range(6)],
    "Petersen": both(PETERSEN),
    "grid": both([(i, i + 1) for i in range(64) if i % 8 < 7] + [(i, i + 8) for i in range(56)]),
    "torus": [e for i in range(64) for e in ((i, i // 8 * 8 + (i + 1) % 8), (i, (i + 8) % 64))],
    "copies of Petersen": both(copies(PETERSEN, 10, 6)),
    "copies of triangles": both(copies(cycle(3), 3, 21)),
    "rook": both(rook(8)),
    "Shrikhande": both(shrikhande()),
    "star": [(0, i) for i in range(1, 32)],
}


@pytest.mark.parametrize("name", REGULAR)
def test_regular_patterns_of_up_to_64_vertices_are_recognised(name):
    one = drawing(REGULAR[name])
    form = canonical(one, EMPTY)[0]
    for seed in range(3):
        assert canonical(shuffled(one, Random(seed)), EMPTY)[0] == form


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (both(rook(4)), both(shrikhande())),
        (both(cycle(6)), both(copies(cycle(3), 3, 2))),
        (cycle(64), copies(cycle(32), 32, 2)),
        (both(PETERSEN), both([*cycle(10), *((i, i + 5) for i in range(5))])),
        ([(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (0, 2)]),
    ],
)
def test_patterns_that_only_look_alike_stay_apart(one, other):
    assert canonical(drawing(one), EMPTY)[0] != canonical(drawing(other), EMPTY)[0]


@settings(max_examples=30, deadline=None)
@given(randoms, st.integers(2, 64))
def test_random_patterns_of_up_to_64_vertices_are_recognised(rng, size):
    edges = [(rng.randrange(size), rng.randrange(size)) for _ in range(rng.randint(size // 2, 2 * size))]
    filters = [Call("<", (Variable(f"x{a}"), Variable(f"x{b}"))) for a, b in edges[: rng.choice([0, 0, 3])]]
    one = drawing(edges, colours=[rng.choice([0, 0, 0, 1]) for _ in range(size)])
    one = replace(one, filters=tuple(filters))
    assert canonical(shuffled(one, rng), EMPTY)[0] == canonical(one, EMPTY)[0]


def isomorphic(one, other):
    """Whether some renaming makes one pattern the other, by trying all."""

    def parts(p, names):
        def named(part):
            return names.get(part, part)

        return (
            {(named(a.subject), named(a.property), named(a.object)) for a in p.arcs},
            {(named(f.arguments[0]), named(f.arguments[1])) for f in p.filters},
        )

    mine, theirs = sorted(one.variables, key=str), sorted(other.variables, key=str)
    if len(mine) != len(theirs):
        return False
    return any(parts(one, dict(zip(mine, order, strict=True))) == parts(other, {}) for order in permutations(theirs))


@settings(max_examples=120, deadline=None)
@given(randoms)
def test_two_patterns_have_one_form_exactly_if_a_renaming_makes_them_the_same(rng):
    def drawn():
        names = [Variable(name) for name in "abcd"]
        arcs = [
            Arc(rng.choice([*names, HOME]), rng.choice([EX.p, EX.p, EX.q, *names[:1]]), rng.choice(names))
            for _ in range(rng.randint(1, 4))
        ]
        bound = sorted({v for a in arcs for v in (a.subject, a.property, a.object) if isinstance(v, Variable)}, key=str)
        filters = {Call("<", (rng.choice(bound), rng.choice(bound))) for _ in range(rng.choice([0, 0, 1, 2]))}
        return Pattern(arcs=tuple(arcs), filters=tuple(filters))

    one, other = drawn(), drawn()
    assert (canonical(one, EMPTY)[0] == canonical(other, EMPTY)[0]) == isomorphic(one, other)


@settings(max_examples=120, deadline=None)
@given(st.integers(0, 10**9))
def test_filters_in_normal_form_are_true_of_the_same_values(seed):
    rng = Random(seed)
    x, y = VARIABLES[:2]
    leaves = [x, x, y, *rng.sample(LITERALS, 2), CLASSES[0]]
    filter_ = condition(rng, leaves) if rng.random() < 0.7 else attribute_filter(rng)
    if rng.random() < 0.4:
        filter_ = Call("not", (Call(rng.choice(["or", "and"]), (filter_, condition(rng, leaves))),))
    normal = normal_filters([filter_], lambda name: name, lambda property_: property_)
    for _ in range(10):
        terms = {x: rng.choice(LITERALS), y: rng.choice([*LITERALS, CLASSES[1], None])}
        found = {path: frozenset(rng.sample(LITERALS, rng.choice([0, 1, 2]))) for path in PROPERTIES}

        def lookup(operand, terms=terms):
            return operand if isinstance(operand, NamedNode) else terms[operand]

        def values(path, found=found):
            return found[path[-1]]

        assert holds(filter_, lookup, values) == all(holds(part, lookup, values) for part in normal)


def ops(filter_):
    return parse_ops(f"(_:H, ?a, (ex:A, ex:p, ex:B))(_:H, ?b, (ex:A, ex:q, ex:B), {filter_})", {"ex": EX.base})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("?a > ?b", "?b < ?a"),
        ("?a < 400", "400.00 > ?a"),
        ("?a = ?b", "?b = ?a"),
        ("?a < 1 and (?b < 2 and ?a != 3)", "?a != 3.0 and ?a < 1 and ?b < 2"),
        ("not (?a = 1 or ?b < 2)", "not ?b < 2 and ?a != 1"),
        ("not not ?a < 1", "?a < 1"),
        ("?a in (1, 2)", "?a = 2 or ?a = 1"),
        ("?a not in (1, 2)", "?a != 2 and ?a != 1"),
        ("?a < 1 + 1", "?a < 2"),
        ("?a + ?b < 2", "?b + ?a < 2"),
        ("?a < 1 or 1 = 1", "1 = 1"),
        ("?a < 1 or 1 = 2", "?a < 1"),
    ],
)
def test_filters_that_say_the_same_are_equal(one, other):
    assert canonical(ops(one), EMPTY)[0] == canonical(ops(other), EMPTY)[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("not ?a < 1", "?a >= 1"),  # NaN, and what is no number
        ("?a < 400", "?a < 4e2"),  # a decimal is made a double first
        ("?a + 1 < 2", "?a < 1"),
        ('str(?a) = "1"', 'str(?a) = "1.0"'),
        ("datatype(?a) = datatype(1)", "datatype(?a) = datatype(1.0)"),
        ("?a < ?b", "?b < ?a"),
    ],
)
def test_filters_that_do_not_say_the_same_stay_apart(one, other):
    assert canonical(ops(one), EMPTY)[0] != canonical(ops(other), EMPTY)[0]


def test_attributes_in_any_order_are_equal():
    forms = {
        canonical(parse_filter(text, {}, EMPTY), EMPTY)[0]
        for text in (
            'price < 400 and brand = "IBM" and (a = 1 or a = 2)',
            'brand = "IBM" and (a in (2, 1) and price < 400.0)',
        )
    }
    assert len(forms) == 1


MODEL = ConceptModel(
    class_parents={
        EX.Laptop: frozenset({EX.Computer}),
        EX.Computer: frozenset({EX.PC}),
        EX.PC: frozenset({EX.Computer}),
    },
    property_parents={EX.cost: frozenset({EX.price}), EX.price: frozenset({EX.cost}), RDF.type: frozenset({EX.kind})},
    same={EX.ibm: frozenset({EX.IBM}), EX.IBM: frozenset({EX.ibm})},
)
X, Y = Variable("x"), Variable("y")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Arc(X, EX.price, Y, Scope.RELATIONS), Arc(X, EX.price, Y, Scope.CLOSED)),
        (Arc(X, EX.price, Y), Arc(X, EX.cost, Y)),
        (Arc(X, EX.p, EX.ibm), Arc(X, EX.p, EX.IBM)),
    ],
)
def test_arcs_that_the_model_makes_the_same_are_equal(one, other):
    assert canonical(Pattern(arcs=(one,)), MODEL)[0] == canonical(Pattern(arcs=(other,)), MODEL)[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Arc(X, EX.kind, Y, Scope.RELATIONS), Arc(X, EX.kind, Y, Scope.CLOSED)),
        (Arc(X, EX.price, Y, Scope.ASSERTED), Arc(X, EX.cost, Y, Scope.ASSERTED)),
        (Arc(X, EX.price, Y, Scope.ASSERTED), Arc(X, EX.price, Y, Scope.CLOSED)),
    ],
)
def test_arcs_that_the_model_keeps_apart_stay_apart(one, other):
    assert canonical(Pattern(arcs=(one,)), MODEL)[0] != canonical(Pattern(arcs=(other,)), MODEL)[0]


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        ([EX.Laptop, EX.Computer, RDFS.Resource], [EX.Laptop]),
        ([EX.PC], [EX.Computer]),
        ([EX.Laptop, OWL.Thing], [EX.Laptop, OWL.Thing]),  # a literal may be an ex:Laptop, and is no thing
        ([XSD.integer, XSD.decimal, RDFS.Literal], [XSD.integer]),
        ([RDFS.Resource], []),
    ],
)
def test_classes_that_follow_from_others_are_dropped(given_, kept):
    one = Pattern(arcs=(Arc(HOME, EX.p, X),), classes=tuple(ClassConstraint(X, cls) for cls in given_))
    assert {c.cls for c in canonical(one, MODEL)[0].classes} == set(kept)


def test_an_arc_to_a_class_is_a_class_constraint_and_keeps_literals_out():
    arcs = (Arc(HOME, EX.p, X), Arc(X, RDF.type, EX.Laptop))
    constraints = (ClassConstraint(X, EX.Laptop), ClassConstraint(X, OWL.Thing))
    as_constraints = Pattern(arcs=arcs[:1], classes=constraints)
    assert canonical(Pattern(arcs=arcs), MODEL)[0] == canonical(as_constraints, MODEL)[0]
    assert len(canonical(Pattern(arcs=arcs, mapping="injective"), MODEL)[0].arcs) == 2


def test_injective_means_nothing_where_there_is_one_vertex():
    one = Pattern(arcs=(Arc(HOME, EX.p, Literal(1)),), mapping="injective")
    assert canonical(one, EMPTY)[0].mapping == "homomorphic"


def test_interests_in_any_order_are_equal():
    one, other = Interest((EX.a, EX.b), 0.7), Interest((EX.b, EX.a), 0.7)
    forms = {canonical(Pattern(interests=both_), EMPTY)[0] for both_ in ((one,), (other, one))}
    assert len(forms) == 1


def test_an_alternative_in_canonical_form_tells_the_subscribers_names():
    price, value = Variable("price"), Variable("value")
    one = Pattern(arcs=(Arc(HOME, EX.price, price), Arc(price, RDF.value, value)))
    form = canonical_alternative(Alternative(one), EMPTY)
    two = canonical_alternative(Alternative(shuffled(one, Random(1))), EMPTY)
    assert form.pattern == two.pattern
    assert [name for name, _ in form.answer] == [price, value]
    arcs = set(form.pattern.arcs)
    told = dict(form.answer)
    assert Arc(told[price], RDF.value, told[value]) in arcs


def test_a_pattern_keeps_its_meaning_when_the_search_for_its_order_is_given_up(monkeypatch):
    monkeypatch.setattr(labelling, "MOST_WORK", 200)
    one = drawing(both(copies(PETERSEN, 10, 2)))
    form, names = canonical(one, EMPTY)
    assert {Arc(names[a.subject], a.property, names[a.object], a.scope) for a in one.arcs} == set(form.arcs)
    assert len(set(names.values())) == 20


def test_a_filter_on_very_many_variables_is_put_in_order():
    names = [Variable(f"x{i}") for i in range(200)]
    arcs = tuple(Arc(HOME, EX[f"p{i}"], name) for i, name in enumerate(names))
    one = Pattern(arcs=arcs, filters=(Call("or", tuple(Call("<", (a, b)) for a, b in pairwise(names))),))
    assert canonical(shuffled(one, Random(1)), EMPTY)[0] == canonical(one, EMPTY)[0]


def test_a_large_and_regular_pattern_takes_bounded_work_and_keeps_its_meaning():
    arms = 300
    star = Pattern(arcs=tuple(Arc(HOME, EX.p, Variable(f"x{i}")) for i in range(arms)))
    form, names = canonical(star, EMPTY)
    assert len(form.arcs) == len(set(names.values())) == arms


def test_a_filter_on_the_home_vertex_needs_one_even_if_it_is_always_true():
    form, _ = canonical(parse_filter("a = 1 or not (a = 1 and not a = 1)", {}, EMPTY), EMPTY)
    always = Call("or", (form.filters[0], Literal(True)))
    assert canonical(Pattern(filters=(always,)), EMPTY)[0].needs_home

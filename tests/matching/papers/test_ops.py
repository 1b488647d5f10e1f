"""OPS step by step: the paper's Figures 4 to 7, the hole in its printed algorithm, and what is shared."""

import gc
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from pyoxigraph import NamedNode

from tests.matching.test_vectors import VECTORS
from triplewire.concepts.closure import close
from triplewire.concepts.load import load_model, model_of, read_ontology
from triplewire.concepts.metastatements import MetaStatement
from triplewire.lift.cloudevents import parse_event
from triplewire.matching import BruteForce
from triplewire.matching.papers.eventgraph import EventGraph
from triplewire.matching.papers.ops.ems import FULL, EMSArray
from triplewire.matching.papers.ops.matcher import OPS, Growth
from triplewire.matching.papers.ops.picture import draw_tree
from triplewire.matching.papers.ops.traversal import traverse
from triplewire.matching.papers.ops.tree import Circle, Rectangle
from triplewire.rdf.terms import DAML, RDFS, XSD
from triplewire.subscriptions.languages import parse_subscription
from triplewire.testing import cloud_event

EX = "http://example.org/"
ROOT = Path(__file__).parents[3]
DBPEDIA = ROOT.parent / "shared/data/dbpedia-ontology/dbo.nq"
TURTLE = f"@prefix ex: <{EX}> . @prefix rdfs: <{RDFS.base}> .\n"


def vector(name):
    return next(v for v in VECTORS if v.name == name)


WORKED = vector("paper-ops-worked-example")
HOLE = vector("paper-ops-hole-in-the-printed-algorithm")


class Printed(OPS):
    """The algorithm as it was printed: derived patterns wait only for arcs still to come."""

    looks_back = False


def prepared(case, make=OPS):
    model = case.model()
    matcher = make(model)
    matcher.add(case.subscription(model))
    return matcher, EventGraph(close(case.event(model).graph, model))


def ops(id_, *statements, mapping="injective"):
    return {
        "id": id_,
        "language": "ops",
        "pattern": "\n".join(statements),
        "prefixes": {"ex": EX},
        "mapping": mapping,
    }


def made(ontology, *records):
    model = model_of(read_ontology(TURTLE + ontology, "text/turtle", "test"))
    matcher = OPS(model)
    for record in records:
        matcher.add(parse_subscription(record, model))
    return matcher


def event(turtle):
    return parse_event(cloud_event(TURTLE + turtle))


def meta(*names):
    return MetaStatement(*(NamedNode(EX + name) if isinstance(name, str) else name for name in names))


def short(statement):
    return tuple(part.value.removeprefix(EX) for part in statement)


def test_figure_4_the_array_holds_the_six_meta_statements_in_order():
    matcher, _ = prepared(WORKED)
    told = [(matcher.array.number(entry), short(entry.meta)) for entry in matcher.array.entries]
    assert told == [
        (1, ("A", "p3", "B")),
        (2, ("A", "p4", "C")),
        (3, ("B", "p5", "C")),
        (4, ("C", "p6", "C")),
        (5, ("H", "p1", "A")),
        (6, ("H", "p2", "C")),
    ]


def test_figure_4_only_patterns_about_home_wait_at_first():
    matcher, _ = prepared(WORKED)
    waiting = {
        matcher.array.number(entry): [
            str(g.vertices[s.object]) for both in entry.waiting.values() for s, g in both.items()
        ]
        for entry in matcher.array.entries
    }
    assert waiting == {1: [], 2: [], 3: [], 4: [], 5: ["?1"], 6: ["?3"]}


def test_figure_5_the_event_is_traversed_breadth_first():
    matcher, graph = prepared(WORKED)
    told = [
        (str(graph.terms[s]), str(graph.terms[o]), [matcher.array.number(matcher.array.find(m)) for m in metas])
        for s, o, metas in traverse(graph, matcher.array)
    ]
    assert told == [
        ("_:H", "_:a", [5]),
        ("_:H", "_:c", [6]),
        ("_:a", "_:b", [1]),
        ("_:a", "_:c", [2]),
        ("_:a", "_:d", [2]),
        ("_:c", "_:d", [4]),
        ("_:b", "_:d", [3]),
    ]


def told(tree, graph):
    """The tree as nested lists, each node with its state: ``[node, children…]``."""

    def vertex(number):
        return str(tree.graph.vertices[number])

    def node(parent):
        children = [node(child) for child in tree.nodes if child.parent is parent]
        state = "c" if parent.checked else "u"
        if isinstance(parent, Circle):
            newest = [*parent.pairs][-1]
            text = f"{vertex(newest)}={graph.terms[parent.pairs[newest]]}({state},{parent.unchecked})"
        else:
            subject = graph.terms[parent.parent.pairs[parent.statement.subject]]
            text = f"{subject},{vertex(parent.statement.object)}({state})"
        return [text, *children]

    return node(tree.root)


def test_figure_6_the_matching_tree():
    matcher, graph = prepared(WORKED)
    [tree] = matcher.grow(graph)
    assert told(tree, graph) == [
        "_:H=_:H(c,0)",
        [
            "_:H,?1(c)",
            [
                "?1=_:a(c,0)",
                ["_:a,?2(c)", ["?2=_:b(c,0)", ["_:b,?4(c)", ["?4=_:d(c,0)"]]]],
                ["_:a,?4(c)", ["?4=_:c(c,0)"], ["?4=_:d(c,0)"]],
            ],
        ],
        ["_:H,?3(c)", ["?3=_:c(c,0)", ["_:c,?4(c)", ["?4=_:d(c,0)"]]]],
    ]


def test_figures_4_to_6_step_by_step():
    """After each typed-statement: how many nodes there are, and what is still unchecked below root, ?1=a and ?3=c."""
    matcher, graph = prepared(WORKED)
    growth = Growth(matcher, graph)
    steps = []
    for statements in traverse(graph, matcher.array):
        growth.meet(statements)
        [tree] = growth.trees.values()
        steps.append((len(tree.nodes), [node.unchecked for node in tree.nodes if isinstance(node, Circle)]))
    assert steps == [
        (6, [2, 2]),  # H→a: ?1=a, which waits for (a, ?2) and (a, ?4)
        (8, [2, 2, 1]),  # H→c: ?3=c, which waits for (c, ?4)
        (10, [2, 2, 1, 1]),  # a→b: ?2=b, which waits for (b, ?4)
        (11, [2, 1, 1, 1, 0]),  # a→c: ?4=c, a leaf: (a, ?4) is checked
        (12, [2, 1, 1, 1, 0, 0]),  # a→d: ?4=d, beside it
        (13, [1, 1, 0, 1, 0, 0, 0]),  # c→d: ?4=d, a leaf: all up to (H, ?3)
        (14, [0, 0, 0, 0, 0, 0, 0, 0]),  # b→d: ?4=d, a leaf: all up to the root
    ]


def test_figure_7_a_leaf_checks_the_nodes_above_it_up_to_one_that_waits_for_another_child():
    """Without the arcs p4 nothing matches F, (a, ?4). The leaf I checks H, G and E; D still waits for F."""
    matcher, _ = prepared(WORKED)
    graph = EventGraph(
        close(
            event(
                "_:H a ex:H; ex:p1 _:a; ex:p2 _:c . _:a a ex:A; ex:p3 _:b . _:b a ex:B; ex:p5 _:d . "
                "_:c a ex:C; ex:p6 _:d . _:d a ex:C ."
            ).graph,
            matcher.model,
        )
    )
    [tree] = matcher.grow(graph)
    d = ["?1=_:a(u,1)", ["_:a,?2(c)", ["?2=_:b(c,0)", ["_:b,?4(c)", ["?4=_:d(c,0)"]]]], ["_:a,?4(u)"]]
    assert told(tree, graph)[1] == ["_:H,?1(u)", d]
    assert tree.solutions(graph) == []
    assert matcher.work["verified"] == 0


def test_what_the_states_pass_the_expressions_may_still_fail():
    """?1 and ?2 find a vertex each, but not the same one for ?3 below both."""
    matcher = made(
        "",
        ops(
            "s",
            "(_:H, ?1, (owl:Thing, ex:p, owl:Thing))",
            "(_:H, ?2, (owl:Thing, ex:q, owl:Thing))",
            "(?1, ?3, (owl:Thing, ex:r, owl:Thing))",
            "(?2, ?3, (owl:Thing, ex:r, owl:Thing))",
        ),
    )
    assert matcher.match(event("_:H ex:p _:a; ex:q _:b . _:a ex:r _:c . _:b ex:r _:d .")) == []
    assert matcher.work["verified"] == 1
    assert len(matcher.match(event("_:H ex:p _:a; ex:q _:b . _:a ex:r _:c . _:b ex:r _:c ."))) == 1


def texts(svg):
    return [element.text for element in ET.fromstring(svg).iter() if element.tag.endswith("text")]


def test_figure_6_is_drawn_with_its_states():
    model = WORKED.model()
    matcher = OPS(model)
    matcher.add(WORKED.subscription(model))
    svg = draw_tree(matcher, "s", WORKED.event(model))
    assert svg == (ROOT / "docs/images/figure-6.svg").read_text(encoding="utf-8")
    shown = texts(svg)
    assert sorted(t for t in shown if "EMS" in t) == [
        "_:H, ?1, EMS(5)",
        "_:H, ?3, EMS(6)",
        "_:a, ?2, EMS(1)",
        "_:a, ?4, EMS(2)",
        "_:b, ?4, EMS(3)",
        "_:c, ?4, EMS(4)",
    ]
    assert sorted(t for t in shown if "=" in t) == [
        "?1 = _:a",
        "?2 = _:b",
        "?3 = _:c",
        "?4 = _:c",
        "?4 = _:d",
        "?4 = _:d",
        "?4 = _:d",
        "_:H = _:H",
    ]
    assert shown.count("checked") == 14


def test_a_tree_that_fails_shows_who_waits_and_one_that_cannot_grow_its_root():
    matcher = made("", ops("s", "(_:H, ?1, (ex:A, ex:p, owl:Thing))", "(?1, ex:k, (owl:Thing, ex:q, owl:Thing))"))
    shown = texts(draw_tree(matcher, "s", event("_:H a ex:A; ex:p _:a . _:a ex:q ex:other .")))
    assert shown.count("unchecked, waits for 1") == 2
    assert "_:a, k, EMS(2)" in shown
    assert len(texts(draw_tree(matcher, "s", event("_:H ex:nothing 1 .")))) == 4
    assert "no home vertex" in draw_tree(matcher, "s", event("_:a ex:p _:b . _:b ex:p _:a ."))


def test_a_large_tree_is_drawn_in_part():
    matcher = made("", ops("s", "(_:H, ?1, (owl:Thing, ex:p, owl:Thing))"))
    svg = draw_tree(matcher, "s", event("_:H ex:p " + ", ".join(f"_:n{n}" for n in range(200)) + " ."))
    assert "Left out: the 52 youngest nodes." in texts(svg)


@pytest.mark.parametrize(("make", "found"), [(BruteForce, 1), (OPS, 1), (Printed, 0)])
def test_the_printed_algorithm_misses_an_arc_that_went_by_before_its_pattern_was_derived(make, found):
    """Arcs are met in the order H→b, H→x, b→c, x→b. The pattern (b, ?3) is derived from the last one."""
    model = HOLE.model()
    matcher = make(model)
    matcher.add(HOLE.subscription(model))
    assert len(matcher.match(event("_:H ex:next _:b, _:x . _:b ex:next _:c . _:x ex:next _:b ."))) == found


def test_the_printed_algorithm_finds_what_is_met_in_order():
    matcher, graph = prepared(WORKED, Printed)
    [tree] = matcher.grow(graph)
    assert len(tree.solutions(graph)) == 1


def test_equal_patterns_of_many_subscriptions_are_compared_once():
    chain = ["(_:H, ?1, (owl:Thing, ex:p, owl:Thing))", "(?1, ?2, (owl:Thing, ex:q, rdfs:Resource), ?2 > 1)"]
    other = ["(_:H, ?a, (owl:Thing, ex:p, owl:Thing))", "(?a, ?b, (owl:Thing, ex:q, rdfs:Resource), ?b > 1)"]
    work = []
    for number in (1, 100):
        matcher = made("", *(ops(str(n), *(chain if n % 2 else other)) for n in range(number)))
        assert len(matcher.match(event("_:H ex:p _:a, _:b . _:a ex:q 1, 2 . _:b ex:q 3 ."))) == number
        work.append((matcher.work["comparisons"], matcher.work["patterns"]))
    assert work[0] == work[1]


def test_trees_are_gone_with_their_last_user_and_need_no_search_for_garbage():
    matcher, graph = prepared(WORKED)
    gc.disable()
    try:
        others = _alive()  # of tests before this one
        trees = matcher.grow(graph)
        assert len(trees[0].solutions(graph)) == 1
        assert _alive() == others + 14
        del trees
        assert _alive() == others
    finally:
        gc.enable()


def _alive():
    return sum(isinstance(thing, Circle | Rectangle) for thing in gc.get_objects())


def test_ancestors_are_found_through_classes_and_properties():
    ontology = (
        "ex:PC rdfs:subClassOf ex:Computer . ex:IBM rdfs:subClassOf ex:Company, ex:Thing . "
        "ex:madeBy rdfs:subPropertyOf ex:from; rdfs:domain ex:Computer; rdfs:range ex:Company . "
        "ex:from rdfs:domain ex:Computer; rdfs:range ex:Company ."
    )
    array = made(ontology).array
    above = {short(entry.meta) for entry in array.at_or_above(meta("PC", "madeBy", "IBM"), literal=False)}
    assert above == {(s, p, o) for s in ("PC", "Computer") for p in ("madeBy", "from") for o in ("IBM", "Company")}


def test_a_subscription_adds_entries_that_the_model_does_not_have_and_takes_them_along():
    matcher = made("ex:p rdfs:domain ex:A; rdfs:range ex:B .")
    before = [entry.meta for entry in matcher.array.entries]
    matcher.add(parse_subscription(ops("s", "(_:H, ?1, (ex:A, ex:p, daml:Thing))"), matcher.model))
    assert matcher.array.find(meta("A", "p", DAML.Thing)) is not None
    assert len(matcher.match(event("_:H a ex:A; ex:p _:b ."))) == 1
    matcher.remove("s")
    assert [entry.meta for entry in matcher.array.entries] == before


def test_removal_leaves_nothing_behind():
    matcher = made("")
    for n in range(20):
        record = ops(
            str(n), f"(_:H, ?1, (ex:A, ex:p{n % 3}, xsd:integer), ?1 < {n})", "(_:H, ex:k, (ex:A, ex:q, ex:B))"
        )
        matcher.add(parse_subscription(record, matcher.model))
    for n in range(20):
        matcher.remove(str(n))
    assert matcher.array.entries == []
    assert matcher.entries == {}


def test_a_literal_waits_under_its_datatype():
    array = made("ex:p rdfs:domain ex:A; rdfs:range <http://www.w3.org/2001/XMLSchema#decimal> .").array
    decimal = meta("A", "p", XSD.integer)
    assert [entry.meta.object_class for entry in array.at_or_above(decimal, literal=True)] != []


def test_a_resource_of_a_datatype_is_a_thing_and_a_literal_of_it_is_not():
    """Their typed-statements have the same meta-statement, and not the same ancestors."""
    matcher = made("", ops("s", "(_:H, ?1, (rdfs:Resource, ex:p, owl:Thing))"))
    found = matcher.match(event(f"_:H ex:p 1, _:x, 2 . _:x a <{XSD.integer.value}> ."), bindings=True)
    assert [match.bindings for match in found] == [({"?1": "_:x"},)]


@pytest.mark.skipif(not DBPEDIA.exists(), reason="DBpedia's ontology is not there")
def test_a_large_ontology_fills_the_array_with_what_subscriptions_name_alone():
    model = load_model([DBPEDIA])
    array = EMSArray(model)
    assert array.entries == []
    assert len(model.meta_statements) > 1000


def test_a_small_ontology_fills_the_array_with_all_that_is_valid():
    classes = " ".join(f"ex:C{n} rdfs:subClassOf ex:C{n + 1} ." for n in range(20))
    small = made(classes + "ex:p rdfs:domain ex:C9; rdfs:range ex:C9 .").array
    assert len(small.entries) == 100
    large = made(classes + " ".join(f"ex:p{n} rdfs:domain ex:C20; rdfs:range ex:C20 ." for n in range(13))).array
    assert FULL < 13 * 21 * 21
    assert large.entries == []

"""The matching tree drawn in the manner of the paper's Figure 6, with the states of Figure 7."""

from __future__ import annotations

from triplewire.concepts.closure import close
from triplewire.matching.matcher import TooManyMappingsError
from triplewire.matching.papers.eventgraph import EventGraph, Pairs
from triplewire.matching.papers.ops.ems import EMSArray
from triplewire.matching.papers.ops.matcher import OPS
from triplewire.matching.papers.ops.tree import Circle, MatchingTree, Rectangle
from triplewire.rdf.graph import Event
from triplewire.rdf.names import Names
from triplewire.rdf.svg import Arrow, Box, Diagram, draw, shortened

NODES = 150
"""A tree with more nodes than this is drawn in part: its oldest nodes."""


def draw_tree(matcher: OPS, id_: str, event: Event) -> str:
    """The matching tree of a subscription and an event, as an SVG document.

    Round nodes are partial mappings, square ones statement patterns; those with a thick border have passed the check
    by states. The array's entries go by their numbers.
    """
    graph = EventGraph(close(event.graph, matcher.model))
    return draw(tree_diagram(matcher.tree(id_, graph), graph, matcher.array))


def tree_diagram(tree: MatchingTree | None, event: EventGraph, array: EMSArray) -> Diagram:
    """The tree as boxes and arrows; a mere note if there is none, because the event's home vertex does not fit."""
    title = "Matching tree"
    if tree is None:
        return Diagram(title, "There is none.", (), (), note="The event has no home vertex that fits the subscription.")
    shown = tree.nodes[:NODES]
    keys = {node: str(number) for number, node in enumerate(shown)}
    names = Names.of([*event.terms, *(part for s in tree.graph.statements for part in s.meta)], bare=True)
    left_out = len(tree.nodes) - len(shown)
    return Diagram(
        title,
        f"How subscription {tree.graph.id} may match: {len(tree.nodes)} nodes. {_outcome(tree, event)}.",
        [_box(node, key, tree, event, array, names) for node, key in keys.items()],
        [Arrow(keys[node.parent], key) for node, key in keys.items() if node.parent is not None],
        root="0",
        direction="down",
        note=f"Left out: the {left_out} youngest nodes." if left_out else "",
    )


def _outcome(tree: MatchingTree, event: EventGraph) -> str:
    try:
        return "It matches" if tree.solutions(event) else "It does not match"
    except TooManyMappingsError as error:
        return f"It is given up on: {error}"


def _box(
    node: Circle | Rectangle, key: str, tree: MatchingTree, event: EventGraph, array: EMSArray, names: Names
) -> Box:
    def vertex(number: int) -> str:
        constant = tree.graph.constants[number]
        return str(tree.graph.vertices[number]) if constant is None else names.short(constant)

    def image(number: int, pairs: Pairs) -> str:
        return names.short(event.terms[pairs[number]]) if number in pairs else vertex(number)

    state = "checked" if node.checked else "unchecked"
    if isinstance(node, Rectangle):
        statement, pairs = node.statement, node.parent.pairs
        ends = f"{image(statement.subject, pairs)}, {image(statement.object, pairs)}"
        entry = array.find(statement.meta)
        place = f"EMS({array.number(entry)})" if entry else ""
        tip = (
            f"{vertex(statement.subject)}, {vertex(statement.object)}, ({', '.join(map(names.short, statement.meta))})"
        )
        return Box(key, (shortened(f"{ends}, {place}"), state), "square", node.checked, tip)
    newest = node.parent.statement.object if node.parent else 0
    if node.unchecked:
        state = f"{state}, waits for {node.unchecked}"
    tip = ", ".join(f"{vertex(v)} = {image(v, node.pairs)}" for v in node.pairs)
    return Box(key, (shortened(f"{vertex(newest)} = {image(newest, node.pairs)}"), state), "round", node.checked, tip)

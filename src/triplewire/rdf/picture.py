"""An event's graph as a picture, in the manner of the OPS paper's Figure 1.

Resources are round, with their classes under their names; literals are square; the home vertex is heavy.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping

from pyoxigraph import Literal, NamedNode

from triplewire.rdf.graph import Graph
from triplewire.rdf.names import Names
from triplewire.rdf.svg import Arrow, Box, Diagram, draw, shortened
from triplewire.rdf.terms import RDF, Term, Triple

VERTICES = 150
ARCS = 400


def picture(
    graph: Graph, prefixes: Mapping[str, str] | None = None, title: str = "Event", vertices: int = VERTICES
) -> str:
    """The graph as SVG. Of a graph with more than so many vertices, the part nearest to the home vertex is drawn."""
    return draw(diagram(graph, prefixes, title, vertices))


def diagram(
    graph: Graph, prefixes: Mapping[str, str] | None = None, title: str = "Event", vertices: int = VERTICES
) -> Diagram:
    """What is to be drawn of a graph."""
    classes: dict[Term, list[Term]] = defaultdict(list)
    arcs: list[Triple] = []
    for triple in sorted(graph.triples, key=str):
        if _gives_class(triple):
            classes[triple.subject].append(triple.object)
        else:
            arcs.append(triple)
    all_ = nearest_first(graph)
    shown = dict.fromkeys(all_[:vertices])
    drawn = [arc for arc in arcs if arc.subject in shown and arc.object in shown]
    names = Names.of((term for triple in graph.triples for term in triple), prefixes, bare=True)
    left_out = [f"{len(all_) - len(shown)} vertices"] if len(all_) > len(shown) else []
    left_out += [f"{len(arcs) - len(drawn[:ARCS])} arcs"] if len(arcs) > len(drawn[:ARCS]) else []
    home = "no home vertex" if graph.home is None else f"home vertex {names.short(graph.home)}"
    return Diagram(
        title=title,
        description=f"A graph of {len(all_)} vertices and {len(arcs)} arcs, {home}.",
        boxes=[_box(vertex, classes[vertex], names, vertex == graph.home) for vertex in shown],
        arrows=[_arrow(arc, names) for arc in drawn[:ARCS]],
        root=None if graph.home is None else str(graph.home),
        note=f"Left out, furthest from the home vertex: {' and '.join(left_out)}." if left_out else "",
    )


def nearest_first(graph: Graph) -> list[Term]:
    """Every vertex: by its distance from the home vertex, whichever way arcs run, then those out of reach.

    The classes of things are no vertices here.
    """
    ways: dict[Term, dict[Term, None]] = defaultdict(dict)
    arcs = sorted(graph.triples, key=str)
    for arc in arcs:
        ways[arc.subject] |= {} if _gives_class(arc) else {arc.object: None}
    for arc in arcs:
        if not _gives_class(arc):
            ways[arc.object].setdefault(arc.subject)
    found: dict[Term, None] = {}
    for start in [*([] if graph.home is None else [graph.home]), *sorted(ways, key=str)]:
        queue = deque([start] if start not in found else [])
        found[start] = None
        while queue:
            new = [vertex for vertex in ways.get(queue.popleft(), ()) if vertex not in found]
            found |= dict.fromkeys(new)
            queue.extend(new)
    return list(found)


def _gives_class(triple: Triple) -> bool:
    return triple.property == RDF.type and isinstance(triple.object, NamedNode)


def _box(vertex: Term, classes: list[Term], names: Names, home: bool) -> Box:
    key = str(vertex)
    if isinstance(vertex, Literal):
        kind = names.short(vertex).removeprefix(f'"{vertex.value}"')
        lines = [vertex.value] if kind in ("", vertex.value) else [vertex.value, kind.removeprefix("^^")]
        return Box(key, tuple(shortened(line) for line in lines), "square", tip=key)
    lines = [names.short(vertex), *([", ".join(names.short(cls) for cls in classes)] if classes else [])]
    tip = f"{'home vertex ' if home else ''}{key}{''.join(f' a {cls}' for cls in classes)}"
    return Box(key, tuple(shortened(line) for line in lines), strong=home, tip=tip)


def _arrow(arc: Triple, names: Names) -> Arrow:
    return Arrow(str(arc.subject), str(arc.object), shortened(names.short(arc.property), 30), tip=str(arc.property))

"""Event graphs: an event's triples, its home vertex, and the checks on both."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Quad

from triplewire.errors import EventError
from triplewire.rdf.terms import RDF, Resource, Term, Triple

HOME = BlankNode("H")


_SUBJECT, _OBJECT = attrgetter("subject"), attrgetter("object")

Arcs: TypeAlias = Collection[Triple] | Collection[Quad]


@dataclass(frozen=True, eq=False)
class Graph:
    """A finite RDF graph with a home vertex, or none.

    ``arcs`` are its triples as they were read, perhaps repeated or in named graphs; ``triples`` is the set of them.
    """

    arcs: Arcs
    home: Resource | None = None

    @cached_property
    def triples(self) -> frozenset[Triple]:
        return frozenset(Triple(subject, property_, object_) for subject, property_, object_, *_ in self.arcs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Graph) and (self.triples, self.home) == (other.triples, other.home)

    def __hash__(self) -> int:
        return hash((self.triples, self.home))

    @cached_property
    def vertices(self) -> frozenset[Term]:
        """Every subject and object."""
        return frozenset(end for triple in self.triples for end in (triple.subject, triple.object))

    @cached_property
    def resources(self) -> frozenset[Resource]:
        """Every vertex that is not a literal."""
        return frozenset(vertex for vertex in self.vertices if not isinstance(vertex, Literal))


@dataclass(frozen=True)
class Event:
    """What was published: a graph, and the ``(source, id)`` that identifies it."""

    source: str
    id: str
    graph: Graph


def event_graph(arcs: Arcs, home: str | None = None) -> Graph:
    """A graph with its home vertex found: the one that ``home`` names, else by the rules of the contract.

    Without a name it is ``_:H`` if the graph has one, else the one vertex with no incoming arc, else there is none.
    """
    return Graph(arcs, _named_home(arcs, home) if home is not None else _found_home(arcs))


def check_strict(graph: Graph, typed_elsewhere: Collection[Term] = ()) -> None:
    """Refuse a graph that breaks one of the OPS restrictions: a home vertex, all reachable from it, all typed.

    ``typed_elsewhere`` are the instances whose class the concept model knows. The classes that ``rdf:type`` points
    to are labels here, not vertices that need a type of their own.
    """
    if graph.home is None:
        raise EventError("the event has no home vertex: name it with the attribute 'home', or call it _:H")
    arcs = [triple for triple in graph.triples if triple.property != RDF.type]
    reached: set[Term] = {graph.home}
    frontier: list[Term] = [graph.home]
    while frontier:
        subject = frontier.pop()
        ends = {arc.object for arc in arcs if arc.subject == subject}
        frontier.extend(ends - reached)
        reached |= ends
    vertices = {triple.subject for triple in graph.triples} | {arc.object for arc in arcs}
    if lost := vertices - reached:
        raise EventError(f"no path leads from the home vertex {graph.home} to {_some(lost)}")
    typed = {triple.subject for triple in graph.triples if triple.property == RDF.type}
    untyped = {v for v in vertices if not isinstance(v, Literal) and v not in typed and v not in typed_elsewhere}
    if untyped:
        raise EventError(f"the event gives no class (rdf:type) for {_some(untyped)}")


def parse_resource(text: str) -> Resource:
    """The blank node or IRI that ``_:label``, ``<iri>`` or a bare IRI names."""
    try:
        if text.startswith("_:"):
            return BlankNode(text[2:])
        return NamedNode(text.removeprefix("<").removesuffix(">"))
    except ValueError as error:
        raise EventError(f"{text!r} is neither a blank node label (_:H) nor an IRI: {error}") from None


def _named_home(arcs: Arcs, home: str) -> Resource:
    vertex = parse_resource(home)
    if not any(vertex in (arc.subject, arc.object) for arc in arcs):
        raise EventError(f"the attribute 'home' names {vertex}, which is no vertex of the event's graph")
    return vertex


def _found_home(arcs: Arcs) -> Resource | None:
    if arcs and _SUBJECT(next(iter(arcs))) == HOME:  # as most events begin
        return HOME
    subjects = set(map(_SUBJECT, arcs))
    if HOME in subjects:
        return HOME
    objects = set(map(_OBJECT, arcs))
    if HOME in objects:
        return HOME
    tops = subjects - objects
    return tops.pop() if len(tops) == 1 else None


def _some(terms: Iterable[Term], limit: int = 3) -> str:
    names = sorted(map(str, terms))
    return ", ".join(names[:limit]) + (f" and {len(names) - limit} more" if len(names) > limit else "")

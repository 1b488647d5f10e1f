"""The way back: a graph in any syntax of RDF, and as plain JSON where it has that form.

Subscribers always receive RDF, whatever was published. JSON comes back for the graphs that JSON gives: a tree of keys
of the default vocabulary with texts, numbers and booleans, from the home vertex ``_:H`` down.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from pyoxigraph import BlankNode, Literal

from triplewire.errors import EventError
from triplewire.lift.documents import write_json
from triplewire.lift.keys import key_of
from triplewire.rdf.graph import HOME, Graph
from triplewire.rdf.syntax import FORMATS, write
from triplewire.rdf.terms import XSD, Resource, Term, Triple
from triplewire.rdf.values import NoValueError, value

JSON = "application/json"


def lower(graph: Graph, media_type: str, prefixes: Mapping[str, str] | None = None) -> str:
    """A document of the graph. The same graph always gives the same text."""
    if media_type in FORMATS:
        return write(sorted(graph.triples, key=lambda triple: tuple(map(str, triple))), media_type, prefixes)
    if media_type == JSON:
        return write_json(_tree(graph))
    raise EventError(f"no graph is written as {media_type!r}; known are {', '.join((*FORMATS, JSON))}")


def _tree(graph: Graph) -> Any:
    arcs: dict[Resource, list[Triple]] = defaultdict(list)
    for triple in sorted(graph.triples, key=lambda triple: tuple(map(str, triple))):
        arcs[triple.subject].append(triple)
    reached: set[Resource] = set()
    tree = _object(HOME, arcs, reached)
    if lost := arcs.keys() - reached:
        raise EventError(f"the graph has no JSON form: {min(map(str, lost))} is not below {HOME}")
    return tree


def _object(vertex: Resource, arcs: dict[Resource, list[Triple]], reached: set[Resource]) -> dict[str, Any]:
    if vertex in reached:
        raise EventError(f"the graph has no JSON form: two arcs lead to {vertex}")
    reached.add(vertex)
    members: dict[str, list[Any]] = defaultdict(list)
    for _, property_, object_ in arcs.get(vertex, ()):
        key = key_of(property_)
        if key is None:
            raise EventError(f"the graph has no JSON form: {property_} is not of the default vocabulary")
        members[key].append(_object(object_, arcs, reached) if isinstance(object_, BlankNode) else _scalar(object_))
    return {key: values[0] if len(values) == 1 else values for key, values in members.items()}


def _scalar(term: Term) -> str | bool | int | Decimal:
    if isinstance(term, Literal):
        try:
            known = value(term)
        except NoValueError:
            known = None
        if term.datatype == XSD.string:
            return term.value
        if isinstance(known, bool):
            return known
        if known is not None and term.datatype == XSD.integer:
            return int(term.value)
        if known is not None and term.datatype == XSD.decimal and "." in term.value:
            return Decimal(term.value)
    raise EventError(f"the graph has no JSON form: {term} is no text, number or boolean of JSON")

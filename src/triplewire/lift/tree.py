"""JSON: an object is a vertex, its members are arcs, an array is a repeated value. The root is the home vertex."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from triplewire.errors import EventError
from triplewire.lift.documents import kind
from triplewire.lift.entries import Blanks, Entry
from triplewire.lift.jsonld import lift_linked
from triplewire.lift.lifting import Lifting
from triplewire.lift.names import Names
from triplewire.rdf.graph import HOME
from triplewire.rdf.terms import RDF, Resource, Triple


def lift_tree(document: Any, names: Names, lifting: Lifting) -> Entry:
    """The graph of a JSON object, by a JSON-LD context if it has or is given one, else by the names' meaning."""
    if not isinstance(document, dict):
        raise EventError(f"a JSON event is an object, not {kind(document)}")
    if "@context" in document or names.context is not None:
        return lift_linked({"@context": names.context, **document}, lifting, plain=True)
    root = _subject(document, names, "/") or HOME
    triples = [] if names.class_ is None else [Triple(root, RDF.type, names.class_)]
    return Entry([*triples, *_arcs(root, document, names, "", Blanks())], root)


def _arcs(subject: Resource, document: Mapping[str, Any], names: Names, place: str, fresh: Blanks) -> Iterator[Triple]:
    for key, member in document.items():
        if key == names.id and _subject(document, names, place) is not None:
            continue
        for found in _values(member):
            yield from _arc(subject, key, found, names, f"{place}/{key}", fresh)


def _arc(subject: Resource, key: str, found: Any, names: Names, place: str, fresh: Blanks) -> Iterator[Triple]:
    if isinstance(found, dict):
        vertex = _subject(found, names, place) or fresh()
        yield Triple(subject, names.property(key), vertex)
        yield from _arcs(vertex, found, names, place, fresh)
    elif key == names.type and isinstance(found, str):
        yield Triple(subject, RDF.type, names.kind(found))
    else:
        yield Triple(subject, names.property(key), names.value(key, found, place))


def _subject(document: Mapping[str, Any], names: Names, place: str) -> Resource | None:
    """The vertex that an object names by its id key, if it does."""
    found = None if names.id is None else document.get(names.id)
    return None if found is None or isinstance(found, dict | list) else names.identifier(found, place)


def _values(member: Any) -> Iterator[Any]:
    """The values of a member, however deep in arrays; null is none."""
    if isinstance(member, list):
        for element in member:
            yield from _values(element)
    elif member is not None:
        yield member

"""Meta-statements: which kind of thing has which property, with which kind of value.

They come from domains and ranges, from OWL's restrictions, and written out by hand::

    [] tw:subjectClass ex:Selling ; tw:property ex:target ; tw:objectClass ex:Product .
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

from pyoxigraph import Literal, NamedNode

from triplewire.rdf.terms import OWL, RDF, RDFS, SCHEMA, SCHEMA_HTTP, TW, Resource, Triple

_DOMAINS = (RDFS.domain, SCHEMA.domainIncludes, SCHEMA_HTTP.domainIncludes)
_RANGES = (RDFS.range, SCHEMA.rangeIncludes, SCHEMA_HTTP.rangeIncludes)
_VALUES = (OWL.allValuesFrom, OWL.someValuesFrom)


class MetaStatement(NamedTuple):
    """``(subject class, property, object class)``."""

    subject_class: NamedNode
    property: NamedNode
    object_class: NamedNode


class Lists(Protocol):
    """What is known of unions: which class is the union of which."""

    unions: list[tuple[Resource, list[Resource]]]


def meta_statements_of(triples: list[Triple], lists: Lists) -> tuple[MetaStatement, ...]:
    """All meta-statements that an ontology states, sorted."""
    unions = dict(lists.unions)
    found = {*_from_domains(triples, unions), *_from_restrictions(triples, unions), *_by_hand(triples)}
    return tuple(sorted(found, key=lambda statement: tuple(map(str, statement))))


def _from_domains(triples: list[Triple], unions: Mapping[Resource, list[Resource]]) -> Iterable[MetaStatement]:
    """Each domain with each range; where one of them is missing, it may be anything."""
    domains: dict[Resource, set[NamedNode]] = defaultdict(set)
    ranges: dict[Resource, set[NamedNode]] = defaultdict(set)
    for property_, predicate, cls in triples:
        for table, words in ((domains, _DOMAINS), (ranges, _RANGES)):
            if predicate in words and not isinstance(cls, Literal):
                table[property_].update(_named(cls, unions))
    literals = {s for s, p, o in triples if p == RDF.type and o == OWL.DatatypeProperty}
    for property_ in domains.keys() | ranges.keys():
        if isinstance(property_, NamedNode):
            anything = RDFS.Literal if property_ in literals else RDFS.Resource
            for subject_class in domains[property_] or {RDFS.Resource}:
                for object_class in ranges[property_] or {anything}:
                    yield MetaStatement(subject_class, property_, object_class)


def _from_restrictions(triples: list[Triple], unions: Mapping[Resource, list[Resource]]) -> Iterable[MetaStatement]:
    """``C ⊑ (p only D)`` and ``C ⊑ (p some D)`` say that a C has p with a D."""
    on = {s: o for s, p, o in triples if p == OWL.onProperty and isinstance(o, NamedNode)}
    values = [(s, o) for s, p, o in triples if p in _VALUES and s in on and not isinstance(o, Literal)]
    above: dict[Resource, set[NamedNode]] = defaultdict(set)
    for cls, predicate, restriction in triples:
        if predicate in (RDFS.subClassOf, OWL.equivalentClass) and isinstance(cls, NamedNode) and restriction in on:
            above[restriction].add(cls)  # type: ignore[index]
    for restriction, value in values:
        for cls in above[restriction]:
            for object_class in _named(value, unions):
                yield MetaStatement(cls, on[restriction], object_class)


def _by_hand(triples: list[Triple]) -> Iterable[MetaStatement]:
    parts: dict[Resource, dict[NamedNode, NamedNode]] = defaultdict(dict)
    for subject, predicate, object_ in triples:
        if predicate in (TW.subjectClass, TW.property, TW.objectClass) and isinstance(object_, NamedNode):
            parts[subject][predicate] = object_
    for found in parts.values():
        if len(found) == 3:
            yield MetaStatement(found[TW.subjectClass], found[TW.property], found[TW.objectClass])


def _named(cls: Resource, unions: Mapping[Resource, list[Resource]]) -> set[NamedNode]:
    """A class, or the named members of a union that has no name."""
    if isinstance(cls, NamedNode):
        return {cls}
    return {member for member in unions.get(cls, ()) if isinstance(member, NamedNode)}

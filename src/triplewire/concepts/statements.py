"""What an ontology's triples say, as rows of the concept model's tables.

DAML+OIL is read as the OWL it became. Lists are followed; unions and intersections become subsumptions between the
named classes, as far as they give any.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.hierarchy import Hierarchy
from triplewire.concepts.measures import DEFAULT_MEASURE, MEASURES
from triplewire.concepts.metastatements import meta_statements_of
from triplewire.concepts.model import ConceptModel, Typing
from triplewire.concepts.report import LoadReport, Shape
from triplewire.errors import OntologyError
from triplewire.rdf.terms import (
    DAML,
    DAML_2000,
    DAML_ONT,
    OWL,
    RDF,
    RDFS,
    SCHEMA,
    SCHEMA_HTTP,
    SKOS,
    TW,
    Resource,
    Triple,
)

Rows = dict[Resource, set[Resource]]

LANGUAGES = (RDF, RDFS, OWL, DAML, DAML_2000, DAML_ONT)
CLASS_WORDS = frozenset({RDFS.Class, OWL.Class, RDFS.Datatype, OWL.DeprecatedClass})
PROPERTY_WORDS = frozenset(
    {RDF.Property, OWL.ObjectProperty, OWL.DatatypeProperty, OWL.AnnotationProperty, OWL.FunctionalProperty}
    | {OWL.InverseFunctionalProperty, OWL.SymmetricProperty, OWL.TransitiveProperty, OWL.DeprecatedProperty}
)
LABELS = (RDFS.label, SKOS.prefLabel, SKOS.altLabel, SKOS.hiddenLabel)

_DAML_AS_OWL = {
    "subClassOf": RDFS.subClassOf,
    "sameClassAs": OWL.equivalentClass,
    "subPropertyOf": RDFS.subPropertyOf,
    "samePropertyAs": OWL.equivalentProperty,
    "sameIndividualAs": OWL.sameAs,
    "domain": RDFS.domain,
    "range": RDFS.range,
    "label": RDFS.label,
    "comment": RDFS.comment,
    "type": RDF.type,
    "value": RDF.value,
    "toClass": OWL.allValuesFrom,
    "hasClass": OWL.someValuesFrom,
    "hasValue": OWL.hasValue,
    "onProperty": OWL.onProperty,
    "restrictedBy": RDFS.subClassOf,
    "qualifiedBy": OWL.someValuesFrom,
    "disjointUnionOf": OWL.unionOf,
    "first": RDF.first,
    "rest": RDF.rest,
    "nil": RDF.nil,
    "List": RDF.List,
    "Property": RDF.Property,
    "UniqueProperty": OWL.FunctionalProperty,
    "UnambiguousProperty": OWL.InverseFunctionalProperty,
    "Datatype": RDFS.Datatype,
    "Literal": RDFS.Literal,
}


@dataclass
class _Reading:
    """The tables as they fill, the hierarchies as they are stated, and the count of what was used."""

    tables: dict[str, Rows] = field(default_factory=lambda: defaultdict(lambda: defaultdict(set)))
    stated: dict[str, Rows] = field(default_factory=lambda: defaultdict(lambda: defaultdict(set)))
    labels: dict[Resource, list[Literal]] = field(default_factory=lambda: defaultdict(list))
    measures: set[str] = field(default_factory=set)
    frequencies: Counter[NamedNode] = field(default_factory=Counter)
    used: Counter[str] = field(default_factory=Counter)
    unused: Counter[str] = field(default_factory=Counter)

    def add(self, table: str, *pairs: tuple[Resource, Resource]) -> None:
        for child, parent in pairs:
            self.tables[table][child].add(parent)


def model_of(triples: Iterable[Triple], typing: Typing = "asserted", strict: bool = False) -> ConceptModel:
    """The concept model that an ontology's triples state.

    In strict mode a cycle of subclasses or sub-properties is an error; otherwise its members are equivalent.
    """
    triples = [_modern(triple) for triple in triples]
    reading = _Reading()
    skos_classes = _concepts_that_are_classes(triples)
    properties = {s for s, p, o in triples if p == RDF.type and o in PROPERTY_WORDS}
    for triple in triples:
        used = _read(triple, reading, skos_classes, properties)
        (reading.used if used else reading.unused)[triple.property.value] += 1
    cycles = [f"these {kind} are on a cycle: {', '.join(map(str, cycle))}" for kind, cycle in _cycles(reading.stated)]
    if strict and cycles:
        raise OntologyError("; ".join(cycles))
    _combine(reading.tables, _Lists(triples))
    return ConceptModel(
        **{name: _frozen(rows) for name, rows in reading.tables.items()},
        labels={term: tuple(texts) for term, texts in reading.labels.items()},
        meta_statements=meta_statements_of(triples, _Lists(triples)),
        typing=typing,
        measure=_measure(reading.measures),
        frequencies=dict(reading.frequencies),
        report=_report(triples, reading, cycles),
    )


def _modern(triple: Triple) -> Triple:
    """A triple with DAML+OIL's words as OWL's."""
    return Triple(_word(triple.subject), _word(triple.property), _word(triple.object))  # type: ignore[arg-type]


def _word(term: Resource | Literal) -> Resource | Literal:
    for daml in (DAML, DAML_2000, DAML_ONT):
        if term in daml:
            name = term.value[len(daml.base) :]
            return _DAML_AS_OWL.get(name) or OWL[name]
    return term


def _read(triple: Triple, reading: _Reading, skos_classes: frozenset[Resource], properties: set[Resource]) -> bool:
    """Enter what one triple says; whether it says anything that we use."""
    subject, predicate, object_ = triple
    if isinstance(object_, Literal):
        return _read_literal(subject, predicate, object_, reading)
    if predicate == RDF.type:
        return _read_type(subject, object_, reading)
    if predicate in (SKOS.broader, SKOS.narrower, SKOS.broaderTransitive, SKOS.narrowerTransitive):
        narrow, broad = (subject, object_) if "broader" in predicate.value else (object_, subject)
        reading.add("broader", (narrow, broad))
        if narrow != broad:
            reading.stated["concepts"][narrow].add(broad)
        if {narrow, broad} <= skos_classes:
            reading.add("class_parents", (narrow, broad))
        return True
    if predicate == OWL.equivalentTo:  # DAML's word for all three
        predicate = OWL.equivalentProperty if {subject, object_} & properties else OWL.equivalentClass
    if predicate in _TABLES:
        table, both, named = _TABLES[predicate]
        if named and not (isinstance(subject, NamedNode) and isinstance(object_, NamedNode)):
            return predicate in _ELSEWHERE
        reading.add(table, (subject, object_), *([(object_, subject)] if both else []))
        if predicate in _STATED and subject != object_:
            reading.stated[_STATED[predicate]][subject].add(object_)
        return True
    return predicate in _ELSEWHERE


def _read_literal(subject: Resource, predicate: NamedNode, text: Literal, reading: _Reading) -> bool:
    if predicate in LABELS:
        reading.labels[subject].append(text)
    elif predicate == TW.measure:
        reading.measures.add(text.value)
    elif predicate == TW.frequency and isinstance(subject, NamedNode):
        if not text.value.isdecimal():
            raise OntologyError(f"the frequency of {subject} should be a number of times, not {text}")
        reading.frequencies[subject] += int(text.value)
    else:
        return False
    return True


def _measure(stated: set[str]) -> str:
    """The measure that the ontology chooses."""
    for name in sorted(stated - MEASURES.keys()):
        raise OntologyError(f"there is no measure {name!r}; known are {', '.join(MEASURES)}")
    if len(stated) > 1:
        raise OntologyError(f"one measure can be chosen, not {' and '.join(sorted(stated))}")
    return min(stated, default=DEFAULT_MEASURE)


# property → (table, whether it holds both ways, whether between named things only)
_TABLES: dict[NamedNode, tuple[str, bool, bool]] = {
    RDFS.subClassOf: ("class_parents", False, False),
    OWL.equivalentClass: ("class_parents", True, False),
    RDFS.subPropertyOf: ("property_parents", False, False),
    OWL.equivalentProperty: ("property_parents", True, False),
    OWL.inverseOf: ("inverses", True, True),
    OWL.sameAs: ("same", True, True),
    RDFS.domain: ("domains", False, False),
    RDFS.range: ("ranges", False, False),
}
_STATED = {RDFS.subClassOf: "classes", RDFS.subPropertyOf: "properties"}
# read by the parts of this room that follow lists, restrictions and written-out meta-statements
_ELSEWHERE = frozenset(
    {OWL.unionOf, OWL.intersectionOf, RDF.first, RDF.rest, OWL.onProperty, OWL.allValuesFrom, OWL.someValuesFrom}
    | {OWL.imports, OWL.inverseOf, SCHEMA.domainIncludes, SCHEMA.rangeIncludes, SCHEMA_HTTP.domainIncludes}
    | {SCHEMA_HTTP.rangeIncludes, TW.subjectClass, TW.property, TW.objectClass}
)


def _read_type(subject: Resource, cls: Resource, reading: _Reading) -> bool:
    if cls in CLASS_WORDS:
        reading.add("class_parents", (subject, subject))
    elif cls in PROPERTY_WORDS:
        reading.add("property_parents", (subject, subject))
    elif isinstance(subject, NamedNode) and isinstance(cls, NamedNode) and not any(cls in words for words in LANGUAGES):
        reading.add("types", (subject, cls))
    else:
        return cls in (OWL.Ontology, OWL.Restriction, RDF.List, OWL.NamedIndividual)
    return True


class _Lists:
    """The RDF lists of an ontology, and which class is the union or intersection of one."""

    def __init__(self, triples: list[Triple]) -> None:
        self._first = {s: o for s, p, o in triples if p == RDF.first and not isinstance(o, Literal)}
        self._rest = {s: o for s, p, o in triples if p == RDF.rest and not isinstance(o, Literal)}
        self.unions = [(s, self.members(o)) for s, p, o in triples if p == OWL.unionOf]
        self.intersections = [(s, self.members(o)) for s, p, o in triples if p == OWL.intersectionOf]

    def members(self, head: Resource | Literal) -> list[Resource]:
        cells: dict[Resource, Resource] = {}
        while not isinstance(head, Literal) and head in self._first and head not in cells:
            cells[head] = self._first[head]
            head = self._rest.get(head, RDF.nil)
        return list(cells.values())


def _combine(tables: dict[str, Rows], lists: _Lists) -> None:
    """Turn unions and intersections into subsumptions, until they give no more.

    A union is above its members and below what is above all of them; an intersection is the mirror image.
    """
    parents = tables["class_parents"]
    for whole, members in lists.unions:
        for member in members:
            parents[member].add(whole)
    for whole, members in lists.intersections:
        parents[whole].update(members)
    combined = [(whole, members) for whole, members in lists.unions + lists.intersections if members]
    while combined:
        hierarchy = Hierarchy(parents)
        new = [(whole, up) for whole, ms in lists.unions if ms for up in _shared(hierarchy.above, ms) - {whole}]
        new += [
            (down, whole) for whole, ms in lists.intersections if ms for down in _shared(hierarchy.below, ms) - {whole}
        ]
        new = [(child, parent) for child, parent in new if not hierarchy.is_below(child, parent)]
        if not new:
            return
        for child, parent in new:
            parents[child].add(parent)


def _shared(near: Callable[[Resource], frozenset[Resource]], members: list[Resource]) -> frozenset[Resource]:
    return frozenset.intersection(*map(near, members))


def _cycles(stated: dict[str, Rows]) -> Iterator[tuple[str, list[Resource]]]:
    for kind in ("classes", "properties", "concepts"):
        yield from ((kind, cycle) for cycle in Hierarchy(stated[kind]).cycles)


def _report(triples: list[Triple], reading: _Reading, cycles: list[str]) -> LoadReport:
    known = {s.value for s, p, o in triples if p == RDF.type and o == OWL.Ontology}
    imports = {o.value for _, p, o in triples if p == OWL.imports} - known
    return LoadReport(
        triples=len(triples),
        **{kind: _shape(rows) for kind, rows in reading.stated.items()},
        used=dict(reading.used.most_common()),
        unused=dict(reading.unused.most_common()),
        imports=tuple(sorted(imports)),
        warnings=tuple(f"{cycle}; they are taken to be equivalent" for cycle in cycles),
    )


def _shape(stated: Rows) -> Shape:
    several = sum(len(parents) > 1 for parents in stated.values())
    hierarchy = Hierarchy(stated)
    return Shape(terms=len(hierarchy.terms), several_parents=several, depth=hierarchy.depth())


def _concepts_that_are_classes(triples: list[Triple]) -> frozenset[Resource]:
    """The SKOS concepts that the ontology also declares to be classes, one by one or all together."""
    words = frozenset({RDFS.Class, OWL.Class})
    if any(s == SKOS.Concept and p == RDFS.subClassOf and o in words for s, p, o in triples):
        words |= {SKOS.Concept}
    return frozenset(s for s, p, o in triples if p == RDF.type and o in words)


def _frozen(table: Rows) -> dict[Resource, frozenset[Resource]]:
    return {child: frozenset(parents) for child, parents in table.items()}

"""Loading a concept model from RDFS and OWL, several documents making one model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from pyoxigraph import BlankNode, Literal, NamedNode

from triplewire.concepts.model import ConceptModel, Parents, Typing
from triplewire.errors import EventError, OntologyError
from triplewire.rdf.syntax import read
from triplewire.rdf.terms import DAML, DAML_2000, OWL, RDF, RDFS, SKOS, Resource, Triple

SUFFIXES: dict[str, str] = {
    ".ttl": "text/turtle",
    ".nt": "application/n-triples",
    ".nq": "application/n-quads",
    ".trig": "application/trig",
    ".jsonld": "application/ld+json",
    ".json": "application/ld+json",
    ".rdf": "application/rdf+xml",
    ".owl": "application/rdf+xml",
    ".xml": "application/rdf+xml",
}

_CLASS_WORDS = frozenset({RDFS.Class, OWL.Class})
_LANGUAGE = (RDF, RDFS, OWL, DAML, DAML_2000)
_LABELS = (RDFS.label, SKOS.prefLabel, SKOS.altLabel, SKOS.hiddenLabel)


def load_model(paths: Iterable[Path], typing: Typing = "asserted") -> ConceptModel:
    """The concept model of several ontology files, told apart by their suffixes."""
    return model_of((triple for n, path in enumerate(paths) for triple in _read_file(path, n)), typing)


def read_ontology(text: str | bytes, media_type: str, name: str, number: int = 0) -> list[Triple]:
    """One ontology document's triples, its blank nodes kept apart from those of the other documents."""
    try:
        triples = read(text, media_type, base=f"urn:triplewire:ontology:{number}")
    except EventError as error:
        raise OntologyError(f"{name}: {error}") from None

    def apart(node: Resource) -> Resource:
        return BlankNode(f"o{number}_{node.value}") if isinstance(node, BlankNode) else node

    return [Triple(apart(s), p, o if isinstance(o, Literal) else apart(o)) for s, p, o in triples]


def model_of(triples: Iterable[Triple], typing: Typing = "asserted") -> ConceptModel:
    """The concept model that an ontology's triples state."""
    triples = list(triples)
    tables: dict[str, dict[Resource, set[Resource]]] = defaultdict(lambda: defaultdict(set))
    labels: dict[Resource, list[Literal]] = defaultdict(list)
    concept_classes = _concepts_that_are_classes(triples)
    for subject, predicate, object_ in triples:
        if isinstance(object_, Literal):
            if predicate in _LABELS:
                labels[subject].append(object_)
            continue
        for table, child, parent in _statements(subject, predicate, object_, concept_classes):
            tables[table][child].add(parent)
    return ConceptModel(
        **{table: _frozen(rows) for table, rows in tables.items()},
        labels={term: tuple(texts) for term, texts in labels.items()},
        typing=typing,
    )


def _statements(
    subject: Resource, predicate: NamedNode, object_: Resource, concept_classes: frozenset[Resource]
) -> Iterable[tuple[str, Resource, Resource]]:
    """What one triple of an ontology says, as rows of the model's tables."""
    both = [(subject, object_), (object_, subject)]
    named = isinstance(subject, NamedNode) and isinstance(object_, NamedNode)
    if predicate == RDFS.subClassOf:
        yield "class_parents", subject, object_
    elif predicate == OWL.equivalentClass:
        yield from (("class_parents", *pair) for pair in both)
    elif predicate == RDFS.subPropertyOf:
        yield "property_parents", subject, object_
    elif predicate == OWL.equivalentProperty:
        yield from (("property_parents", *pair) for pair in both)
    elif predicate == OWL.inverseOf and named:
        yield from (("inverses", *pair) for pair in both)
    elif predicate == OWL.sameAs and named:
        yield from (("same", *pair) for pair in both)
    elif predicate == RDFS.domain and named:
        yield "domains", subject, object_
    elif predicate == RDFS.range and named:
        yield "ranges", subject, object_
    elif predicate == RDF.type:
        if object_ in _CLASS_WORDS:
            yield "class_parents", subject, subject
        elif named and not any(object_ in words for words in _LANGUAGE):
            yield "types", subject, object_
    elif predicate in (SKOS.broader, SKOS.narrower):
        narrow, broad = (subject, object_) if predicate == SKOS.broader else (object_, subject)
        yield "broader", narrow, broad
        if {narrow, broad} <= concept_classes:
            yield "class_parents", narrow, broad


def _concepts_that_are_classes(triples: list[Triple]) -> frozenset[Resource]:
    """The SKOS concepts that the ontology also declares to be classes, one by one or all together."""
    every = any(Triple(SKOS.Concept, RDFS.subClassOf, word) in triples for word in _CLASS_WORDS)
    words = _CLASS_WORDS | ({SKOS.Concept} if every else frozenset())
    return frozenset(s for s, p, o in triples if p == RDF.type and o in words)


def _frozen(table: dict[Resource, set[Resource]]) -> Parents:
    return {child: frozenset(parents) for child, parents in table.items()}


def _read_file(path: Path, number: int) -> list[Triple]:
    media_type = SUFFIXES.get(path.suffix.lower())
    if media_type is None:
        raise OntologyError(f"{path}: the suffix should be one of {', '.join(SUFFIXES)}")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise OntologyError(f"{path}: {error.strerror}") from None
    return read_ontology(data, media_type, str(path), number)

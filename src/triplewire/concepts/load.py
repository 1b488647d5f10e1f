"""Reading ontology files: every RDF syntax, and the RDF/XML of 2001 with its collections and encodings."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from urllib.parse import quote

from pyoxigraph import BlankNode, Literal, NamedNode

from triplewire.concepts.model import ConceptModel, Typing
from triplewire.concepts.statements import model_of
from triplewire.errors import EventError, OntologyError
from triplewire.rdf.syntax import read
from triplewire.rdf.terms import Resource, Term, Triple

_NOT_IN_IRIS = re.compile(r'[\x00-\x20<>"{}|\\^`]')
SUFFIXES: dict[str, str] = {
    ".ttl": "text/turtle",
    ".n3": "text/turtle",
    ".nt": "application/n-triples",
    ".nq": "application/n-quads",
    ".trig": "application/trig",
    ".jsonld": "application/ld+json",
    ".json": "application/ld+json",
    ".rdf": "application/rdf+xml",
    ".rdfs": "application/rdf+xml",
    ".owl": "application/rdf+xml",
    ".daml": "application/rdf+xml",
    ".xml": "application/rdf+xml",
}

_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*\bencoding\s*=\s*["']([\w.\-]+)["']""")
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_COLLECTION = re.compile(r"""parseType\s*=\s*(["'])daml:collection\1""")

__all__ = ["SUFFIXES", "load_model", "model_of", "model_of_documents", "read_file", "read_ontology"]


def load_model(paths: Iterable[Path], typing: Typing = "asserted", strict: bool = False) -> ConceptModel:
    """The concept model of several ontology files, told apart by their suffixes."""
    triples = [triple for number, path in enumerate(paths) for triple in read_file(path, number)]
    return model_of(triples, typing, strict)


def model_of_documents(
    documents: Iterable[Mapping[str, str]], refused: Callable[[OntologyError], None] | None = None
) -> ConceptModel:
    """The concept model of stored documents; one that cannot be read is left out if there is a ``refused`` to tell."""
    return model_of(triples_of_documents(documents, refused))


def triples_of_documents(
    documents: Iterable[Mapping[str, str]], refused: Callable[[OntologyError], None] | None = None
) -> list[Triple]:
    """What stored documents say."""
    triples: list[Triple] = []
    for number, document in enumerate(documents):
        try:
            triples += read_ontology(document["text"], document["media_type"], document["name"], number)
        except OntologyError as error:
            if refused is None:
                raise
            refused(error)
    return triples


def read_ontology(text: str | bytes, media_type: str, name: str, number: int = 0) -> list[Triple]:
    """One ontology document's triples, its blank nodes kept apart from those of the other documents."""
    base = f"file:///{_NOT_IN_IRIS.sub(lambda found: quote(found[0]), Path(name).name)}"
    try:
        triples = _read_xml(text, base) if media_type == "application/rdf+xml" else read(text, media_type, base)
    except EventError as error:
        raise OntologyError(f"{name}: {error}") from None

    def apart(node: Resource) -> Resource:
        return BlankNode(f"o{number}_{node.value}") if isinstance(node, BlankNode) else node

    return [Triple(apart(s), p, o if isinstance(o, Literal) else apart(o)) for s, p, o in triples]


def _read_xml(data: str | bytes, base: str) -> list[Triple]:
    """RDF/XML, today's by pyoxigraph; what it refuses, by rdflib."""
    text = _COLLECTION.sub('parseType="Collection"', data if isinstance(data, str) else _decoded(data))
    try:
        return read(text, "application/rdf+xml", base)
    except EventError as refusal:
        try:
            return _read_with_rdflib(text, base)
        except Exception:  # rdflib raises whatever its parsers raise; what pyoxigraph said is clearer
            raise refusal from None


def _decoded(data: bytes) -> str:
    """An XML document as text, by the encoding that it declares."""
    declared = _ENCODING.match(data[:200])
    encoding = declared[1].decode() if declared else "utf-8-sig"
    try:
        return _DECLARATION.sub("", data.decode(encoding), count=1)
    except (LookupError, UnicodeDecodeError) as error:
        raise EventError(f"not {encoding}: {error}") from None


def _read_with_rdflib(text: str, base: str) -> list[Triple]:
    from rdflib import Graph

    logging.getLogger("rdflib.term").setLevel(logging.CRITICAL)  # it complains of literals that we do not look into
    graph = Graph().parse(data=text, format="xml", publicID=base)
    labels: dict[str, BlankNode] = {}
    return [Triple(_term(s, labels), _term(p, labels), _term(o, labels)) for s, p, o in graph]  # type: ignore[arg-type]


def _term(term: object, labels: dict[str, BlankNode]) -> Term:
    """One of rdflib's terms as one of ours."""
    from rdflib import BNode, URIRef
    from rdflib import Literal as RdflibLiteral

    if isinstance(term, URIRef):
        return NamedNode(str(term))
    if isinstance(term, BNode):
        return labels.setdefault(str(term), BlankNode(f"r{len(labels)}"))
    if not isinstance(term, RdflibLiteral):
        raise OntologyError(f"{term!r} is no term of RDF 1.1")
    if term.language:
        return Literal(str(term), language=term.language)
    return Literal(str(term), datatype=NamedNode(str(term.datatype))) if term.datatype else Literal(str(term))


def read_file(path: Path, number: int = 0) -> list[Triple]:
    """The triples of a file, by its suffix; its blank nodes are kept apart from those of files with other numbers."""
    media_type = SUFFIXES.get(path.suffix.lower())
    if media_type is None:
        raise OntologyError(f"{path}: the suffix should be one of {', '.join(SUFFIXES)}")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise OntologyError(f"{path}: {error.strerror}") from None
    return read_ontology(data, media_type, str(path), number)

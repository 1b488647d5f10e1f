"""RDF terms, and the vocabularies that have a meaning here.

A term is pyoxigraph's: immutable, hashable, and printed by ``str`` in N-Triples syntax.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode

Resource: TypeAlias = NamedNode | BlankNode
Term: TypeAlias = NamedNode | BlankNode | Literal


class Triple(NamedTuple):
    """One arc: ``subject –property→ object``. A literal is never a subject."""

    subject: Resource
    property: NamedNode
    object: Term


def renamed(triple: Triple, names: Mapping[Resource, Resource]) -> Triple:
    """The triple with its ends under other names, where they have any."""
    subject, property_, object_ = triple
    end = object_ if isinstance(object_, Literal) else names.get(object_, object_)
    return Triple(names.get(subject, subject), property_, end)


class Vocabulary:
    """A namespace whose attributes and items are its names: ``RDF.type``, ``TW["home"]``."""

    def __init__(self, base: str) -> None:
        self.base = base

    def __getattr__(self, name: str) -> NamedNode:
        if name.startswith("__"):
            raise AttributeError(name)
        node = self.__dict__[name] = NamedNode(self.base + name)
        return node

    def __getitem__(self, name: str) -> NamedNode:
        return NamedNode(self.base + name)

    def __contains__(self, term: object) -> bool:
        return isinstance(term, NamedNode) and term.value.startswith(self.base)


RDF = Vocabulary("http://www.w3.org/1999/02/22-rdf-syntax-ns#")
RDFS = Vocabulary("http://www.w3.org/2000/01/rdf-schema#")
OWL = Vocabulary("http://www.w3.org/2002/07/owl#")
XSD = Vocabulary("http://www.w3.org/2001/XMLSchema#")
SKOS = Vocabulary("http://www.w3.org/2004/02/skos/core#")
DAML = Vocabulary("http://www.daml.org/2001/03/daml+oil#")
DAML_2000 = Vocabulary("http://www.daml.org/2000/12/daml+oil#")
DAML_ONT = Vocabulary("http://www.daml.org/2000/11/daml-ont#")
SCHEMA = Vocabulary("https://schema.org/")
SCHEMA_HTTP = Vocabulary("http://schema.org/")
FOAF = Vocabulary("http://xmlns.com/foaf/0.1/")
TW = Vocabulary("urn:triplewire:")

WELL_KNOWN_PREFIXES: dict[str, str] = {
    "rdf": RDF.base,
    "rdfs": RDFS.base,
    "owl": OWL.base,
    "xsd": XSD.base,
    "skos": SKOS.base,
    "daml": DAML.base,
    "tw": TW.base,
}

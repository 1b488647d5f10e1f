"""Concept models as JSON and back."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode

from triplewire.concepts.measures import DEFAULT_MEASURE
from triplewire.concepts.metastatements import MetaStatement
from triplewire.concepts.model import ConceptModel
from triplewire.rdf.terms import Resource

_OTHERS = ("labels", "meta_statements", "typing", "measure", "frequencies", "report")
_TABLES = tuple(f.name for f in fields(ConceptModel) if f.name not in _OTHERS)


def to_json(model: ConceptModel) -> str:
    """A model as a line of JSON, the report of its loading left out."""
    tables: dict[str, Any] = {
        name: {str(child): sorted(map(str, parents)) for child, parents in getattr(model, name).items()}
        for name in _TABLES
    }
    labels = {str(term): [_written(text) for text in texts] for term, texts in model.labels.items()}
    statements = [[term.value for term in statement] for statement in model.meta_statements]
    frequencies = {concept.value: frequency for concept, frequency in model.frequencies.items()}
    choices = {"typing": model.typing, "measure": model.measure, "frequencies": frequencies}
    return json.dumps({**tables, "labels": labels, "meta_statements": statements, **choices})


def from_json(text: str | bytes) -> ConceptModel:
    """The model that a line of JSON says."""
    found = json.loads(text)
    tables: dict[str, Any] = {
        name: {_resource(child): frozenset(map(_resource, parents)) for child, parents in found[name].items()}
        for name in _TABLES
    }
    labels = {_resource(term): tuple(_label(*label) for label in texts) for term, texts in found["labels"].items()}
    statements = tuple(MetaStatement(*map(NamedNode, terms)) for terms in found["meta_statements"])
    frequencies = {NamedNode(concept): frequency for concept, frequency in found.get("frequencies", {}).items()}
    return ConceptModel(
        **tables,
        labels=labels,
        meta_statements=statements,
        typing=found["typing"],
        measure=found.get("measure", DEFAULT_MEASURE),
        frequencies=frequencies,
    )


def _resource(text: str) -> Resource:
    return BlankNode(text[2:]) if text.startswith("_:") else NamedNode(text[1:-1])


def _written(label: Literal) -> list[str]:
    return [label.value, label.language or "", label.datatype.value]


def _label(text: str, language: str, datatype: str) -> Literal:
    return Literal(text, language=language) if language else Literal(text, datatype=NamedNode(datatype))

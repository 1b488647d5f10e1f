"""The words by which people call classes, properties and concepts: labels, synonyms, and the ends of IRIs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode

from triplewire.rdf.terms import Resource

_LOCAL = re.compile(r"[^/#:]+$")


@dataclass(frozen=True)
class Words:
    """Who is called what, case folded."""

    concepts: Mapping[str, tuple[NamedNode, ...]]
    properties: Mapping[str, tuple[NamedNode, ...]]

    def concepts_called(self, word: str) -> tuple[NamedNode, ...]:
        return self.concepts.get(fold(word), ())

    def properties_called(self, word: str) -> tuple[NamedNode, ...]:
        return self.properties.get(fold(word), ())


def fold(text: str) -> str:
    """A word as it is compared: case folded, white space made single."""
    return " ".join(text.casefold().split())


def local_name(term: NamedNode) -> str:
    """The last part of an IRI."""
    found = _LOCAL.search(term.value)
    return found.group() if found else ""


def words_of(
    concepts: Iterable[Resource], properties: Iterable[Resource], labels: Mapping[Resource, tuple[Literal, ...]]
) -> Words:
    return Words(_called(concepts, labels), _called(properties, labels))


def _called(
    terms: Iterable[Resource], labels: Mapping[Resource, tuple[Literal, ...]]
) -> dict[str, tuple[NamedNode, ...]]:
    """Labels first: the end of an IRI counts only where no label claims the word."""
    by_label: dict[str, set[NamedNode]] = defaultdict(set)
    by_name: dict[str, set[NamedNode]] = defaultdict(set)
    for term in terms:
        if isinstance(term, NamedNode):
            by_name[fold(local_name(term))].add(term)
            for label in labels.get(term, ()):
                by_label[fold(label.value)].add(term)
    merged = {**by_name, **by_label}
    return {word: tuple(sorted(found, key=str)) for word, found in merged.items() if word}

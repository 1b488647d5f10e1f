"""A concept model as people look things up in it: its hierarchies, the words for its terms, and their definitions."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.load import model_of, triples_of_documents
from triplewire.concepts.model import ConceptModel
from triplewire.concepts.outline import Kind, Node, Outline, outline
from triplewire.concepts.spelling import LIKELY, Spelling
from triplewire.concepts.words import fold
from triplewire.rdf.names import declared_prefixes
from triplewire.rdf.terms import RDFS, SKOS, Resource, Triple

DEFINITIONS = (SKOS.definition, RDFS.comment, SKOS.scopeNote)
"""What says in words what a term means, the best first."""

BEGINNING = 20_000
MANY = 5_000
"""Of more terms than this, no index of their words' spellings is made."""


class Catalogue:
    """What there is to look up in a model. It is worked out when it is first asked for, and kept.

    ``definitions`` are what the ontology says in words of what its terms mean, ``prefixes`` those that it declares.
    """

    def __init__(
        self,
        model: ConceptModel,
        definitions: Mapping[Resource, tuple[Literal, ...]] | None = None,
        prefixes: Mapping[str, str] | None = None,
    ) -> None:
        self.model = model
        self.definitions = definitions or {}
        self.prefixes = dict(prefixes or {})
        self._sections: dict[Kind, Section] = {}
        self._making = threading.Lock()

    @classmethod
    def of_documents(cls, documents: Sequence[Mapping[str, str]]) -> Catalogue:
        """What there is to look up in stored documents; prefixes are looked for at their beginnings."""
        triples = triples_of_documents(documents)
        prefixes: dict[str, str] = {}
        for one in documents:
            prefixes |= declared_prefixes(one["text"][:BEGINNING])
        return cls(model_of(triples), _definitions(triples), prefixes)

    def section(self, kind: Kind) -> Section:
        with self._making:  # one is made once, however many ask for it at once
            if kind not in self._sections:
                self._sections[kind] = Section(outline(self.model, kind), self.model)
            return self._sections[kind]


def _definitions(triples: Iterable[Triple]) -> dict[Resource, tuple[Literal, ...]]:
    found: dict[Resource, list[tuple[int, Literal]]] = defaultdict(list)
    for subject, property_, text in triples:
        if isinstance(text, Literal) and property_ in DEFINITIONS:
            found[subject].append((DEFINITIONS.index(property_), text))
    return {term: tuple(text for _, text in sorted(texts, key=lambda one: one[0])) for term, texts in found.items()}


class Section:
    """One hierarchy of a model, and the words for its terms."""

    def __init__(self, whole: Outline, model: ConceptModel) -> None:
        self.outline = whole
        self._model = model

    def prepare(self) -> None:
        """Work out what a search needs, so that the first one need not wait for it."""
        _ = self._words, self.outline.children, self.outline.tops

    @cached_property
    def _words(self) -> Mapping[NamedNode, tuple[str, ...]]:
        """The terms in the order of their IRIs, each with the words for it as they are compared."""
        return {term: tuple(map(fold, self._names(term))) for term in sorted(self.outline.nodes, key=str)}

    @cached_property
    def _spelling(self) -> Spelling:
        return Spelling(word for words in self._words.values() for word in words)

    def _names(self, term: NamedNode) -> Iterable[str]:
        labels = self._model.labels.get(term, ())
        return [label.value for label in labels] if labels else [self._model.label(term)]

    def search(self, text: str) -> list[NamedNode]:
        """The terms one of whose words has a text in it: those that are called just so first, then those that begin so.

        Without a text, all terms.
        """
        wanted = fold(text)
        if not wanted:
            return list(self._words)
        ranked = [(min(_rank(wanted, word) for word in words), term) for term, words in self._words.items()]
        return [term for rank, term in sorted(ranked, key=lambda one: one[0]) if rank < _NOWHERE]

    def nearest(self, text: str) -> list[NamedNode]:
        """The terms that a misspelt text most likely meant."""
        wanted = fold(text)
        word = self._spelling.nearest(wanted) if len(self._words) <= MANY else self._alike(wanted)
        return [] if word is None else self.search(word)

    def _alike(self, wanted: str) -> str | None:
        """The likeliest word that begins alike and is about as long: an index of all would take many seconds."""
        words = {word for words in self._words.values() for word in words if word[:1] == wanted[:1]}
        near = [word for word in words if abs(len(word) - len(wanted)) <= 2]
        return next(iter(get_close_matches(wanted, sorted(near), 1, LIKELY)), None)

    def way(self, node: Node) -> list[Node]:
        """A shortest way down to a node from a top, both included."""
        came: dict[Node, Node | None] = {node: None}
        level = [node]
        while level:
            for one in level:
                if not self.outline.parents[one]:
                    return _back(one, came)
            new = {above: one for one in reversed(level) for above in reversed(self.outline.parents[one])}
            level = [above for above in new if above not in came]
            came |= {above: new[above] for above in level}
        raise AssertionError("an outline has no cycles")


_NOWHERE = 4


def _rank(wanted: str, word: str) -> int:
    """How well a word answers to a text, 0 best."""
    if wanted == word:
        return 0
    if word.startswith(wanted):
        return 1
    if f" {wanted}" in word:
        return 2
    return 3 if wanted in word else _NOWHERE


def _back(top: Node, came: Mapping[Node, Node | None]) -> list[Node]:
    found = [top]
    while (below := came[found[-1]]) is not None:
        found.append(below)
    return found

"""Concepts that the model does not know yet: the words that they are called by, and what would make them known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, unquote

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.model import ConceptModel
from triplewire.concepts.synonyms import Dictionary, words_in
from triplewire.concepts.words import fold, local_name
from triplewire.errors import UsageError
from triplewire.rdf.graph import Graph
from triplewire.rdf.terms import OWL, RDF, RDFS, SKOS, TW, Term, Triple

LONGEST_WORD = 200
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def proposed(word: str) -> NamedNode:
    """The new concept that a word stands for: the same for all words that are read alike."""
    return NamedNode(f"{TW.proposed.value}:{quote(' '.join(words_in(word)) or fold(word), safe='', errors='replace')}")


def is_proposed(concept: NamedNode) -> bool:
    """Whether a concept has its name from a word."""
    return concept.value.startswith(f"{TW.proposed.value}:")


def unfit(word: str) -> str | None:
    """Why no new concept can be called by a word, if so: as no text would ever name it."""
    if not words_in(word):
        return f"{word!r} has no letter and no digit, and so cannot name a new concept"
    if len(word) > LONGEST_WORD:
        return f"the name of a new concept may have {LONGEST_WORD} characters, not {len(word)}"
    return None


def word_for(concept: NamedNode) -> str:
    """What a new concept is called, by the end of its IRI."""
    return _CAPITAL.sub(" ", unquote(local_name(concept)))


@lru_cache(maxsize=1000)
def words_for(concepts: frozenset[NamedNode]) -> Dictionary:
    """The dictionary of new concepts."""
    return Dictionary(concepts, {concept: (Literal(word_for(concept)),) for concept in concepts})


@dataclass(frozen=True)
class Proposal:
    """A concept that somebody spoke of, and where it stood: below a known one, as a class or as a narrower concept."""

    concept: NamedNode
    word: str
    relation: NamedNode
    parent: NamedNode

    @classmethod
    def under(cls, parent: NamedNode, concept: NamedNode, word: str, model: ConceptModel) -> Proposal:
        return cls(concept, word, RDFS.subClassOf if parent in model.classes else SKOS.broader, parent)

    def accepted(self) -> tuple[Triple, ...]:
        """What an ontology says once it has the concept."""
        kind = SKOS.Concept if self.relation == SKOS.broader else OWL.Class
        return (
            Triple(self.concept, RDF.type, kind),
            Triple(self.concept, SKOS.prefLabel, Literal(self.word)),
            Triple(self.concept, self.relation, self.parent),
        )

    def merged(self, into: NamedNode) -> tuple[Triple, ...]:
        """What an ontology says once the word is another one for a concept that it has."""
        return Triple(into, SKOS.altLabel, Literal(self.word)), Triple(self.concept, OWL.sameAs, into)


def publication_proposals(graph: Graph, model: ConceptModel) -> Iterator[Proposal]:
    """The concepts that a publication gives as its subtypes and that the model does not know.

    Their place is below the publication's type, if that is known: the first in code-point order of several. One whose
    word is known is not proposed.
    """
    types, subtypes = (
        sorted((t.object for t in graph.triples if t.subject == graph.home and t.property == place), key=str)
        for place in (TW.publicationType, TW.publicationSubType)
    )
    parents = [concept for term in types for concept in concepts_meant(term, model)]
    for term in subtypes if parents else ():
        if not concepts_meant(term, model) and (new := _new(term)) is not None:
            word = word_for(new) if new == term else term.value.strip()
            if not concepts_meant(Literal(word), model):  # or it would be ambiguous from then on
                yield Proposal.under(parents[0], new, word, model)


def concepts_meant(term: Term, model: ConceptModel) -> tuple[NamedNode, ...]:
    """The known concepts that a term may stand for: as their name, or as a word for them."""
    if isinstance(term, Literal):
        return model.concepts_called(term.value)
    names = sorted(model.aliases(term), key=str)
    return tuple(name for name in names if isinstance(name, NamedNode) and name in model.concept_parents)


def check_decision(proposal: Proposal, model: ConceptModel, into: NamedNode | None = None) -> None:
    """Refuse what would change the meaning of other interests: the ontology may be another one since the proposal.

    Its word may be somebody else's by now, or the concept gone that it is to be put under.
    """
    others = [c for c in concepts_meant(Literal(proposal.word), model) if c not in (proposal.concept, into)]
    if others:
        meant = ", ".join(map(str, others))
        raise UsageError(f"{proposal.word!r} means {meant} already: merge it into that, or reject it")
    if into is None and proposal.parent not in model.concept_parents:
        raise UsageError(f"the ontology has no concept {proposal.parent} any more: merge the proposal, or reject it")


def concept_named(name: str, model: ConceptModel) -> NamedNode:
    """The one known concept that a text names, by its IRI or by a word for it."""
    iri = name.removeprefix("<").removesuffix(">")
    by_iri = [concept for concept in model.concept_parents if concept.value == iri]
    return only(by_iri or concepts_meant(Literal(name), model), name, model)


def only(found: Sequence[NamedNode], name: str, model: ConceptModel) -> NamedNode:
    """The one concept that was found for a name."""
    if len(found) > 1:
        raise UsageError(f"{name!r} may mean {', '.join(map(str, found))}: write one of them in full")
    if not found:
        near = model.nearest(name)
        hint = f" Did you mean {model.label(near)}?" if near is not None else ""
        raise UsageError(f"no concept is called {name!r}.{hint}")
    return found[0]


def _new(term: Term) -> NamedNode | None:
    """The new concept that a term stands for, if it can be called by a word."""
    if isinstance(term, Literal):
        return None if unfit(term.value) else proposed(term.value)
    return term if isinstance(term, NamedNode) and not unfit(word_for(term)) else None

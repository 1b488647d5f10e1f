"""What changed from one version of an ontology to the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.hierarchy import Hierarchy
from triplewire.concepts.model import ConceptModel
from triplewire.rdf.terms import Resource


class Subsumption(NamedTuple):
    """``lower ⊑ upper``, between two classes, two properties or two SKOS concepts."""

    lower: NamedNode
    upper: NamedNode


class Word(NamedTuple):
    """What a term is called."""

    term: NamedNode
    word: Literal


@dataclass(frozen=True)
class Difference:
    """The subsumptions that appeared and those that went, and the words for terms that did; each sorted."""

    classes_appeared: tuple[Subsumption, ...]
    classes_gone: tuple[Subsumption, ...]
    properties_appeared: tuple[Subsumption, ...]
    properties_gone: tuple[Subsumption, ...]
    concepts_appeared: tuple[Subsumption, ...]
    concepts_gone: tuple[Subsumption, ...]
    words_appeared: tuple[Word, ...]
    words_gone: tuple[Word, ...]

    def __bool__(self) -> bool:
        return any(vars(self).values())


def diff(old: ConceptModel, new: ConceptModel) -> Difference:
    """Which subsumptions between named things hold in one model and not in the other, and what is called otherwise."""
    concepts = [Hierarchy(model.broader) for model in (old, new)]
    return Difference(
        classes_appeared=_only(new.class_hierarchy, old.class_hierarchy),
        classes_gone=_only(old.class_hierarchy, new.class_hierarchy),
        properties_appeared=_only(new.property_hierarchy, old.property_hierarchy),
        properties_gone=_only(old.property_hierarchy, new.property_hierarchy),
        concepts_appeared=_only(concepts[1], concepts[0]),
        concepts_gone=_only(concepts[0], concepts[1]),
        words_appeared=_words(new, old),
        words_gone=_words(old, new),
    )


def _only(here: Hierarchy[Resource], there: Hierarchy[Resource]) -> tuple[Subsumption, ...]:
    return tuple(sorted(_subsumptions(here, there), key=lambda pair: tuple(map(str, pair))))


def _subsumptions(here: Hierarchy[Resource], there: Hierarchy[Resource]) -> Iterator[Subsumption]:
    for lower in here.terms:
        if isinstance(lower, NamedNode):
            new = here.above(lower) - there.above(lower)
            yield from (Subsumption(lower, upper) for upper in new if isinstance(upper, NamedNode))


def _words(here: ConceptModel, there: ConceptModel) -> tuple[Word, ...]:
    found = (
        Word(term, word)
        for term, words in here.labels.items()
        for word in set(words) - set(there.labels.get(term, ()))
        if isinstance(term, NamedNode)
    )
    return tuple(sorted(found, key=lambda pair: tuple(map(str, pair))))

"""What changed from one version of an ontology to the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pyoxigraph import NamedNode

from triplewire.concepts.hierarchy import Hierarchy
from triplewire.concepts.model import ConceptModel
from triplewire.rdf.terms import Resource


class Subsumption(NamedTuple):
    """``lower ⊑ upper``, between two classes or two properties."""

    lower: NamedNode
    upper: NamedNode


@dataclass(frozen=True)
class Difference:
    """The subsumptions that appeared and those that went, of classes and of properties; each sorted."""

    classes_appeared: tuple[Subsumption, ...]
    classes_gone: tuple[Subsumption, ...]
    properties_appeared: tuple[Subsumption, ...]
    properties_gone: tuple[Subsumption, ...]

    def __bool__(self) -> bool:
        return any((self.classes_appeared, self.classes_gone, self.properties_appeared, self.properties_gone))


def diff(old: ConceptModel, new: ConceptModel) -> Difference:
    """Which subsumptions between named things hold in one model and not in the other."""
    return Difference(
        classes_appeared=_only(new.class_hierarchy, old.class_hierarchy),
        classes_gone=_only(old.class_hierarchy, new.class_hierarchy),
        properties_appeared=_only(new.property_hierarchy, old.property_hierarchy),
        properties_gone=_only(old.property_hierarchy, new.property_hierarchy),
    )


def _only(here: Hierarchy[Resource], there: Hierarchy[Resource]) -> tuple[Subsumption, ...]:
    return tuple(sorted(_subsumptions(here, there), key=lambda pair: tuple(map(str, pair))))


def _subsumptions(here: Hierarchy[Resource], there: Hierarchy[Resource]) -> Iterator[Subsumption]:
    for lower in here.terms:
        if isinstance(lower, NamedNode):
            new = here.above(lower) - there.above(lower)
            yield from (Subsumption(lower, upper) for upper in new if isinstance(upper, NamedNode))

"""What came of reading an ontology: what was used, what was not, and what is odd."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Shape:
    """A hierarchy as it is stated: how many terms stand in it, how many have several parents, the longest way up."""

    terms: int = 0
    several_parents: int = 0
    depth: int = 0


@dataclass(frozen=True)
class LoadReport:
    """Nothing is dropped silently: ``used`` and ``unused`` count every triple by its property.

    The shapes are those of ``subClassOf``, ``subPropertyOf`` and ``broader`` as stated, before anything is inferred.
    ``imports`` are ontologies that were asked for and are not among those read; ``warnings`` are sentences.
    """

    triples: int = 0
    classes: Shape = Shape()
    properties: Shape = Shape()
    concepts: Shape = Shape()
    used: Mapping[str, int] = field(default_factory=dict)
    unused: Mapping[str, int] = field(default_factory=dict)
    imports: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

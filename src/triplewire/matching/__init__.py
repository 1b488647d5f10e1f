"""Matching events with subscriptions."""

from __future__ import annotations

from collections.abc import Callable

from triplewire.concepts.model import ConceptModel
from triplewire.errors import UsageError
from triplewire.matching.brute import BruteForce
from triplewire.matching.matcher import Binding, Match, Matcher
from triplewire.matching.papers.decomposition import Decomposition
from triplewire.matching.papers.forest import CoveringForest
from triplewire.matching.papers.gtopss import GToPSS
from triplewire.matching.papers.ops.matcher import OPS


def _engine(model: ConceptModel) -> Matcher:
    from triplewire.matching.engine.index import Index  # which loads the compiler

    return Index(model)


MATCHERS: dict[str, Callable[[ConceptModel], Matcher]] = {
    "engine": _engine,
    "brute": BruteForce,
    "ops": OPS,
    "decomposition": Decomposition,
    "gtopss": GToPSS,
    "forest": CoveringForest,
}
DEFAULT_MATCHER = "engine"


def make_matcher(name: str, model: ConceptModel) -> Matcher:
    """The matcher of that name, empty."""
    if name not in MATCHERS:
        raise UsageError(f"there is no matcher {name!r}; known are {', '.join(MATCHERS)}")
    return MATCHERS[name](model)


__all__ = ["DEFAULT_MATCHER", "MATCHERS", "Binding", "BruteForce", "Match", "Matcher", "make_matcher"]

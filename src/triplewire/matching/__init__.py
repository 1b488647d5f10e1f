"""Matching events with subscriptions."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from triplewire.concepts.model import ConceptModel
from triplewire.errors import UsageError
from triplewire.matching.brute import BruteForce
from triplewire.matching.matcher import Binding, Match, Matcher


def _of(module: str, name: str) -> Callable[[ConceptModel], Matcher]:
    """A matcher's class, imported when it is first wanted: the engine brings a compiler, others the explanations."""
    return lambda model: getattr(import_module(f"{__name__}.{module}"), name)(model)


MATCHERS: dict[str, Callable[[ConceptModel], Matcher]] = {
    "engine": _of("engine.index", "Index"),
    "brute": BruteForce,
    "ops": _of("papers.ops.matcher", "OPS"),
    "decomposition": _of("papers.decomposition", "Decomposition"),
    "gtopss": _of("papers.gtopss", "GToPSS"),
    "forest": _of("papers.forest", "CoveringForest"),
}
DEFAULT_MATCHER = "engine"


def make_matcher(name: str, model: ConceptModel) -> Matcher:
    """The matcher of that name, empty."""
    if name not in MATCHERS:
        raise UsageError(f"there is no matcher {name!r}; known are {', '.join(MATCHERS)}")
    return MATCHERS[name](model)


__all__ = ["DEFAULT_MATCHER", "MATCHERS", "Binding", "BruteForce", "Match", "Matcher", "make_matcher"]

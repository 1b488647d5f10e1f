"""OncePubSub's covering forest of attribute predicates, over a multi-level predicate index."""

from triplewire.matching.papers.forest.matcher import CoveringForest

__all__ = ["CoveringForest"]

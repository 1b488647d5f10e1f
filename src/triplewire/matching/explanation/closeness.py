"""What an event has that is closest to the concepts asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.profile import Profiles
from triplewire.concepts.similarity import Way
from triplewire.rdf.terms import Term


@dataclass(frozen=True)
class Closest:
    """A concept that is asked for, the one of the event that is closest to it, and how the two meet.

    ``upward`` leads from the one to where they meet, ``downward`` from there to the other; None is the root.
    ``named_by`` is the vertex or text of the event that brings the concept in.
    """

    concept: NamedNode
    closest: NamedNode | None = None
    similarity: float = 0.0
    upward: Way = ()
    downward: Way = ()
    named_by: Term | None = None


@dataclass(frozen=True)
class InterestReason:
    """The score, which must be greater than the threshold, and what it is the mean of."""

    score: float
    threshold: float
    concepts: tuple[Closest, ...]

    def needed(self, concept: Closest) -> float | None:
        """The similarity that one concept alone would have to be above for the score to be; None if none would do."""
        total = sum(one.similarity for one in self.concepts)
        needed = self.threshold * len(self.concepts) - (total - concept.similarity)
        return needed if needed < 1 else None


def closest(concept: NamedNode, profile: frozenset[NamedNode], profiles: Profiles, texts: Sequence[Term]) -> Closest:
    """A concept with the one of a profile that is closest to it; some of the profile may be named by texts."""
    near = profiles.measure.pair(concept, profile).closest
    if near is None:
        return Closest(concept)
    similarity, up, down = profiles.measure.meeting(concept, near)
    return Closest(concept, near, similarity, up, down[::-1], _named_by(near, profiles, texts))


def _named_by(concept: NamedNode, profiles: Profiles, texts: Sequence[Term]) -> Term | None:
    """The vertex of the event that is a concept, or the text that names it."""
    vertices = sorted(profiles.model.aliases(concept) & profiles.graph.resources, key=str)
    if vertices:
        return vertices[0]
    literals = sorted((text for text in texts if isinstance(text, Literal)), key=str)
    naming = (text for text in literals if any(concept in choice for choice in profiles.spot(text.value)))
    return next(naming, None)

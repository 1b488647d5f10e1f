"""The oracle: semantics.md transcribed as plainly as it reads. Slow, and right."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.closure import ClosedEvent, close
from triplewire.concepts.model import EVERY_RESOURCE, ConceptModel
from triplewire.concepts.similarity import Pair
from triplewire.matching.answer import outcome, told, told_match
from triplewire.matching.matcher import MOST_MAPPINGS, Binding, Match, TooManyMappingsError
from triplewire.rdf.graph import Event
from triplewire.rdf.terms import RDF, Term, Triple
from triplewire.subscriptions.degree import EXACT, Degree, Degrees, best
from triplewire.subscriptions.evaluate import holds
from triplewire.subscriptions.pattern import (
    Alternative,
    Arc,
    Expression,
    Home,
    Interest,
    IsA,
    Pattern,
    Scope,
    Subscription,
    Variable,
    Vertex,
)

if TYPE_CHECKING:
    from triplewire.matching.explanation import Explanation

Mu = dict[Variable, Term]
Mappings = Callable[[Pattern, ClosedEvent], Iterable[Mu]]

log = logging.getLogger(__name__)


class BruteForce:
    """Tries every subscription on every event, and counts the ``trials``."""

    def __init__(self, model: ConceptModel) -> None:
        self.model = model
        self.work: Counter[str] = Counter()
        self._subscriptions: dict[str, Subscription] = {}

    def add(self, subscription: Subscription) -> None:
        self._subscriptions[subscription.id] = subscription

    def remove(self, id_: str) -> None:
        del self._subscriptions[id_]

    def explain(self, id_: str, event: Event) -> Explanation:
        from triplewire.matching.explanation import explain  # which looks things up as this module does

        return explain(self._subscriptions[id_], event, self.model)

    def match(self, event: Event, bindings: bool = False) -> list[Match]:
        closed = close(event.graph, self.model)
        self.work["trials"] += len(self._subscriptions)
        found: list[Match] = []
        for id_ in sorted(self._subscriptions):
            subscription = self._subscriptions[id_]
            try:
                found += _matches(event.id, subscription, closed, bindings)
            except Exception:
                log.exception("subscription %r cannot be tried on event %r, and is passed over", id_, event.id)
        return found


def _matches(event: str, subscription: Subscription, closed: ClosedEvent, bindings: bool) -> Iterator[Match]:
    found = match_one(subscription, closed, bindings=bindings)
    if found is not None and bindings:
        yield told_match(event, subscription, closed, *found)
    elif found is not None:
        yield Match(event, subscription.id, found.score)


class Found(NamedTuple):
    """What there is to tell of a match: its score, its bindings, and the pairs of concepts that made the score."""

    score: float
    rows: list[Binding]
    pairs: tuple[Pair, ...]


def match_one(
    subscription: Subscription,
    event: ClosedEvent,
    mappings: Mappings | None = None,
    bindings: bool = True,
) -> Found | None:
    """What is found if one alternative matches, else None. ``mappings`` finds a pattern's mappings.

    If one has so many that it is given up, the others may match all the same; else it is a ``TooManyMappingsError``.
    """
    tried: list[Found | None] = []
    given_up: TooManyMappingsError | None = None
    for alternative in subscription.alternatives:
        try:
            tried.append(_tried(alternative, event, mappings or _mappings))
        except TooManyMappingsError as error:
            tried.append(None)
            given_up = error
    rows = outcome(subscription, event, [None if one is None else one.rows for one in tried], bindings)
    if rows is None and given_up is not None:
        raise given_up
    if rows is None:
        return None
    fittest = max((one for one in tried if one is not None), key=lambda one: one.score)
    return Found(fittest.score, rows, fittest.pairs)


def _tried(alternative: Alternative, event: ClosedEvent, mappings: Mappings) -> Found | None:
    """What the mappings of an alternative's pattern tell, and how well it fits under the best; None if it has none."""
    pattern = alternative.pattern
    reached = score(pattern, event)
    if reached is None or (pattern.needs_home and event.home is None):
        return None
    # What a residual tells does not depend on the mappings; there must be one.
    enough = 1 if alternative.residual is not None and not pattern.is_graded else None
    found = list(islice(mappings(pattern, event), enough))
    if not found:
        return None
    fit, compared = best(degree(pattern, mu, event) for mu in found) if pattern.is_graded else EXACT
    rows = [told(alternative, partial(_image_of, mu, event)) for mu in found]
    return Found(min(reached, fit), rows, (*_interest_pairs(pattern.interests, event), *_pairs(compared, event)))


def _interest_pairs(interests: Iterable[Interest], event: ClosedEvent) -> Iterator[Pair]:
    for interest in interests:
        profiles = event.profiles_with(interest.attached)
        yield from (profiles.measure.pair(concept, profiles.event) for concept in interest.concepts)


def _pairs(compared: Iterable[tuple[Term, NamedNode]], event: ClosedEvent) -> Iterator[Pair]:
    for vertex, concept in compared:
        yield event.profiles.measure.pair(concept, event.profiles.of(vertex))


def _image_of(mu: Mu, event: ClosedEvent, vertex: Vertex) -> Term | None:
    return image(mu, vertex, event)


def score(pattern: Pattern, event: ClosedEvent) -> float | None:
    """The least score of the pattern's interests, 1 if it has none, None if one is not above its threshold."""
    least = 1.0
    for interest in pattern.interests:
        profiles = event.profiles_with(interest.attached)
        reached = profiles.measure.profiles(interest.concepts, profiles.event)
        if not reached > interest.threshold:
            return None
        least = min(least, reached)
    return least


def degree(pattern: Pattern, mu: Mu, event: ClosedEvent) -> Degree:
    """How well the pattern's filters are satisfied under a mapping under which it holds."""
    degrees = Degrees(partial(_image_of, mu, event), partial(_values_of, event), event.profiles.similarity)
    return degrees.of_all(pattern.filters)


def _mappings(pattern: Pattern, event: ClosedEvent) -> Iterator[Mu]:
    """Every mapping of the pattern's variables under which the pattern holds."""
    mus: list[Mu] = [{}]
    for arc in pattern.arcs:
        mus = _limited(extended for mu in mus for extended in _extend(mu, arc, event))
    for variable in pattern.variables:
        mus = _limited(
            e for mu in mus for e in ([mu] if variable in mu else ({**mu, variable: v} for v in event.vertices))
        )
    for mu in mus:
        if _holds(pattern, mu, event):
            yield mu


def _limited(mappings: Iterator[Mu]) -> list[Mu]:
    found = list(islice(mappings, MOST_MAPPINGS + 1))
    if len(found) > MOST_MAPPINGS:
        raise TooManyMappingsError(f"more than {MOST_MAPPINGS:,} mappings")
    return found


def _extend(mu: Mu, arc: Arc, event: ClosedEvent) -> Iterator[Mu]:
    """The mapping extended in every way in which the arc, with it applied, is among the event's arcs."""
    for triple in arcs_of(event, arc.scope):
        extended = dict(mu)
        same_property = triple.property == arc.property or (
            isinstance(arc.property, Variable) and _bind(extended, arc.property, triple.property, event)
        )
        if (
            same_property
            and _bind(extended, arc.subject, triple.subject, event)
            and _bind(extended, arc.object, triple.object, event)
        ):
            yield extended


def arcs_of(event: ClosedEvent, scope: Scope) -> frozenset[Triple]:
    """The event's arcs that an arc of a pattern may match."""
    match scope:
        case Scope.CLOSED:
            return event.closed
        case Scope.RELATIONS:
            return event.relations
        case Scope.ASSERTED:
            return event.asserted


def _bind(mu: Mu, part: Vertex, term: Term, event: ClosedEvent) -> bool:
    """Whether a part of an arc can stand for a term; a variable not yet bound is bound to it."""
    if isinstance(part, Variable):
        return mu.setdefault(part, term) == term
    return image(mu, part, event) == term


def image(mu: Mu, vertex: Vertex, event: ClosedEvent) -> Term | None:
    """Where the mapping sends a vertex of the pattern."""
    match vertex:
        case Variable():
            return mu.get(vertex)
        case Home():
            return event.home
        case _:
            return event.name(vertex)


def _holds(pattern: Pattern, mu: Mu, event: ClosedEvent) -> bool:
    """Whether constraints, filters and injectivity hold under a mapping."""
    images = {vertex: term for vertex in pattern.vertices if (term := image(mu, vertex, event)) is not None}
    return (
        all(event.has_class(images[c.vertex], c.cls) for c in pattern.classes)
        and all(is_a(images[c.vertex], c, event) for c in pattern.is_a)
        and all(is_true(filter_, mu, event) for filter_ in pattern.filters)
        and (pattern.mapping == "homomorphic" or injective(images, event))
    )


def is_true(filter_: Expression, mu: Mu, event: ClosedEvent) -> bool:
    """Whether a filter is true under a mapping."""
    return holds(filter_, partial(_image_of, mu, event), partial(_values_of, event), event.profiles.similarity)


def injective(images: dict[Vertex, Term], event: ClosedEvent) -> bool:
    """Different vertices of the pattern go to different resources. Constants that are the same are one vertex."""
    vertices = {event.name(v) if isinstance(v, NamedNode) else v: image for v, image in images.items()}
    resources = [image for image in vertices.values() if not isinstance(image, Literal)]
    return len(resources) == len(set(resources))


def is_a(node: Term, constraint: IsA, event: ClosedEvent) -> bool:
    """G-ToPSS's comparison of a node with a class in the taxonomy."""
    cls = event.name(constraint.cls)
    match constraint.operator:
        case "<=":
            return at_or_below(node, cls, event)
        case "<":
            return at_or_below(node, cls, event) and not equivalent(node, cls, event)
        case ">=":
            return at_or_below(cls, node, event)
        case ">":
            return at_or_below(cls, node, event) and not equivalent(node, cls, event)
        case "=":
            return cls in event.asserted_classes(node)
        case "!=":
            return cls not in event.asserted_classes(node)


def at_or_below(lower: Term, upper: Term, event: ClosedEvent) -> bool:
    """``lower`` is a class ⊑ ``upper``, or an instance of such a class by the event or the model."""
    if isinstance(upper, Literal):
        return False
    return _subclass(lower, upper, event) or any(_subclass(c, upper, event) for c in classes(lower, event))


def classes(node: Term, event: ClosedEvent) -> set[Term]:
    """The classes of a node, whether or not it is a vertex of the event."""
    if isinstance(node, Literal):
        return set(event.model.literal_classes(node))
    everywhere = set(EVERY_RESOURCE)
    by_event = {t.object for t in event.closed if t.subject == node and t.property == RDF.type}
    by_model = {c for alias in event.model.aliases(node) for c in event.model.types.get(alias, ())}
    return everywhere | by_event | by_model


def _subclass(lower: Term, upper: Term, event: ClosedEvent) -> bool:
    if isinstance(lower, Literal) or isinstance(upper, Literal):
        return False
    return event.model.is_subclass(lower, upper)


def equivalent(a: Term, b: Term, event: ClosedEvent) -> bool:
    return _subclass(a, b, event) and _subclass(b, a, event)


def _values_of(event: ClosedEvent, path: tuple[NamedNode, ...]) -> frozenset[Term]:
    return values(path, event)


def values(path: tuple[NamedNode, ...], event: ClosedEvent) -> frozenset[Term]:
    """The terms at the end of a path from the home vertex, in G*."""
    ends: set[Term] = set() if event.home is None else {event.home}
    for step in path:
        ends = {t.object for t in event.closed if t.subject in ends and t.property == step}
    return frozenset(ends)

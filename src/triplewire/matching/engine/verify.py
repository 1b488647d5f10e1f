"""Verifying candidates: whether a subscription matches an event, and under which mappings, by search with an index.

It says what brute force says. The search goes from arc to arc, next always to one that touches what is bound, and
turns back as soon as a constraint or a filter fails. It takes no more than ``MOST_STEPS`` for a pattern. What may take
more goes in the order of the terms' texts, so that it finds the same by then wherever it is done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property, partial
from math import prod
from typing import TypeAlias, TypeVar

from pyoxigraph import NamedNode

from triplewire.concepts.closure import ClosedEvent
from triplewire.matching.brute import Found, Mu, arcs_of, degree, image, injective, is_a, match_one, score
from triplewire.matching.engine.facts import Facts
from triplewire.matching.matcher import MOST_STEPS, TooManyMappingsError
from triplewire.matching.residual import solutions
from triplewire.rdf.terms import Term, Triple
from triplewire.subscriptions.evaluate import evaluate, truth
from triplewire.subscriptions.functions import FilterError
from triplewire.subscriptions.pattern import (
    VALUE,
    Alternative,
    Arc,
    AttributeTest,
    Call,
    ClassConstraint,
    Expression,
    IsA,
    Pattern,
    Scope,
    Subscription,
    Variable,
    free_variables,
)

Check: TypeAlias = Callable[[Mu], bool]
Step: TypeAlias = Arc | Variable
"""What a search goes on with: an arc to find, or a variable that may be any vertex."""

_DECIDED = {"=", "!=", "<", "<=", ">", ">=", "in", "strstarts"}


class Verifier:
    """One event, with what has been found out about it so far; ``work`` counts the filters that were evaluated.

    Filters are evaluated predicate by predicate, each at most once for the same terms, whatever subscriptions ask it.
    """

    def __init__(self, facts: Facts, work: Counter[str]) -> None:
        self.facts = facts
        self.work = work
        self._predicates: dict[tuple[Expression, tuple[Term | None, ...]], bool | None] = {}
        self._paths: dict[tuple[NamedNode, ...], frozenset[Term]] = {}
        self._indexes: dict[Scope, _ArcIndex] = {}
        self._ordered = False

    @property
    def closed(self) -> ClosedEvent:
        return self.facts.closed

    def score(self, subscription: Subscription) -> float | None:
        """The score of a match, None if there is none. One that is given up is a ``TooManyMappingsError``."""
        best: float | None = None
        given_up: TooManyMappingsError | None = None
        for alternative in subscription.alternatives:
            if best == 1.0:
                break
            found = score(alternative.pattern, self.closed)
            if found is not None and (best is None or found > best):
                try:
                    fit = self._fit(alternative)
                except TooManyMappingsError as error:
                    given_up = error
                    continue
                if fit is not None and (best is None or min(found, fit) > best):
                    best = min(found, fit)
        if best is None and given_up is not None:
            raise given_up
        return best

    def outcome(self, subscription: Subscription) -> Found | None:
        """What is found if one alternative matches, else None. Of very many mappings the first found count.

        A subscription that is given up is a ``TooManyMappingsError``.
        """
        return match_one(subscription, self.closed, self._mappings_of)

    def _mappings_of(self, pattern: Pattern, _event: ClosedEvent) -> Iterator[Mu]:
        return self.mappings(pattern)

    def _fit(self, alternative: Alternative) -> float | None:
        """How well an alternative's pattern fits at best; None if it does not, or its residual has no solution."""
        pattern, residual = alternative.pattern, alternative.residual
        if pattern.needs_home and self.closed.home is None:
            return None
        found = self.mappings(pattern)
        fits = (degree(pattern, mu, self.closed)[0] if pattern.is_graded else 1.0 for mu in found)
        best = max(fits, default=None) if pattern.is_graded else next(fits, None)
        if best is None or residual is None or solutions(residual, self.closed) is not None:
            return best
        return None

    def mappings(self, pattern: Pattern) -> Iterator[Mu]:
        """The mappings of the pattern's variables under which the pattern holds, each once.

        They are all, or those that ``MOST_STEPS`` lead to. If these lead to none, it is a ``TooManyMappingsError``.
        """
        steps = list(self._steps(pattern))
        if prod(map(self._width, steps)) > MOST_STEPS:
            self._put_in_order()
        checks = self._checks(pattern, steps)
        if not all(check({}) for check in checks[0]):
            return
        if not steps:
            yield {}
            return
        taken, found = 0, False
        ways = [self._extend({}, steps[0])]
        while ways:
            mu = next(ways[-1], None)
            if mu is None:
                ways.pop()
                continue
            taken += 1
            if taken > MOST_STEPS:
                if found:
                    return
                raise TooManyMappingsError(f"no mapping was found in {MOST_STEPS:,} steps")
            if all(check(mu) for check in checks[len(ways)]):
                if len(ways) == len(steps):
                    found = True
                    yield mu
                else:
                    ways.append(self._extend(mu, steps[len(ways)]))

    def _width(self, step: Step) -> int:
        """How many ways there are at most to take a step."""
        return len(self.closed.vertices) if isinstance(step, Variable) else self._count(step)

    def _put_in_order(self) -> None:
        """From now on, look at arcs and vertices in the order of their texts."""
        if not self._ordered:
            self._ordered = True
            self._indexes.clear()

    def _steps(self, pattern: Pattern) -> Iterator[Step]:
        """Arcs in an order in which each touches what is bound where possible, then the variables of no arc."""
        left = list(dict.fromkeys(pattern.arcs))
        bound: set[Variable] = set()
        while left:
            arc = min(left, key=lambda arc: self._openness(arc, bound))
            left.remove(arc)
            bound.update(part for part in (arc.subject, arc.property, arc.object) if isinstance(part, Variable))
            yield arc
        yield from sorted(pattern.variables - bound, key=str)

    def _openness(self, arc: Arc, bound: set[Variable]) -> tuple[int, int]:
        """How much an arc leaves open: its unbound ends, then how many arcs of the event have its property."""
        ends = sum(isinstance(end, Variable) and end not in bound for end in (arc.subject, arc.object))
        return ends, self._count(arc)

    def _count(self, arc: Arc) -> int:
        """How many arcs of the event have an arc's property."""
        known = None if isinstance(arc.property, Variable) else arc.property
        return len(self._index(arc.scope).by_property.get(known, ()))

    def _checks(self, pattern: Pattern, steps: list[Step]) -> list[list[Check]]:
        """What is to be checked before the first step, and after each."""
        due: list[list[Check]] = [[] for _ in range(len(steps) + 1)]
        bound_at: dict[object, int] = {}
        for number, step in enumerate(steps, 1):
            for part in (step.subject, step.property, step.object) if isinstance(step, Arc) else (step,):
                bound_at.setdefault(part, number if isinstance(part, Variable) else 0)

        def at(*parts: object) -> list[Check]:
            return due[max((bound_at.get(part, 0) for part in parts), default=0)]

        for constraint in pattern.classes:
            at(constraint.vertex).append(partial(self._has_class, constraint))
        for test in pattern.is_a:
            at(test.vertex).append(partial(self._is_a, test))
        for filter_ in sorted(_conjuncts(pattern.filters), key=_in_the_trie):
            checks = due[-1] if _reaches_inside(filter_) else at(*free_variables(filter_))
            checks.append(partial(self._holds, filter_))
        if pattern.mapping == "injective":
            for checks in due:
                checks.append(partial(_injective, pattern, self.closed))
        return due

    def _has_class(self, constraint: ClassConstraint, mu: Mu) -> bool:
        term = image(mu, constraint.vertex, self.closed)
        return term is not None and self.closed.has_class(term, constraint.cls)

    def _is_a(self, test: IsA, mu: Mu) -> bool:
        term = image(mu, test.vertex, self.closed)
        return term is not None and is_a(term, test, self.closed)

    def _holds(self, filter_: Expression, mu: Mu) -> bool:
        return self._truth(filter_, mu) is True

    def _truth(self, expression: Expression, mu: Mu) -> bool | None:
        """Whether an expression is true; None if it is an error."""
        match expression:
            case Call("not", (argument,)):
                found = self._truth(argument, mu)
                return None if found is None else not found
            case Call("and" | "or" as name, arguments):
                found = name == "and"
                for argument in arguments:
                    truth_ = self._truth(argument, mu)
                    if truth_ is (name == "or"):
                        return truth_
                    found = None if truth_ is None else found
                return found
        return self._predicate(expression, mu)

    def _predicate(self, predicate: Expression, mu: Mu) -> bool | None:
        """The truth of what no connective joins: found out once for the same terms, unless it may see any variable."""
        if _reaches_inside(predicate):
            return self._evaluated(predicate, mu)
        key = (predicate, tuple(mu.get(variable) for variable in free_variables(predicate)))
        if key not in self._predicates:
            self._predicates[key] = self._evaluated(predicate, mu)
        return self._predicates[key]

    def _evaluated(self, predicate: Expression, mu: Mu) -> bool | None:
        self.work["filters evaluated"] += 1
        nearness = self.closed.profiles.similarity
        try:
            return truth(evaluate(predicate, lambda part: image(mu, part, self.closed), self._values, nearness))
        except FilterError:
            return None

    def _values(self, path: tuple[NamedNode, ...]) -> frozenset[Term]:
        """The terms at the end of a path from the home vertex."""
        if path not in self._paths:
            by_subject = self._index(Scope.CLOSED).by_subject
            ends: set[Term] = set() if self.closed.home is None else {self.closed.home}
            for step in path:
                ends = {triple.object for end in ends for triple in by_subject.get((step, end), ())}
            self._paths[path] = frozenset(ends)
        return self._paths[path]

    def _extend(self, mu: Mu, step: Step) -> Iterator[Mu]:
        """The mapping extended in every way that a step allows."""
        if isinstance(step, Variable):
            vertices = sorted(self.closed.vertices, key=str) if self._ordered else self.closed.vertices
            return ({**mu, step: vertex} for vertex in vertices)
        parts = (step.subject, step.property, step.object)
        subject, object_ = (image(mu, end, self.closed) for end in (step.subject, step.object))
        known = step.property if isinstance(step.property, NamedNode) else mu.get(step.property)
        found = self._index(step.scope).find(subject, known, object_)
        unbound = [(i, part) for i, part in enumerate(parts) if isinstance(part, Variable) and part not in mu]
        return _bound(mu, unbound, found)

    def _index(self, scope: Scope) -> _ArcIndex:
        if scope not in self._indexes:
            arcs = arcs_of(self.closed, scope)
            self._indexes[scope] = _ArcIndex(sorted(arcs, key=_text) if self._ordered else arcs)
        return self._indexes[scope]


class _ArcIndex:
    """Arcs by property and by either end; under the property None are all."""

    def __init__(self, arcs: Collection[Triple]) -> None:
        self.arcs = arcs

    @cached_property
    def by_property(self) -> dict[Term | None, list[Triple]]:
        return _grouped((key, arc) for arc in self.arcs for key in (arc.property, None))

    @cached_property
    def by_subject(self) -> dict[tuple[Term | None, Term], list[Triple]]:
        return _grouped(((p, arc.subject), arc) for arc in self.arcs for p in (arc.property, None))

    @cached_property
    def by_object(self) -> dict[tuple[Term | None, Term], list[Triple]]:
        return _grouped(((p, arc.object), arc) for arc in self.arcs for p in (arc.property, None))

    def find(self, subject: Term | None, property_: Term | None, object_: Term | None) -> Iterator[Triple]:
        """The arcs with these parts; None is any."""
        if subject is not None:
            found = self.by_subject.get((property_, subject), [])
            return (arc for arc in found if object_ is None or arc.object == object_)
        if object_ is not None:
            return iter(self.by_object.get((property_, object_), []))
        return iter(self.by_property.get(property_, []))


Key = TypeVar("Key")


def _grouped(pairs: Iterable[tuple[Key, Triple]]) -> dict[Key, list[Triple]]:
    found: dict[Key, list[Triple]] = {}
    for key, arc in pairs:
        found.setdefault(key, []).append(arc)
    return found


def _bound(mu: Mu, unbound: list[tuple[int, Variable]], found: Iterator[Triple]) -> Iterator[Mu]:
    """A mapping with its unbound variables bound by each arc; one that stands in two places must be one term."""
    for arc in found:
        extended = dict(mu)
        if all(extended.setdefault(variable, arc[i]) == arc[i] for i, variable in unbound):
            yield extended


def _text(arc: Triple) -> tuple[str, ...]:
    return tuple(map(str, arc))


def _injective(pattern: Pattern, event: ClosedEvent, mu: Mu) -> bool:
    images = {v: term for v in pattern.vertices if (term := image(mu, v, event)) is not None}
    return injective(images, event)


def _conjuncts(filters: Iterable[Expression]) -> Iterator[Expression]:
    """The filters that must be true for all of some to be, none of which is a conjunction."""
    for filter_ in filters:
        if isinstance(filter_, Call) and filter_.name == "and":
            yield from _conjuncts(filter_.arguments)
        else:
            yield filter_


def _in_the_trie(filter_: Expression) -> bool:
    """Whether the trie decides a filter, which then is true of nearly every candidate and is better looked at last."""
    return isinstance(filter_, AttributeTest) and isinstance(filter_.test, Call) and filter_.test.name in _DECIDED


def _reaches_inside(expression: Expression) -> bool:
    """Whether an expression has an attribute's test in it, which may use any variable."""
    if isinstance(expression, Call):
        return any(map(_reaches_inside, expression.arguments))
    if not isinstance(expression, AttributeTest):
        return False
    return any(v != VALUE for v in free_variables(expression.test)) or _reaches_inside(expression.test)

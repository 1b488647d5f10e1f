"""The largest part of a pattern that holds: all its mappings if it matches, else its nearest miss.

A part is a mapping of some of the pattern's variables, and the conditions that hold under it. A variable at arcs stands
for a vertex only where one of these arcs holds, or for a resource of a class that is asked for, so that no value is
dragged in for a filter's sake. The largest part is the one with the fewest conditions that fail, two vertices in one
place counting as one more; of several, the one with the fewest of those, then the most arcs, then the fewest variables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pyoxigraph import Literal

from triplewire.concepts.model import EVERY_RESOURCE
from triplewire.matching.explanation.conditions import Conditions, Local, Mu
from triplewire.matching.matcher import MOST_MAPPINGS, TooManyMappingsError
from triplewire.rdf.terms import Term
from triplewire.subscriptions.pattern import Arc, ClassConstraint, Variable

Cost = tuple[int, int, int, int]

BUDGET = 20_000
"""So many places for a variable are tried before the best part found so far is told."""


@dataclass(frozen=True)
class Part:
    """A part of a pattern that holds; ``complete`` if no larger one was left untried."""

    mapping: dict[Variable, Term]
    failing: frozenset[Local]
    complete: bool


def all_mappings(conditions: Conditions) -> list[dict[Variable, Term]]:
    """Every mapping under which the pattern holds, whatever the home vertex, interests and residual say."""
    mus: list[dict[Variable, Term]] = [{}]
    for arc in _connected(conditions.pattern.arcs):
        mus = _limited(extended for mu in mus for extended in _extended(conditions, arc, mu))
    for variable in sorted(conditions.pattern.variables, key=str):
        if mus and variable not in mus[0]:
            mus = _limited({**mu, variable: vertex} for mu in mus for vertex in conditions.event.vertices)
    return [
        mu for mu in mus if all(conditions.holds(c, mu) for c in conditions.local) and not conditions.collisions(mu)
    ]


def largest_part(conditions: Conditions, budget: int = BUDGET) -> Part:
    """The part with the fewest failing conditions, by branch and bound."""
    return _Search(conditions, budget).result()


def _extended(conditions: Conditions, arc: Arc, mu: dict[Variable, Term]) -> Iterator[dict[Variable, Term]]:
    parts = (arc.subject, arc.property, arc.object)
    for triple in conditions.triples(arc, mu):
        yield mu | {part: term for part, term in zip(parts, triple, strict=True) if isinstance(part, Variable)}


def _limited(mappings: Iterator[dict[Variable, Term]]) -> list[dict[Variable, Term]]:
    found = []
    for mu in mappings:
        found.append(mu)
        if len(found) > MOST_MAPPINGS:
            raise TooManyMappingsError(f"more than {MOST_MAPPINGS:,} mappings")
    return found


def _connected(arcs: tuple[Arc, ...]) -> Iterator[Arc]:
    """The arcs in such an order that each has as few new variables as can be."""
    left, met = list(arcs), set[object]()
    while left:
        arc = min(left, key=lambda a: sum(isinstance(p, Variable) and p not in met for p in _parts(a)))
        left.remove(arc)
        met |= set(_parts(arc))
        yield arc


def _parts(arc: Arc) -> tuple[object, ...]:
    return (arc.subject, arc.property, arc.object)


class _Search:
    """Maps one variable after the other; gives a branch up as soon as it cannot be better than the best so far."""

    def __init__(self, conditions: Conditions, budget: int) -> None:
        self.conditions = conditions
        self.budget = budget
        self.order = self._order()
        self.about = {v: [c for c in conditions.local if v in conditions.variables[c]] for v in self.order}
        self.arcs_at = {v: frozenset(c for c in self.about[v] if isinstance(c, Arc)) for v in self.order}
        self.kinds_of = {v: frozenset(c for c in self.about[v] if tells_kind(c)) for v in self.order}
        self.of_kind: dict[Local, set[Term]] = {}
        self.best: Cost | None = None
        self.found: tuple[dict[Variable, Term | None], frozenset[Local]] = ({}, frozenset())

    def result(self) -> Part:
        hopeless = frozenset(c for c in self.conditions.local if not self._possible_at_all(c))
        self._map(0, {}, self._with_consequences({}, hopeless))
        mapping, failing = self.found
        return Part({v: t for v, t in mapping.items() if t is not None}, failing, self.budget > 0)

    def _possible_at_all(self, condition: Local) -> bool:
        if isinstance(condition, ClassConstraint) and isinstance(condition.vertex, Variable):
            return any(
                self.conditions.event.has_class(vertex, condition.cls) for vertex in self.conditions.event.vertices
            )
        return self.conditions.possible(condition, {})

    def _with_consequences(self, mu: Mu, failing: frozenset[Local]) -> frozenset[Local]:
        """What fails, together with all that is about a variable that nothing can give a place any more."""
        open_ = (v for v in self.order if v not in mu and self.arcs_at[v])
        stranded = [v for v in open_ if self.arcs_at[v] <= failing and self.kinds_of[v] <= failing]
        return failing.union(*(self.about[v] for v in stranded))

    def _order(self) -> list[Variable]:
        """The variables, each as near to those before it, to constants and to the home vertex as can be."""
        left = sorted(self.conditions.pattern.variables, key=str)
        order: list[Variable] = []
        while left:
            nearest = max(left, key=lambda v: self._closeness(v, order))
            left.remove(nearest)
            order.append(nearest)
        return order

    def _closeness(self, variable: Variable, met: list[Variable]) -> tuple[int, int]:
        """How many arcs a variable has to what is known, and how many at all."""
        own = [arc for arc in self.conditions.pattern.arcs if variable in _parts(arc)]
        known = sum(all(not isinstance(p, Variable) or p in met or p == variable for p in _parts(a)) for a in own)
        return known, len(own)

    def _cost(self, mu: Mu, failing: frozenset[Local]) -> Cost:
        """What a part costs, or at least what every part costs that extends it."""
        arcs = sum(isinstance(condition, Arc) for condition in failing)
        mapped = sum(term is not None for term in mu.values())
        collisions = len(self.conditions.collisions(mu))
        return len(failing) + collisions, collisions, arcs, mapped

    def _map(self, depth: int, mu: dict[Variable, Term | None], failing: frozenset[Local]) -> None:
        cost = self._cost(mu, failing)
        if self.best is not None and (cost[0] + self._unavoidable(mu, failing), *cost[1:]) >= self.best:
            return
        if depth == len(self.order):
            self.best, self.found = cost, (dict(mu), failing)
            return
        variable = self.order[depth]
        used = self.conditions.resources(mu)
        branches: list[tuple[int, str, Term | None, frozenset[Local]]] = []
        for term in [*self._places(variable, mu, failing), None]:
            self.budget -= 1
            extended = {**mu, variable: term}
            lost = {c for c in self.about[variable] if c not in failing and not self.conditions.possible(c, extended)}
            now = self._with_consequences(extended, failing | lost)
            if all(self._stands(v, extended, now) for v in self.order[: depth + 1]):
                branches.append((len(now) + (term in used), str(term), term, now))
        for _, _, term, now_failing in sorted(branches, key=lambda branch: (branch[0], branch[2] is None, branch[1])):
            if self.budget > 0 or self.best is None:
                self._map(depth + 1, {**mu, variable: term}, now_failing)

    def _places(self, variable: Variable, mu: Mu, failing: frozenset[Local]) -> set[Term]:
        """Where a variable may be mapped to: ends of arcs at it that may hold, resources of the classes asked for.

        One that is at no arcs may be any vertex.
        """
        vertices = self.conditions.event.vertices
        if not self.arcs_at[variable]:
            return set(vertices)
        kinds = (self._given(kind, variable, mu) for kind in self.kinds_of[variable] - failing)
        resources: set[Term] = {term for places in kinds for term in places if not isinstance(term, Literal)}
        return resources.union(*(self._given(arc, variable, mu) for arc in self.arcs_at[variable] - failing))

    def _given(self, condition: Local, variable: Variable, mu: Mu) -> set[Term]:
        """The places that an arc, or a class that not everything is of, gives to a variable."""
        if isinstance(condition, Arc):
            triples = self.conditions.triples(condition, mu)
            pairs = (pair for triple in triples for pair in zip(_parts(condition), triple, strict=True))
            return {term for part, term in pairs if part == variable}
        if isinstance(condition, ClassConstraint) and condition not in self.of_kind:
            event = self.conditions.event
            self.of_kind[condition] = {vertex for vertex in event.vertices if event.has_class(vertex, condition.cls)}
        return self.of_kind.get(condition, set())

    def _unavoidable(self, mu: Mu, failing: frozenset[Local]) -> int:
        """How many more conditions must fail, since no place of a variable yet to be mapped has them all."""
        count = 0
        for variable in self.order[len(mu) :]:
            giving = (self.arcs_at[variable] | self.kinds_of[variable]) - failing
            ready = [c for c in giving if len(self.conditions.variables[c] - mu.keys()) == 1]
            if len(ready) > 1:
                places = Counter(term for c in ready for term in self._given(c, variable, mu))
                count += len(ready) - max(places.values(), default=0)
        return count

    def _stands(self, variable: Variable, mu: Mu, failing: frozenset[Local]) -> bool:
        """Whether a variable that stands for something has a place that an arc or a class gives it."""
        if mu[variable] is None or not self.arcs_at[variable] or self.arcs_at[variable] - failing:
            return True
        return not isinstance(mu[variable], Literal) and bool(self.kinds_of[variable] - failing)


def tells_kind(condition: Local) -> bool:
    """Whether a condition asks for a class that not everything is of."""
    return isinstance(condition, ClassConstraint) and condition.cls not in EVERY_RESOURCE

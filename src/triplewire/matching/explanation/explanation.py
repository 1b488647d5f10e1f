"""The explanation of one subscription on one event, as a value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from triplewire.concepts.closure import ClosedEvent, close
from triplewire.concepts.model import ConceptModel
from triplewire.matching.brute import degree
from triplewire.matching.explanation.closeness import InterestReason
from triplewire.matching.explanation.conditions import Condition, Conditions, HasHome
from triplewire.matching.explanation.nearest_miss import BUDGET, Part, all_mappings, largest_part
from triplewire.matching.explanation.reasons import (
    FilterReason,
    Finding,
    Reasons,
    ResidualReason,
    interest_finding,
)
from triplewire.matching.matcher import TooManyMappingsError
from triplewire.matching.residual import solutions
from triplewire.rdf.graph import Event
from triplewire.rdf.terms import Term
from triplewire.subscriptions.pattern import Alternative, Subscription, Variable


@dataclass(frozen=True)
class Explanation:
    """Why an event trips a subscription, or how nearly it does.

    It is about one alternative: the first that matches, with the first of its best mappings in the order of bindings;
    or else the one of which the least is missing, with the mapping under which the largest part of it holds.
    ``mappings`` counts the alternative's mappings, None if they are too many. ``complete`` is false if a nearer miss
    may have been left untried.
    """

    event: Event
    subscription: Subscription
    model: ConceptModel
    matched: bool
    alternative: int
    mapping: tuple[tuple[Variable, Term], ...]
    mappings: int | None
    findings: tuple[Finding, ...]
    complete: bool = True

    @property
    def score(self) -> float:
        """The least similarity that the alternative asks for and has, 1 if it asks for none."""
        reasons = (finding.reason for finding in self.findings)
        return min((r.score for r in reasons if isinstance(r, InterestReason | FilterReason)), default=1.0)

    @property
    def missing(self) -> tuple[Finding, ...]:
        """What would have to change."""
        return tuple(finding for finding in self.findings if not finding.holds)


def explain(subscription: Subscription, event: Event, model: ConceptModel) -> Explanation:
    """Say why an event trips a subscription, or what is missing."""
    closed = close(event.graph, model)
    explanations = (_Trial(subscription, event, closed, n).explanation() for n in range(len(subscription.alternatives)))
    tried: list[Explanation] = []
    for explanation in explanations:
        if explanation.matched:
            return explanation
        tried.append(explanation)
    return min(tried, key=lambda told: (len(told.missing), -len(told.findings)))


@dataclass(frozen=True)
class _Trial:
    """One alternative of a subscription, tried on an event."""

    subscription: Subscription
    event: Event
    closed: ClosedEvent
    number: int

    def explanation(self) -> Explanation:
        alternative = self.subscription.alternatives[self.number]
        conditions = Conditions(alternative.pattern, self.closed)
        part, mappings = _part(conditions, BUDGET // len(self.subscription.alternatives) + 1)
        reasons = Reasons(self.event.graph, conditions, part.mapping)
        local = [reasons.find(condition) for condition in self._decided(conditions, part)]
        findings = (*local, *self._beyond(alternative, all(finding.holds for finding in local)))
        return Explanation(
            event=self.event,
            subscription=self.subscription,
            model=self.closed.model,
            matched=all(finding.holds for finding in findings),
            alternative=self.number,
            mapping=tuple(sorted(part.mapping.items(), key=lambda pair: str(pair[0]))),
            mappings=mappings,
            findings=findings,
            complete=part.complete,
        )

    def _decided(self, conditions: Conditions, part: Part) -> Iterator[Condition]:
        """The conditions that the mapping decides. What goes without saying is left out where it holds."""
        if conditions.pattern.needs_home and self.closed.home is None:
            yield HasHome()
        yield from conditions.local
        yield from conditions.collisions(part.mapping)

    def _beyond(self, alternative: Alternative, pattern_holds: bool) -> Iterator[Finding]:
        """The interests, and the residual if the rest holds."""
        for interest in alternative.pattern.interests:
            finding = interest_finding(interest, self.closed)
            pattern_holds = pattern_holds and finding.holds
            yield finding
        if alternative.residual is not None:
            rows = None
            with suppress(TooManyMappingsError):  # what is given up does not match
                rows = solutions(alternative.residual, self.closed) if pattern_holds else None
            told = len(rows) if rows is not None and alternative.residual.form == "SELECT" else None
            yield Finding(alternative.residual, rows is not None, ResidualReason(pattern_holds, told))


def _part(conditions: Conditions, budget: int) -> tuple[Part, int | None]:
    """The first mapping, and how many there are; if there is none, or they are too many, the largest part."""
    count: int | None = None
    try:
        mappings = all_mappings(conditions)
        count = len(mappings)
        if mappings:
            return Part(_first(mappings, conditions), frozenset(), complete=True), count
    except TooManyMappingsError:
        pass
    return largest_part(conditions, budget), count


def _first(mappings: list[dict[Variable, Term]], conditions: Conditions) -> dict[Variable, Term]:
    """The first mapping in the order of bindings; of a pattern that asks for similarity, the first of the best."""
    pattern, event = conditions.pattern, conditions.event
    if not pattern.is_graded:
        return min(mappings, key=_in_order)
    return min(mappings, key=lambda mapping: (-degree(pattern, mapping, event)[0], _in_order(mapping)))


def _in_order(mapping: dict[Variable, Term]) -> str:
    row = {str(variable): str(mapping[variable]) for variable in sorted(mapping, key=str)}
    return json.dumps(row, ensure_ascii=False)

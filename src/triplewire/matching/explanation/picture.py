"""An explanation as a picture: the subscription over the event; what belongs together has one number and colour.

The steps through the ontology are named in the event, where they are taken. What fails in the subscription is dashed
and marked with a cross; what the mapping does not touch in the event is faint.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from textwrap import wrap

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.derivation import Chain
from triplewire.matching.explanation.closeness import Closest, InterestReason
from triplewire.matching.explanation.conditions import Filter
from triplewire.matching.explanation.explanation import Explanation
from triplewire.matching.explanation.reasons import ArcReason, FilterReason, VertexReason
from triplewire.matching.explanation.steps import Steps
from triplewire.matching.explanation.text import Telling
from triplewire.rdf.picture import diagram as event_diagram
from triplewire.rdf.svg import Arrow, Diagram, Pair, draw_pair
from triplewire.rdf.terms import RDF, Term
from triplewire.subscriptions.attributes import conjuncts
from triplewire.subscriptions.pattern import HOME, AttributeExists, AttributeTest, Subscription, Vertex
from triplewire.subscriptions.picture import Marks
from triplewire.subscriptions.picture import diagram as subscription_diagram

CONDITIONS = 24
_LONGEST = 120


def picture(explanation: Explanation, prefixes: Mapping[str, str] | None = None, conditions: bool = True) -> str:
    """The explanation as SVG; with a line for each condition below it, unless these are told elsewhere."""
    return draw_pair(_pair(explanation, prefixes, conditions))


def _pair(explanation: Explanation, prefixes: Mapping[str, str] | None, conditions: bool) -> Pair:
    telling = Telling(explanation, prefixes)
    images = dict(_images(explanation))
    lower = _event(explanation, prefixes, set(images.values()))
    drawn = {box.key for box in lower.boxes}
    upper = _subscription(explanation, prefixes, {vertex: telling.term(term) for vertex, term in explanation.mapping})
    there = {box.key for box in upper.boxes}
    lines = [(f"0 {key}", str(term)) for key, term in images.items() if f"0 {key}" in there and str(term) in drawn]
    told = telling.findings()
    notes = [row for line in told[:CONDITIONS] for row in wrap(line, _LONGEST, subsequent_indent="\u00a0" * 4)]
    notes += [f"… and {len(told) - CONDITIONS} more conditions"] if len(told) > CONDITIONS else []
    return Pair(telling.verdict(), "; ".join(told), upper, lower, lines, notes if conditions else ())


def _images(explanation: Explanation) -> Iterator[tuple[object, Term]]:
    """What vertices of the pattern, and its tests of attributes by their number, stand for in the event."""
    graph = explanation.event.graph
    pattern = explanation.subscription.alternatives[explanation.alternative].pattern
    if graph.home is not None and pattern.needs_home:
        yield HOME, graph.home
    yield from explanation.mapping
    constants = (vertex for vertex in pattern.vertices if isinstance(vertex, NamedNode | Literal))
    yield from ((constant, constant) for constant in sorted(constants, key=str) if constant in graph.vertices)
    attributes = [part for part in conjuncts(pattern.filters) if isinstance(part, AttributeTest | AttributeExists)]
    reasons = {f.condition: f.reason for f in explanation.findings}
    for number, attribute in enumerate(attributes):
        reason = reasons.get(Filter(attribute))
        if isinstance(reason, FilterReason) and reason.leaves and reason.leaves[0].values:
            yield number, reason.leaves[0].values[0]
    for closest in _closest(explanation):
        if (place := _place(closest, explanation)) is not None:
            yield closest.concept, place


def _closest(explanation: Explanation) -> Iterator[Closest]:
    for finding in explanation.findings:
        if isinstance(finding.reason, InterestReason):
            yield from finding.reason.concepts


def _place(closest: Closest, explanation: Explanation) -> Term | None:
    """What brings the closest concept into the event: a vertex, a text, or a thing of that class."""
    if closest.named_by is not None or closest.closest is None:
        return closest.named_by
    graph, same = explanation.event.graph, explanation.model.aliases(closest.closest)
    things = (triple.subject for triple in graph.triples if triple.property == RDF.type and triple.object in same)
    return min(things, key=str, default=None)


def _subscription(
    explanation: Explanation, prefixes: Mapping[str, str] | None, stands_for: Mapping[Vertex, str]
) -> Diagram:
    """The alternative that the explanation is about, with what fails marked."""
    alternative = explanation.subscription.alternatives[explanation.alternative]
    conditions = (finding.condition for finding in explanation.missing)
    failing = frozenset(c.expression if isinstance(c, Filter) else c for c in conditions)
    told = Subscription(explanation.subscription.id, (alternative,))
    drawn = subscription_diagram(told, explanation.model, prefixes, Marks(failing, stands_for))
    return replace(drawn, title=f"What was asked for: subscription {explanation.subscription.id}")


def _event(explanation: Explanation, prefixes: Mapping[str, str] | None, mapped: set[Term]) -> Diagram:
    """The event, with what nothing rests on made faint."""
    whole = event_diagram(explanation.event.graph, prefixes, f"What happened: event {explanation.event.id}")
    stated = {step.fact for chain in _chains(explanation) for step in chain if step.rule == "stated"}
    used = {(str(fact.subject), str(fact.object), str(fact.property)) for fact in stated if fact.property != RDF.type}
    named = {str(term) for term in mapped} | {end for subject, object_, _ in used for end in (subject, object_)}

    ends = {str(term) for term in mapped} if not used else set()  # an attribute's arc is where its value is

    def is_used(arrow: Arrow) -> bool:
        return (arrow.start, arrow.end, arrow.tip) in used or {arrow.start, arrow.end} <= ends

    steps = Steps(explanation, prefixes)
    boxes = [
        replace(box, reasons=steps.of_vertex(box.key)) if box.key in named else replace(box, style="faint")
        for box in whole.boxes
    ]
    arrows = [
        replace(arrow, label=steps.of_arc((arrow.start, arrow.tip, arrow.end)) or arrow.label)
        if is_used(arrow)
        else replace(arrow, style="faint")
        for arrow in whole.arrows
    ]
    return replace(whole, boxes=boxes, arrows=arrows)


def _chains(explanation: Explanation) -> Iterator[Chain]:
    for finding in explanation.findings:
        if isinstance(finding.reason, ArcReason | VertexReason):
            yield finding.reason.chain

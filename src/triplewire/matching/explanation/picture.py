"""An explanation as a picture: the subscription over the event, with dotted lines for the mapping.

What fails in the subscription is dashed and marked with a cross; what the mapping does not touch in the event is faint.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from textwrap import wrap

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.derivation import Chain
from triplewire.matching.explanation.conditions import Filter
from triplewire.matching.explanation.explanation import Explanation
from triplewire.matching.explanation.reasons import ArcReason, FilterReason, VertexReason
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


def picture(explanation: Explanation, prefixes: Mapping[str, str] | None = None) -> str:
    """The explanation as SVG."""
    return draw_pair(_pair(explanation, prefixes))


def _pair(explanation: Explanation, prefixes: Mapping[str, str] | None) -> Pair:
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
    return Pair(telling.verdict(), "; ".join(told), upper, lower, lines, notes)


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


def _subscription(
    explanation: Explanation, prefixes: Mapping[str, str] | None, stands_for: Mapping[Vertex, str]
) -> Diagram:
    """The alternative that the explanation is about, with what fails marked."""
    alternative = explanation.subscription.alternatives[explanation.alternative]
    conditions = (finding.condition for finding in explanation.missing)
    failing = frozenset(c.expression if isinstance(c, Filter) else c for c in conditions)
    told = Subscription(explanation.subscription.id, (alternative,))
    return subscription_diagram(told, explanation.model, prefixes, Marks(failing, stands_for))


def _event(explanation: Explanation, prefixes: Mapping[str, str] | None, mapped: set[Term]) -> Diagram:
    """The event, with what nothing rests on made faint."""
    whole = event_diagram(explanation.event.graph, prefixes, f"Event {explanation.event.id}")
    stated = {step.fact for chain in _chains(explanation) for step in chain if step.rule == "stated"}
    used = {(str(fact.subject), str(fact.object), str(fact.property)) for fact in stated if fact.property != RDF.type}
    named = {str(term) for term in mapped} | {end for subject, object_, _ in used for end in (subject, object_)}

    ends = {str(term) for term in mapped} if not used else set()  # an attribute's arc is where its value is

    def is_used(arrow: Arrow) -> bool:
        return (arrow.start, arrow.end, arrow.tip) in used or {arrow.start, arrow.end} <= ends

    boxes = [box if box.key in named else replace(box, style="faint") for box in whole.boxes]
    arrows = [arrow if is_used(arrow) else replace(arrow, style="faint") for arrow in whole.arrows]
    return replace(whole, boxes=boxes, arrows=arrows)


def _chains(explanation: Explanation) -> Iterator[Chain]:
    for finding in explanation.findings:
        if isinstance(finding.reason, ArcReason | VertexReason):
            yield finding.reason.chain

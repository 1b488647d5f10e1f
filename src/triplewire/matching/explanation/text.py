"""An explanation as lines for people to read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from pyoxigraph import BlankNode, Literal, NamedNode

from triplewire.concepts.derivation import Chain, Fact, Step
from triplewire.concepts.proposed import is_proposed, word_for
from triplewire.matching.explanation.closeness import Closest, InterestReason
from triplewire.matching.explanation.conditions import Apart, Condition, Filter, HasHome
from triplewire.matching.explanation.explanation import Explanation
from triplewire.matching.explanation.reasons import (
    ApartReason,
    ArcReason,
    FilterReason,
    Finding,
    Leaf,
    ResidualReason,
    VertexReason,
)
from triplewire.rdf.names import Names, printable
from triplewire.rdf.terms import RDF, Term
from triplewire.subscriptions.notation import ATOM, COMPARISONS, Notation
from triplewire.subscriptions.pattern import (
    HOME,
    VALUE,
    Arc,
    AttributeExists,
    AttributeTest,
    Call,
    ClassConstraint,
    Expression,
    Home,
    Interest,
    IsA,
    Residual,
    Variable,
    Vertex,
)

HOLDS, FAILS = "✓", "✗"
LONGEST = 200
"""A longer name or literal is told without its middle."""

_TESTS = {"strstarts": "startswith", "strends": "endswith", "contains": "contains", "regex": "matches"}
_TYPED = re.compile(r'"((?:[^"\\]|\\.)*)"\^\^<([^<>\s]+)>')


def as_text(explanation: Explanation, prefixes: Mapping[str, str] | None = None) -> str:
    """The verdict in the first line, then the mapping, what is missing, and what holds, a condition a line."""
    return "\n".join(Telling(explanation, prefixes).lines()) + "\n"


class Telling:
    """How an explanation is told: names as short as they can be, conditions and reasons in words."""

    def __init__(self, explanation: Explanation, prefixes: Mapping[str, str] | None = None) -> None:
        self.explanation = explanation
        self.names = Names.of(_terms(explanation), prefixes)
        self.images: dict[Variable | Home, Term] = dict(explanation.mapping)
        if explanation.event.graph.home is not None:
            self.images[HOME] = explanation.event.graph.home

    def lines(self) -> Iterator[str]:
        yield self.verdict()
        if mapping := self.mapping():
            yield mapping
        yield from self.findings()

    def findings(self) -> list[str]:
        """A line for each condition: what fails first, and last of that what was not even looked at."""
        found = sorted(self.explanation.findings, key=lambda f: (f.holds, self._unmapped(f) != ""))
        return [f"{HOLDS if finding.holds else FAILS} {self.finding(finding)}" for finding in found]

    def verdict(self) -> str:
        told = self.explanation
        event, subscription = printable(told.event.id), printable(told.subscription.id)
        count = len(told.subscription.alternatives)
        which = f", by alternative {told.alternative + 1} of {count}" if count > 1 else ""
        if told.matched:
            return f"{event} trips {subscription}{which}."
        missing = len(told.missing)
        total = len(told.findings)
        near = (
            f"all but {missing} of {total} conditions hold" if missing < total else f"none of {total} conditions holds"
        )
        if total == 1:
            near = "its one condition fails"
        rest = "" if told.complete else " A nearer miss may be there: the search was cut short."
        return f"{event} does not trip {subscription}: {near}{which.replace('by', 'in')}.{rest}"

    def mapping(self) -> str:
        told = ", ".join(f"{variable} = {self.term(term)}" for variable, term in self.explanation.mapping)
        more = (self.explanation.mappings or 1) - 1
        others = f" (and {more:,} more {'mapping' if more == 1 else 'mappings'})" if more else ""
        return f"with {told}{others}" if told else ""

    def _unmapped(self, finding: Finding) -> str:
        """Why a condition on something that stands for nothing was not even looked at."""
        reason, condition = finding.reason, finding.condition
        if isinstance(reason, VertexReason) and reason.vertex is None and isinstance(condition, ClassConstraint | IsA):
            return f"{condition.vertex} stands for nothing"
        if isinstance(reason, FilterReason) and not reason.leaves:
            return "not every variable stands for something"
        return ""

    def finding(self, finding: Finding) -> str:
        """A condition, and why it holds or does not; a reason that says it all stands alone."""
        condition = self.condition(finding.condition)
        reason = self._unmapped(finding) or ", and ".join(filter(None, (self._reason(finding), self._same(finding))))
        if not reason or reason.startswith(condition):
            return reason or condition
        return f"{condition}: {reason}"

    def condition(self, condition: Condition) -> str:
        match condition:
            case Arc(subject, RDF.type, object_):
                return f"{self.term(subject)} is a {self.term(object_)}"
            case Arc(subject, property_, object_):
                return f"{self.term(subject)} –{self.term(property_)}→ {self.term(object_)}"
            case ClassConstraint(vertex, cls):
                return f"{self.term(vertex)} is a {self.term(cls)}"
            case IsA(vertex, operator, cls):
                return f"{self.term(vertex)} {operator} {self.term(cls)}"
            case Filter(expression):
                return self.expression(expression)
            case Apart(one, other):
                return f"{self.term(one)} and {self.term(other)} are different"
            case HasHome():
                return "the event has a home vertex"
            case Interest(concepts, threshold):
                return f"similar to {', '.join(map(self.term, concepts))} by more than {threshold:g}"
            case Residual(_, form):
                return f"the {form} query has a solution"

    def _reason(self, finding: Finding) -> str:
        match finding.reason:
            case ArcReason() as reason:
                return self.chain(reason.chain) if finding.holds else self._no_arc(finding.condition, reason)
            case VertexReason() as reason:
                return self._vertex(finding, reason)
            case FilterReason(_, leaves):
                return ", and ".join(self._leaf(leaf, finding) for leaf in leaves)
            case InterestReason() as reason:
                return self._interest(reason, finding.holds)
            case ResidualReason(asked, rows):
                return self._residual(finding.holds, asked, rows)
            case ApartReason(vertex):
                return f"both would be {self.term(vertex)}"
            case None:
                return "" if finding.holds else "it has none"

    def _same(self, finding: Finding) -> str:
        """The names in a condition that are, to the ontology, others of the event."""
        pairs: list[tuple[Term | None, object]]
        match finding.condition, finding.reason:
            case Arc(subject, _, object_), ArcReason() as reason if finding.holds:
                pairs = [(reason.subject, subject), (reason.object, object_)]
            case ((ClassConstraint(vertex) | IsA(vertex)), VertexReason() as reason):
                pairs = [(reason.vertex, vertex)]
            case Filter(expression), FilterReason(values, leaves):
                found = [*(term for _, term in values), *(term for leaf in leaves for term in leaf.values)]
                pairs = [(term, name) for name in _within(expression) for term in found]
            case _:
                return ""
        told = (self._alias(term, name) for term, name in pairs if isinstance(name, NamedNode))
        return ", and ".join(dict.fromkeys(filter(None, told)))

    def _alias(self, term: Term | None, name: NamedNode) -> str:
        same = term not in (None, name) and term in self.explanation.model.aliases(name)
        return f"{self.term(term)} is the same as {self.term(name)}" if same and term is not None else ""

    def chain(self, chain: Chain) -> str:
        """A derivation: what is stated, and what it comes to."""
        return ", and ".join(map(self._step, chain))

    def _step(self, step: Step) -> str:
        lower, _, upper = (self.term(part) for part in (step.by[0] if step.by else step.fact))
        match step.rule:
            case "stated":
                return f"{self.fact(step.fact)} (stated)"
            case "known":
                return f"{self.fact(step.fact)} (the ontology knows)"
            case "datatype":
                return f"{self.fact(step.fact)} (its datatype)"
            case "every":
                kind = "literal" if isinstance(step.fact.subject, Literal) else "resource"
                return f"every {kind} is a {upper}"
            case "member":
                return f"{self.fact(step.fact)} (of a list)"
            case "same":
                return f"{lower} is the same as {upper}"
            case "subclass" | "subproperty":
                return f"{lower} ⊑ {upper}"
            case "inverse":
                return f"{lower} is {upper} the other way round"
            case "domain":
                return f"what has {lower} is a {upper}"
            case "range":
                return f"what {lower} leads to is a {upper}"

    def fact(self, fact: Fact) -> str:
        word = "is a" if fact.property == RDF.type else self.term(fact.property)
        return f"{self.term(fact.subject)} {word} {self.term(fact.object)}"

    def _no_arc(self, condition: Condition, reason: ArcReason) -> str:
        if isinstance(condition, Arc) and HOME in (condition.subject, condition.object) and HOME not in self.images:
            return "there is no home vertex"
        word = "arc" if reason.property is None else self.term(reason.property)
        has = "is a" if reason.property == RDF.type else f"has {word}"
        if reason.subject is not None and reason.instead:
            return f"{self.term(reason.subject)} {has} {self._list(reason.instead)}"
        if reason.taken:
            return f"each {word} there is leads from or to what something else stands for"
        if reason.subject is None:
            return f"nothing {has} {self.term(reason.object)}" if reason.object else f"there is no {word}"
        return f"{self.term(reason.subject)} has no {word}"

    def _vertex(self, finding: Finding, reason: VertexReason) -> str:
        condition = finding.condition
        if reason.vertex is None or not isinstance(condition, ClassConstraint | IsA):
            return ""
        if not reason.there:
            return f"the event does not name {self.term(reason.vertex)}"
        operator = condition.operator if isinstance(condition, IsA) else "<="
        stated = self._stated(reason)
        if finding.holds:
            return self.chain(reason.chain) or (stated if operator == "!=" else "")
        cls = self.term(condition.cls)
        if operator in ("=", "!="):
            return self.chain(reason.chain) or (f"{stated}, and not directly {cls}" if reason.classes else stated)
        if reason.chain or reason.vertex == condition.cls:
            return f"{self.chain(reason.chain)}{', and ' if reason.chain else ''}it is not to be {cls} itself"
        near = f" (nearest common class: {self._list(reason.nearest)})" if reason.nearest else ""
        if operator in (">", ">="):
            return f"{self.term(reason.vertex)} is not above {cls}{near}"
        return f"{stated}, which is not below {cls}{near}" if reason.classes else stated

    def _stated(self, reason: VertexReason) -> str:
        """What a vertex is said to be: of which classes, or below which."""
        vertex = reason.vertex
        if vertex is None or not reason.classes:
            return "it has no class" if vertex is None else f"{self.term(vertex)} has no class"
        parents = self.explanation.model.class_parents.get(vertex) if isinstance(vertex, NamedNode) else None
        return f"{self.term(vertex)} {'⊑' if parents else 'is a'} {self._list(reason.classes)}"

    def _leaf(self, leaf: Leaf, finding: Finding) -> str:
        """What a part of a filter comes to: ``it`` is plain enough if there is no other part."""
        expression = _plain(leaf.expression)
        alone = isinstance(finding.condition, Filter) and _is_one(finding.condition.expression)
        if leaf.closest and not leaf.error:
            return self._similar(leaf, finding.holds)
        if isinstance(expression, AttributeTest | AttributeExists):
            name = ".".join(map(self.term, expression.path))
            if not leaf.values:
                return f"there is no {name}"
            if finding.holds and leaf.wanted and isinstance(expression, AttributeTest):
                return self.expression(expression.test, {VALUE: leaf.values[0]})
            return f"{'it' if alone else name} is {self._list(leaf.values)}"
        put_in = self.expression(expression, self.images)
        if finding.holds:
            return put_in if leaf.wanted else f"{put_in} is false"
        if leaf.error:
            return f"{put_in} is an error: {self._error(leaf.error)}"
        match expression:
            case Call(name, (Variable() as variable, Literal() | NamedNode())) if name in COMPARISONS:
                return f"{'it' if alone else variable} is {self.term(self.images.get(variable, variable))}"
            case _:
                return f"{put_in} is {'false' if leaf.wanted else 'true'}"

    def _error(self, error: str) -> str:
        """What an error says, with short names for the literals in it."""
        return _TYPED.sub(lambda found: self.term(Literal(found[1], datatype=NamedNode(found[2]))), error)

    def _interest(self, reason: InterestReason, holds: bool) -> str:
        lacking = "" if holds else f", {reason.threshold - reason.score:.2f} too little"
        told = "; ".join(map(self._closest, reason.concepts))
        return f"{reason.score:.2f}{lacking}: {told}" + ("" if holds else f"; {self._needed(reason)}")

    def _needed(self, reason: InterestReason) -> str:
        """What the event would have had to be about."""
        needed = ((self._concept(one.concept), reason.needed(one)) for one in reason.concepts)
        enough = " or ".join(f"{concept} above {least:.2f}" for concept, least in needed if least is not None)
        return f"{enough} would do" if enough else "no one of them alone would do"

    def _closest(self, closest: Closest) -> str:
        concept = self._concept(closest.concept)
        if closest.closest is None:
            return f"{concept} 0.00, as nothing there is a concept"
        named = f", named by {self.term(closest.named_by)}" if isinstance(closest.named_by, Literal) else ""
        if closest.closest == closest.concept:
            return f"{concept} 1.00{named}"
        through = self._concept(closest.upward[-1])
        return f"{concept} ≈ {self._concept(closest.closest)} {closest.similarity:.2f} through {through}{named}"

    def _similar(self, leaf: Leaf, holds: bool) -> str:
        """How similar something is to the concepts that a part of a filter asks for."""
        told = "; ".join(map(self._closest, leaf.closest))
        expression = leaf.expression.test if isinstance(leaf.expression, AttributeTest) else leaf.expression
        match expression:
            case Call("~", (_, _, Literal() as threshold)) if not holds:
                apart = abs(float(threshold.value) - leaf.closest[0].similarity)
                return f"{told}, {apart:.2f} too {'little' if leaf.wanted else 'much'}"
        return told

    def _concept(self, concept: NamedNode | None) -> str:
        """A concept by its label, if it has one. What is above all is everything."""
        if concept is None:
            return "everything"
        model = self.explanation.model
        return _cut(model.label(concept)) if model.labels.get(concept) else self.term(concept)

    def _residual(self, holds: bool, asked: bool, rows: int | None) -> str:
        if not asked:
            return "not asked, since the rest does not hold"
        if not holds:
            return "it has none"
        return "it has" if rows is None else f"it has {rows:,}"

    def expression(self, expression: Expression, put_in: Mapping[Variable | Home, Term] | None = None) -> str:
        """An expression, with terms put in for its variables."""
        return _Told(self, put_in or {}).expression(expression)

    def term(self, term: Variable | Home | Term) -> str:
        """A term by its short name; one with no known prefix by its label, if it has one; a new concept by its word."""
        if isinstance(term, Variable | Home):
            return str(term)
        if isinstance(term, NamedNode) and self.names.full(term).startswith("<"):
            if self.explanation.model.labels.get(term):
                return self.explanation.model.label(term)
            if is_proposed(term):
                return _cut(word_for(term))
        return _cut(self.names.short(term))

    def _list(self, terms: Iterable[Term]) -> str:
        return ", ".join(map(self.term, terms))


class _Told(Notation):
    """Expressions as people read them, in any language, with terms put in for some of the variables."""

    words: ClassVar = {"and": "and", "or": "or", "not": "not ", "in": "in", "not in": "not in"}
    negation = ATOM

    def __init__(self, telling: Telling, put_in: Mapping[Variable | Home, Term], value: str = "value") -> None:
        super().__init__({})
        self.telling = telling
        self.put_in = put_in
        self.value = value

    def term(self, term: Vertex) -> str:
        if isinstance(term, Variable | Home) and term in self.put_in:
            return self.telling.term(self.put_in[term])
        return self.value if term == VALUE else self.telling.term(term)

    def call(self, name: str, arguments: tuple[Expression, ...]) -> str:
        if name in ("number", "sparql"):  # how a text, or a whole expression, is read
            return self.expression(arguments[0])
        if name in _TESTS and arguments[0] == VALUE:
            return f"{self.term(VALUE)} {_TESTS[name]} {self.expression(arguments[1])}"
        return super().call(name, arguments)

    def similar(self, vertex: Expression, concept: str, threshold: str) -> str:
        told = super().similar(vertex, concept, threshold)
        return told if vertex != HOME else f"the event{told.removeprefix(self.expression(HOME))}"

    def _expression(self, expression: Expression) -> tuple[str, int]:
        if not isinstance(expression, AttributeTest | AttributeExists):
            return super()._expression(expression)
        name = ".".join(map(self.telling.term, expression.path))
        if isinstance(expression, AttributeExists):
            return f"exists {name}", ATOM
        return _Told(self.telling, self.put_in, name)._expression(expression.test)


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST // 2]} … {name[-LONGEST // 4 :]}"


def _plain(expression: Expression) -> Expression:
    """An expression without the mark that SPARQL's reading of it counts."""
    return expression.arguments[0] if isinstance(expression, Call) and expression.name == "sparql" else expression


def _is_one(expression: Expression) -> bool:
    """Whether a filter is one comparison, call or test, perhaps negated."""
    expression = _plain(expression)
    if isinstance(expression, Call) and expression.name == "not":
        return _is_one(expression.arguments[0])
    return not (isinstance(expression, Call) and expression.name in ("and", "or"))


def _terms(explanation: Explanation) -> Iterator[Term]:
    """Every term that may be told of, so that no two have the same short name."""
    for triple in explanation.event.graph.triples:
        yield from triple
    for finding in explanation.findings:
        yield from _within(finding)


def _within(value: object) -> Iterator[Term]:
    if isinstance(value, NamedNode | BlankNode | Literal):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from _within(each)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from _within(getattr(value, name))

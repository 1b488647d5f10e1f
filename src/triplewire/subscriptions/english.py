"""What a subscription means, in one plain English sentence.

Terms go by their labels. A pattern is told from its home vertex on, arc by arc, and a variable is named only where it
is needed to say that two places are one, or to compare two.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import unquote

from pyoxigraph import NamedNode

from triplewire.concepts.model import EVERY_RESOURCE, ConceptModel, reachable
from triplewire.rdf.terms import RDF, RDFS
from triplewire.subscriptions.attributes import conjuncts, relative_clauses, tells_of_event
from triplewire.subscriptions.pattern import (
    HOME,
    Alternative,
    Arc,
    Expression,
    Interest,
    Pattern,
    Residual,
    Scope,
    Subscription,
    Variable,
    Vertex,
    free_variables,
)
from triplewire.subscriptions.wording import Predicate, Wording, listed, said_once, with_article

_TAXONOMY = {
    "<=": "is a kind of {}",
    "<": "is a kind of {} but not {} itself",
    ">=": "is {} or above it",
    ">": "is above {}",
    "=": "is directly below {}",
    "!=": "is not directly below {}",
}
_MOST_ARCS = 60  # that anybody reads of
_MOST_NAMED = 5
_KEYWORDS = ("OPTIONAL", "MINUS", "NOT EXISTS", "EXISTS", "BIND", "VALUES", "GROUP BY", "HAVING", "LIMIT")


def sentence(subscription: Subscription, model: ConceptModel) -> str:
    """The subscription's meaning."""
    by_residual: dict[Residual | None, list[Alternative]] = defaultdict(list)
    for alternative in subscription.alternatives:
        by_residual[alternative.residual].append(alternative)
    told = []
    for residual, alternatives in by_residual.items():
        text = _either(_told(alternative.pattern, model) for alternative in alternatives)
        told.append(text if residual is None else _checked(text, residual))
    whole = _either(told)
    return f"{whole[0].upper()}{whole[1:]}."


def _either(texts: Iterable[str]) -> str:
    several = list(dict.fromkeys(texts))
    return several[0] if len(several) == 1 else f"either {', or '.join(several)}"


def _checked(text: str, residual: Residual) -> str:
    """What a pattern says, and that a query has a solution besides."""
    query = re.sub(r'"(?:[^"\\]|\\.)*"|<[^<>\s]*>|PREFIX \S+', "", residual.query.upper())
    words = [word for word in _KEYWORDS if re.search(rf"(?<!NOT ){word}\b", query)]
    words += ["a query inside"] if query.count("SELECT") > 1 else []
    naming = f" ({', '.join(words)})" if words else ""
    if text == "every event":
        return f"events that pass a SPARQL check{naming}"
    return f"{text}, passing a further SPARQL check{naming}"


def _told(pattern: Pattern, model: ConceptModel) -> str:
    if len(pattern.arcs) <= _MOST_ARCS:
        return _Telling(pattern, model).text()
    words = Wording(model)
    properties = list(dict.fromkeys(words.property(arc.property) for arc in pattern.arcs))
    few = listed([*properties[:_MOST_NAMED], *(["others"] if len(properties) > _MOST_NAMED else [])])
    return f"events with a graph of {len(pattern.arcs)} arcs, on {few}"


class _Phrase(NamedTuple):
    """A phrase, and the clauses that belong to its last word; those stand in parentheses if something follows."""

    head: str
    tail: str = ""

    def text(self, last: bool = True) -> str:
        tail = self.tail if last else f"({self.tail})"
        return f"{self.head} {tail}" if self.tail else self.head


def _in_turn(phrases: list[_Phrase]) -> str:
    return listed(phrase.text(last=n == len(phrases)) for n, phrase in enumerate(phrases, 1))


class _Telling:
    """One pattern's text in the making."""

    def __init__(self, pattern: Pattern, model: ConceptModel) -> None:
        self.pattern = pattern
        self.model = model
        self.words = Wording(model)
        self.told: set[Vertex] = set()
        self.arcs = [arc for arc in pattern.arcs if not gives_class(arc)]
        self.left = list(self.arcs)
        self.ahead: set[Vertex] = set()
        self.predicates: dict[Vertex, list[Predicate]] = defaultdict(list)
        self.conditions = list(self.other_filters())
        self.different = list(self.told_apart())
        self.named = self.worth_a_name()

    def text(self) -> str:
        attributes = [f for f in conjuncts(self.pattern.filters) if tells_of_event(f)]
        subject, phrases = "events", []
        if HOME in self.pattern.vertices:
            self.look_ahead(HOME)
            self.told.add(HOME)
            subject = self.home()
            phrases = self.clauses(HOME)
        phrases += map(_Phrase, relative_clauses(attributes, self.words))
        while (root := self.next_root()) is not None:
            self.look_ahead(root)
            head, tail = self.noun(root)
            phrases.append(_Phrase(f"with {head}", tail))
        phrases += [_Phrase(self.interest(interest)) for interest in self.pattern.interests]
        where = [*map(self.words.expression, self.conditions), *map(_different, self.different)]
        text = f"{subject} {_in_turn(phrases)}".strip()
        if any(arc.scope == Scope.ASSERTED for arc in self.pattern.arcs):
            text += ", exactly as stated"
        if where:
            text += f", where {listed(where)}"
        return "every event" if text == "events" else text

    def other_filters(self) -> Iterator[Expression]:
        """The filters that say more than something about one variable; what the others say is kept with theirs."""
        ends = {end for arc in self.arcs for end in (arc.subject, arc.object)}
        for expression in conjuncts(self.pattern.filters):
            variables = set(free_variables(expression))
            said = None
            if len(variables) == 1 and variables <= ends:
                said = self.words.predicate(expression, next(iter(variables)))
            if said:
                self.predicates[variables.pop()].append(said)
            elif not tells_of_event(expression):
                yield expression

    def told_apart(self) -> Iterator[list[Variable]]:
        """The variables that look alike and yet stand for different things, if the mapping is injective."""
        if self.pattern.mapping == "homomorphic":
            return
        values = {c.vertex for c in self.pattern.classes if self.model.is_subclass(c.cls, RDFS.Literal)}
        alike: dict[object, set[Variable]] = defaultdict(set)
        for arc in self.arcs:
            if isinstance(arc.object, Variable) and arc.object not in values:
                alike[arc.subject, arc.property].add(arc.object)
        for constraint in self.pattern.classes:
            if isinstance(constraint.vertex, Variable) and constraint.cls not in EVERY_RESOURCE:
                alike[constraint.cls].add(constraint.vertex)
        groups = {frozenset(variables - values) for variables in alike.values()}
        for group in sorted((sorted(group, key=str) for group in groups if len(group) > 1), key=str):
            if not any(set(group) < other for other in groups):
                yield group

    def worth_a_name(self) -> set[Variable]:
        """The variables that are spoken of in more than one place."""
        mentions = Counter(part for arc in self.arcs for part in (arc.property, arc.object))
        mentions.update({arc.subject for arc in self.arcs} - mentions.keys())
        mentions.update({arc.subject for arc in self.arcs if arc.subject == arc.object})
        compared = {v for expression in self.conditions for v in free_variables(expression)}
        compared |= {v for group in self.different for v in group}
        return compared | {v for v, n in mentions.items() if isinstance(v, Variable) and n > 1}

    def next_root(self) -> Vertex | None:
        """A vertex not told yet to begin with: if there is one, one that no arc leads to."""
        vertices = [v for arc in self.arcs for v in (arc.subject, arc.object)]
        vertices += [arc.subject for arc in self.pattern.arcs]
        vertices += [c.vertex for c in self.pattern.classes] + [c.vertex for c in self.pattern.is_a]
        untold = [v for v in vertices if v not in self.told]
        reached = {arc.object for arc in self.arcs if arc.subject != arc.object}
        return next((v for v in untold if v not in reached), untold[0] if untold else None)

    def look_ahead(self, root: Vertex) -> None:
        """Take note of what will be told on the way from a root."""
        self.ahead = reachable(root, lambda vertex: [arc.object for arc in self.arcs if arc.subject == vertex])

    def classes(self, vertex: Vertex) -> list[str]:
        stated = [c.cls for c in self.pattern.classes if c.vertex == vertex]
        types = (arc.object for arc in self.pattern.arcs if gives_class(arc) and arc.subject == vertex)
        stated += [cls for cls in types if isinstance(cls, NamedNode)]
        universal = EVERY_RESOURCE if not isinstance(vertex, Variable) else {RDFS.Resource}
        return [self.words.label(cls) for cls in dict.fromkeys(stated) if cls not in universal]

    def taxonomy(self, vertex: Vertex) -> list[str]:
        stated = [c for c in self.pattern.is_a if c.vertex == vertex]
        return [_TAXONOMY[c.operator].replace("{}", self.words.label(c.cls)) for c in stated]

    def home(self) -> str:
        classes = self.classes(HOME)
        if len(classes) == 1:
            return f"{classes[0]} events"
        return f"events of the classes {listed(classes)}" if classes else "events"

    def noun(self, vertex: Vertex) -> _Phrase:
        """A vertex, and all that is said of it unless it was told before."""
        if vertex in self.told:
            return _Phrase(self.words.term(vertex))
        self.told.add(vertex)
        classes = listed(map(with_article, self.classes(vertex)))
        if isinstance(vertex, Variable):
            said = listed(predicate.attribute for predicate in self.predicates[vertex])
            noun = f"{classes or 'something'} {said}".strip() + self.name(vertex)
        else:
            noun = f"{self.words.term(vertex)} ({classes})" if classes else self.words.term(vertex)
        return _Phrase(noun, _in_turn(self.clauses(vertex)))

    def name(self, vertex: Variable) -> str:
        return f" ({vertex})" if vertex in self.named else ""

    def clauses(self, vertex: Vertex) -> list[_Phrase]:
        """What is said of a vertex: its place in the taxonomy, then its arcs, those last that lead on to others."""
        that = "whose home vertex" if vertex == HOME else "that"
        phrases = [_Phrase(f"{that} {verb}") for verb in self.taxonomy(vertex)]
        leading_on = {arc.subject for arc in self.left}
        leaving = self.taken(arc for arc in self.left if arc.subject == vertex)
        phrases += [self.clause(arc) for arc in sorted(leaving, key=lambda arc: arc.object in leading_on)]
        for arc in self.taken(a for a in self.left if a.object == vertex and a.subject not in self.told | self.ahead):
            owner, tail = self.noun(arc.subject)
            phrases.append(_Phrase(f"that {_is(vertex)} the {self.words.property(arc.property)} of {owner}", tail))
        return phrases

    def taken(self, arcs: Iterable[Arc]) -> list[Arc]:
        """Arcs that are about to be told, and need not be told again."""
        taken = list(arcs)
        self.left = [arc for arc in self.left if arc not in taken]
        return taken

    def clause(self, arc: Arc) -> _Phrase:
        property_, end = self.words.property(arc.property), arc.object
        if end in self.told or not isinstance(end, Variable):
            head, tail = self.noun(end)
            return _Phrase(f"whose {property_} is {head}", tail)
        classes, verbs = self.classes(end), [p.verb for p in self.predicates[end]] + self.taxonomy(end)
        if classes or any(end in (arc.subject, arc.object) for arc in self.left):
            head, tail = self.noun(end)
            return _Phrase(f"whose {property_} is {head}", tail)
        self.told.add(end)
        if verbs:
            return _Phrase(f"whose {property_} {said_once(verbs, 'and')}{self.name(end)}")
        return _Phrase(f"that {_has(arc.subject)} {with_article(property_)}{self.name(end)}")

    def interest(self, interest: Interest) -> str:
        under = {new: f" (new, under {self.words.label(known)})" for new, known in interest.attached}
        concepts = [f"{unquote(self.words.label(concept))}{under.get(concept, '')}" for concept in interest.concepts]
        return f"close to {listed(concepts)} (similarity above {interest.threshold:g})"


def _different(group: list[Variable]) -> str:
    if len(group) == 2:
        return f"{group[0]} is not {group[1]}"
    return f"{listed(map(str, group))} are all different"


def gives_class(arc: Arc) -> bool:
    """Whether an arc says no more than the class of its subject."""
    return arc.property == RDF.type and arc.scope == Scope.CLOSED and isinstance(arc.object, NamedNode)


def _is(subject: Vertex) -> str:
    return "are" if subject == HOME else "is"


def _has(subject: Vertex) -> str:
    return "have" if subject == HOME else "has"

"""G* as the papers' matchers walk it: vertices are numbers, arcs are found by their subject."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.closure import ClosedEvent
from triplewire.matching.matcher import Binding
from triplewire.matching.papers.statements import Label, SubscriptionGraph
from triplewire.rdf.terms import RDF, Term
from triplewire.subscriptions.evaluate import holds
from triplewire.subscriptions.pattern import VALUE, Expression, Home, Variable

log = logging.getLogger(__name__)

Ways = dict[int, list[int]]
Pairs = dict[int, int]
"""A partial mapping: vertices of the event by vertices of the subscription, all as numbers."""


class EventGraph:
    """The relations of a closed event.

    ``leaving[s][o]`` are the properties that hold from vertex ``s`` to vertex ``o``. ``bits`` has a bit for each
    resource, and 0 for literals: they are values, which an injective mapping may use twice.
    """

    def __init__(self, event: ClosedEvent) -> None:
        self.event = event
        self.terms: list[Term] = []
        self.leaving: list[dict[int, set[NamedNode]]] = []
        self._numbers: dict[Term, int] = {}
        for arc in sorted(event.relations, key=lambda arc: tuple(map(str, arc))):
            subject, object_ = self._numbered(arc.subject), self._numbered(arc.object)
            self.leaving[subject].setdefault(object_, set()).add(arc.property)
        self.literal = [isinstance(term, Literal) for term in self.terms]
        self.bits = [0 if literal else 1 << number for number, literal in enumerate(self.literal)]
        self.home: int | None = None if event.home is None else self._numbers.get(event.home)
        self._types: dict[Term, set[NamedNode]] = defaultdict(set)
        for triple in event.closed:
            if triple.property == RDF.type and isinstance(triple.object, NamedNode):
                self._types[triple.subject].add(triple.object)
        self._passed: dict[tuple[Label, int], bool] = {}
        self._ways: dict[tuple[NamedNode, bool], Ways] = {}

    def _numbered(self, term: Term) -> int:
        number = self._numbers.get(term)
        if number is None:
            number = self._numbers[term] = len(self.terms)
            self.terms.append(term)
            self.leaving.append({})
        return number

    def number(self, constant: NamedNode | Literal) -> int | None:
        """The vertex that a constant names."""
        return self._numbers.get(self.event.name(constant))

    def types(self, vertex: int) -> set[NamedNode]:
        """The classes that G* states of a vertex, by the names that the event knows them by."""
        return self._types.get(self.terms[vertex], set())

    def objects(self, property_: NamedNode) -> Ways:
        """The objects of a property's arcs by their subjects."""
        return self._by_start(property_, backwards=False)

    def subjects(self, property_: NamedNode) -> Ways:
        """The subjects of a property's arcs by their objects."""
        return self._by_start(property_, backwards=True)

    def _by_start(self, property_: NamedNode, backwards: bool) -> Ways:
        key = (property_, backwards)
        if key not in self._ways:
            ways: Ways = defaultdict(list)
            for subject, objects in enumerate(self.leaving):
                for object_, properties in objects.items():
                    if property_ in properties:
                        start, end = (object_, subject) if backwards else (subject, object_)
                        ways[start].append(end)
            self._ways[key] = ways
        return self._ways[key]

    def has_arcs(self, images: Sequence[int], arcs: Iterable[tuple[int, NamedNode, int]]) -> bool:
        """Whether the event has arcs that are given by the places of their ends among some images."""
        leaving = self.leaving
        return all(property_ in leaving[images[s]].get(images[o], ()) for s, property_, o in arcs)

    def passes(self, vertex: int, label: Label) -> bool:
        """Whether a vertex is of all the classes of a label, and its filters are true of it."""
        key = (label, vertex)
        known = self._passed.get(key)
        if known is None:
            term = self.terms[vertex]
            known = self._passed[key] = all(self.event.has_class(term, cls) for cls in label.classes) and all(
                self._true(expression, {VALUE: term}) for expression in label.filters
            )
        return known

    def accepts(self, graph: SubscriptionGraph, pairs: Pairs) -> bool:
        """Whether the filters on several vertices are true under a mapping."""
        if not graph.filters:
            return True
        known = {variable: self.terms[pairs[number]] for variable, number in graph.variables.items()}
        return all(self._true(expression, known) for expression in graph.filters)

    def binding(self, graph: SubscriptionGraph, pairs: Pairs) -> Binding:
        return {str(variable): str(self.terms[pairs[number]]) for variable, number in graph.variables.items()}

    def _true(self, expression: Expression, known: dict[Variable, Term]) -> bool:
        def lookup(operand: Variable | Home | NamedNode) -> Term | None:
            match operand:
                case Variable():
                    return known.get(operand)
                case Home():
                    return self.event.home
                case _:
                    return self.event.name(operand)

        try:
            return holds(expression, lookup, lambda path: frozenset())
        except Exception:  # it costs those who ask for it, and nobody else
            log.exception("a filter cannot be evaluated, and counts as not true: %s", expression)
            return False

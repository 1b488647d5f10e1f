"""The G-ToPSS matcher: look the event's arcs up in the merged graph, join what was found for who has it all."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, get_args

from pyoxigraph import BlankNode, Literal, NamedNode

from triplewire.concepts.closure import ClosedEvent, close
from triplewire.concepts.model import ConceptModel
from triplewire.matching.explanation import Explanation, explain
from triplewire.matching.matcher import Binding, Match, TooManyMappingsError, in_order, refused
from triplewire.matching.papers.gtopss.constraints import Constraint, Constraints, Verdicts
from triplewire.matching.papers.gtopss.joins import EventJoins, Join
from triplewire.matching.papers.gtopss.merged import Edge, Label, MergedGraph, Row, Shape, starred
from triplewire.rdf.graph import Event
from triplewire.rdf.terms import Term
from triplewire.subscriptions.pattern import (
    HOME,
    Call,
    Comparison,
    Expression,
    IsA,
    Pattern,
    Scope,
    Subscription,
    Variable,
    Vertex,
)

COMPARISONS = get_args(Comparison)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Kept:
    """A subscription as the matcher keeps it; places are columns of its shape's join."""

    subscription: Subscription
    shape: Shape
    places: tuple[tuple[Variable, int], ...]
    constraints: tuple[tuple[int, Constraint], ...]
    apart: _Apart | None


@dataclass(frozen=True)
class _Apart:
    """The vertices of an injective pattern that must be different resources: variables by place, and constants."""

    places: tuple[int, ...]
    names: frozenset[NamedNode]
    home: bool


@dataclass
class _Subscribers:
    """The subscriptions of one shape, and the join that finds their bindings."""

    join: Join
    kept: dict[str, _Kept] = field(default_factory=dict)


class GToPSS:
    """Subscriptions of arcs as asserted with constraints on single variables, such as ``gtopss`` says them.

    Counts ``hits`` on edges of the merged graph, ``candidates`` all of whose edges were hit, ``joins`` and
    evaluations of ``constraints``.
    """

    def __init__(self, model: ConceptModel) -> None:
        self.model = model
        self.work: Counter[str] = Counter()
        self.graph = MergedGraph()
        self._joins = Join()
        self._constraints = Constraints()
        self._shapes: dict[Shape, _Subscribers] = {}
        self._kept: dict[str, _Kept] = {}

    def add(self, subscription: Subscription) -> None:
        pattern = _accepted(subscription)
        if subscription.id in self._kept:
            self.remove(subscription.id)
        arcs = [(self.label(arc.subject), arc.property, self.label(arc.object)) for arc in pattern.arcs]
        stars = self.graph.assign_stars(arcs)
        shape = frozenset(self.graph.insert(starred(arc, stars)) for arc in arcs)
        if shape not in self._shapes:
            self._shapes[shape] = _Subscribers(self._joins.take(shape))
            for edge in shape:
                edge.shapes.add(shape)
        columns = self._shapes[shape].join.columns
        place = {variable: columns.index(star) for variable, star in stars.items()}
        kept = _Kept(
            subscription,
            shape,
            tuple(place.items()),
            tuple((place[v], self._constraints.intern(c, v)) for v, c in _constraints(pattern)),
            self._apart(pattern, place) if pattern.mapping == "injective" else None,
        )
        self._kept[subscription.id] = self._shapes[shape].kept[subscription.id] = kept

    def remove(self, id_: str) -> None:
        shape = self._kept.pop(id_).shape
        subscribers = self._shapes[shape]
        del subscribers.kept[id_]
        if subscribers.kept:
            return
        del self._shapes[shape]
        subscribers.join.let_go()
        for edge in shape:
            edge.shapes.remove(shape)
            if not edge.shapes:
                self.graph.discard(edge)

    def match(self, event: Event, bindings: bool = False) -> list[Match]:
        publication = _Publication(event.id, close(event.graph, self.model), self)
        found: list[Match] = []
        for shape in publication.candidates():
            subscribers = self._shapes[shape]
            found += publication.matches(subscribers.join, subscribers.kept.values(), bindings)
        return sorted(found, key=lambda match: match.subscription)

    def explain(self, id_: str, event: Event) -> Explanation:
        return explain(self._kept[id_].subscription, event, self.model)

    def label(self, vertex: Vertex | Term) -> Any:
        """What a vertex is called in GM: names that the model declares the same have one label."""
        return self.model.names.get(vertex, vertex) if isinstance(vertex, NamedNode | BlankNode) else vertex

    def _apart(self, pattern: Pattern, place: dict[Variable, int]) -> _Apart:
        return _Apart(
            tuple(place[v] for v in pattern.vertices if isinstance(v, Variable)),
            frozenset(self.label(v) for v in pattern.vertices if isinstance(v, NamedNode)),
            HOME in pattern.vertices,
        )


class _Publication:
    """One event as it goes through the merged graph. All that matching writes is here: the next one starts clean."""

    def __init__(self, id_: str, event: ClosedEvent, matcher: GToPSS) -> None:
        self._id = id_
        self._event = event
        self._matcher = matcher
        self._numbers: dict[Term, int] = {}
        self._tables = self._look_up()
        self._terms = list(self._numbers)
        self._joins = EventJoins(self._tables, matcher.work)
        self._verdicts = Verdicts(event, self._terms, matcher.work)

    def candidates(self) -> list[Shape]:
        """The shapes all of whose edges were hit."""
        counts: Counter[Shape] = Counter()
        for edge in self._tables:
            counts.update(edge.shapes)
        found = [shape for shape, count in counts.items() if count == len(shape)]
        self._matcher.work["candidates"] += len(found)
        return found

    def matches(self, join: Join, subscriptions: Iterable[_Kept], bindings: bool) -> Iterator[Match]:
        """The matches among the subscriptions of one shape."""
        try:
            rows = self._joins.rows(join)
        except TooManyMappingsError as error:
            ids = ", ".join(repr(kept.subscription.id) for kept in subscriptions)
            log.warning("event %r has %s for %s, which are passed over", self._id, error, ids)
            return
        for kept in subscriptions if rows else ():
            fitting = (row for row in rows if self._fits(kept, row))
            if bindings:
                told = in_order(self._binding(kept, row) for row in fitting)
                if told:
                    yield Match(self._id, kept.subscription.id, bindings=told)
            elif any(True for _ in fitting):
                yield Match(self._id, kept.subscription.id)

    def _look_up(self) -> dict[Edge, list[Row]]:
        """The binding tables of the edges of GM that an arc of the event hits."""
        graph = self._matcher.graph
        stars = list(graph.stars)
        tables: defaultdict[Edge, list[Row]] = defaultdict(list)
        labels = {
            end: [*self._labels(end), *stars] for arc in self._event.asserted for end in (arc.subject, arc.object)
        }
        for subject, property_, object_ in self._event.asserted:
            arc = self._number(subject), self._number(property_), self._number(object_)
            for edge in graph.hits(labels[subject], [property_, *stars], labels[object_]):
                if (row := edge.row(arc)) is not None:
                    tables[edge].append(row)
        self._matcher.work["hits"] += sum(map(len, tables.values()))
        return tables

    def _labels(self, vertex: Term) -> list[Label]:
        """What a vertex is called in GM by itself."""
        label = self._matcher.label(vertex)
        return [label, HOME] if vertex == self._event.home else [label]

    def _number(self, term: Term) -> int:
        return self._numbers.setdefault(term, len(self._numbers))

    def _fits(self, kept: _Kept, row: Row) -> bool:
        return all(self._verdicts.holds(constraint, row[place]) for place, constraint in kept.constraints) and (
            kept.apart is None or self._injective(kept.apart, row)
        )

    def _injective(self, apart: _Apart, row: Row) -> bool:
        """Whether the vertices go to different resources. A row is there, and so are the home vertex and the names."""
        terms = [self._terms[row[place]] for place in apart.places]
        resources = [self._matcher.label(term) for term in terms if not isinstance(term, Literal)]
        resources += apart.names
        if apart.home and self._event.home is not None:
            resources.append(self._matcher.label(self._event.home))
        return len(resources) == len(set(resources))

    def _binding(self, kept: _Kept, row: Row) -> Binding:
        return {str(variable): str(self._terms[row[place]]) for variable, place in kept.places}


def _accepted(subscription: Subscription) -> Pattern:
    """The one pattern of a subscription that says nothing but what G-ToPSS can."""
    alternative, *others = subscription.alternatives
    pattern = alternative.pattern
    wrong: list[tuple[bool, str]] = [
        (bool(others), "alternatives"),
        (alternative.residual is not None, "residual"),
        (alternative.answer is not None or subscription.bindings != "distinct", "selection of what is told"),
        (bool(pattern.interests), "interest"),
        (pattern.is_graded, "filter that asks for similarity"),
        (bool(pattern.classes), "class constraint"),
        (not pattern.arcs, "pattern without arcs"),
        (any(arc.scope is not Scope.ASSERTED for arc in pattern.arcs), "arc that is not exact"),
    ]
    for is_so, what in wrong:
        if is_so:
            raise refused("gtopss", what)
    bound = {part for arc in pattern.arcs for part in (arc.subject, arc.property, arc.object)}
    for variable, constraint in _constraints(pattern):
        if variable not in bound:
            raise refused("gtopss", f"constraint on {variable}, which is in no arc: {constraint}")
    return pattern


def _constraints(pattern: Pattern) -> Iterator[tuple[Variable, IsA | Expression]]:
    """The pattern's constraints, each with the variable that it is on."""
    for is_a in pattern.is_a:
        if not isinstance(is_a.vertex, Variable):
            raise refused("gtopss", f"constraint on the constant {is_a.vertex}")
        yield is_a.vertex, is_a
    for filter_ in pattern.filters:
        match filter_:
            case Call(name, (Variable() as variable, Literal())) if name in COMPARISONS:
                yield variable, filter_
            case Call(name, (Call("number", (Variable() as variable,)), Literal())) if name in COMPARISONS:
                yield variable, filter_
            case _:
                raise refused("gtopss", "filter but a comparison of a variable with a literal")

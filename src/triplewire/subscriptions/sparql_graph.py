"""The graph patterns of a SPARQL query as ways.

This follows SPARQL 1.1's translation to its algebra (18.2.2), with ways in the place of algebra expressions.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any, cast

import rdflib
from pyoxigraph import Literal, NamedNode
from pyparsing import ParseResults
from rdflib.plugins.sparql.parserutils import CompValue

from triplewire.rdf.terms import TW
from triplewire.subscriptions.pattern import HOME, Arc, Expression, Variable, Vertex, free_variables
from triplewire.subscriptions.sparql_filter import (
    NotCompiledError,
    as_filter,
    conjuncts,
    expression,
    sees_names,
)
from triplewire.subscriptions.sparql_joins import Joined
from triplewire.subscriptions.sparql_path import Paths, arc
from triplewire.subscriptions.sparql_tree import Query, children, unwrapped
from triplewire.subscriptions.sparql_ways import (
    MOST_WAYS,
    Strength,
    Way,
    Ways,
    hidden,
    join,
    projected,
    substituted,
    union,
)

Variables = frozenset[Variable]
NOBODY: Variables = frozenset()

ASIDE = ("OptionalGraphPattern", "MinusGraphPattern", "Builtin_EXISTS", "Builtin_NOTEXISTS")
"""Groups that say nothing of what is to be there without them."""


class GraphPatterns:
    """Compiles the graph patterns of one query; ``unbound`` are variables of filters that nothing binds there."""

    def __init__(self, query: Query) -> None:
        self.query = query
        self.names_home = any(term == TW.home for _, term in query.constants)
        self.user = frozenset(query.variables)
        self.unbound: dict[Variable, None] = {}
        self._blank: dict[str, Variable] = {}
        self._numbers = count(1)
        self._stem = "_"
        while any(variable.name.startswith(self._stem) for variable in self.user):
            self._stem += "_"
        self._paths = Paths(self._property, self.fresh)

    def fresh(self) -> Variable:
        """A variable that the query does not use."""
        return Variable(f"{self._stem}{next(self._numbers)}")

    def select(self, node: CompValue, outside: Variables = NOBODY) -> Ways:
        """The ways of a query or sub-select, before anything is projected away."""
        ways = self._grouped(self.group(node.where, outside), node)
        if node.valuesClause:
            ways = join(ways, self._values(node.valuesClause))
        for part in children(node.projection):
            if part.evar:
                ways = self._bound(ways, part.expr, self._variable(part.evar), outside)
        return ways

    def _grouped(self, ways: Ways, node: CompValue) -> Ways:
        """The ways of groups: one for each key, and one in any case where there are no keys."""
        if node.groupby:
            keys = [self._variable(key) for key in children(node.groupby.condition) if isinstance(key, rdflib.Variable)]
            ways = projected(ways, keys, self.fresh).weakened(Strength.DECIDING, self._made(node))
        elif node.having or _aggregates(node.projection) or _aggregates(node.orderby):
            ways = Ways((Way(),), Strength.DECIDING, frozenset(self._made(node)))
        return ways.weakened(Strength.NECESSARY) if node.having else ways

    def limited(self, ways: Ways, node: CompValue) -> Ways:
        """The ways of a whole query, of whose solutions perhaps not all are told."""
        if not node.limitoffset:
            return ways
        if node.limitoffset.offset is not None:
            return ways.weakened(Strength.NECESSARY)
        limit = int(cast(Literal, self.query.term(node.limitoffset.limit, self._of_blank)).value)
        return ways.weakened(Strength.DECIDING) if limit else Ways((), Strength.DECIDING, ways.open)

    def shown(self, node: CompValue, ways: Ways) -> list[Variable]:
        """The variables that a query or sub-select shows."""
        if not node.projection:
            return sorted(ways.variables & self.user, key=str)
        return [self._variable(part.evar or part.var) for part in children(node.projection)]

    def group(self, node: Any, outside: Variables = NOBODY) -> Ways:
        """The ways of a group. ``outside`` are variables that may have a value from outside of it."""
        if node.name == "SubSelect":
            return self._sub_select(node, outside)
        ways = Ways()
        filters = []
        for part in children(node.part):
            match part.name:
                case "Filter":
                    filters.append(part.expr)
                case "TriplesBlock":
                    ways = join(ways, self._triples(part))
                case "GroupOrUnionGraphPattern":
                    ways = join(ways, union([self.group(one, outside) for one in part.graph]))
                case "InlineData":
                    ways = join(ways, self._values(part))
                case "OptionalGraphPattern":
                    ways = ways.weakened(
                        Strength.DECIDING, self._possible(ways, self.group(part.graph, outside | ways.variables))
                    )
                case "Bind":
                    ways = self._bound(ways, part.expr, self._variable(part.var), outside)
                case _:
                    ways = ways.weakened(Strength.NECESSARY)
        for node_ in filters:
            for condition in conjuncts(node_):
                ways = self._filtered(ways, condition, outside)
        return ways

    def _sub_select(self, node: CompValue, outside: Variables) -> Ways:
        inner = self.select(node, outside)
        ways = projected(inner, self.shown(node, inner), self.fresh)
        if node.limitoffset:
            return ways.weakened(Strength.NECESSARY)
        return ways.weakened(Strength.TELLING) if node.modifier else ways

    def _made(self, node: CompValue) -> Iterator[Variable]:
        """The variables that groups and aggregates make."""
        keys = children(node.groupby.condition) if node.groupby else []
        names = [part.evar for part in children(node.projection)]
        names += [key.var for key in keys if isinstance(key, CompValue)]
        return (self._variable(name) for name in names if name)

    def _possible(self, ways: Ways, more: Ways) -> Variables:
        """The variables of an optional part that the rest does not bind in any case."""
        certain = frozenset.intersection(*(way.bound for way in ways.ways)) if ways.ways else NOBODY
        return more.variables - certain

    def _triples(self, block: CompValue) -> Ways:
        ways = Ways()
        for flat in block.triples:
            terms = list(flat)
            for subject, property_, object_ in zip(terms[::3], terms[1::3], terms[2::3], strict=True):
                ways = join(ways, self._triple(self.vertex(subject), property_, self.vertex(object_)))
        return ways

    def joined(self, node: Any) -> Joined:
        """What a query, or a group of it, has to join."""
        arcs: list[Arc] = []
        rows = 1
        branches: list[tuple[Joined, ...]] = []
        left = [node]
        while left:
            part = left.pop()
            name = part.name if isinstance(part, CompValue) else ""
            if name == "TriplesBlock":
                arcs += self._steps(part)
            elif name in ("InlineData", "ValuesClause"):
                rows *= max(len(part.value or []), 1)
            elif name == "GroupOrUnionGraphPattern" and (len(part.graph) > 1 or part.graph[0].name == "SubSelect"):
                branches.append(tuple(self.joined(child) for one in part.graph for child in children(one)))
            elif name in ASIDE:
                branches.append((self.joined(part.graph),))
            else:
                left += children(part)
        return Joined(tuple(arcs), rows, tuple(branches))

    def _steps(self, block: CompValue) -> Iterator[Arc]:
        for flat in block.triples:
            terms = list(flat)
            for subject, property_, object_ in zip(terms[::3], terms[1::3], terms[2::3], strict=True):
                ends = self.vertex(subject), self.vertex(object_)
                if isinstance(property_, rdflib.Variable):
                    yield Arc(ends[0], self._variable(property_), ends[1])
                else:
                    yield from self._paths.steps(ends[0], property_, ends[1])

    def _triple(self, subject: Vertex, property_: Any, object_: Vertex) -> Ways:
        if isinstance(property_, rdflib.Variable):
            return arc(subject, self._variable(property_), object_)
        return self._paths.between(subject, property_, object_)

    def _values(self, block: CompValue) -> Ways:
        variables = [self._variable(variable) for variable in block.var]
        rows = [list(row) if isinstance(row, list | ParseResults) else [row] for row in block.value or []]
        if len(rows) > MOST_WAYS:
            return Ways((Way(),), Strength.NECESSARY, frozenset(variables))
        known = [
            {v: self.vertex(value) for v, value in zip(variables, row, strict=True) if value != "UNDEF"} for row in rows
        ]
        return Ways(tuple(Way(known=row) for row in known))

    def _bound(self, ways: Ways, node: Any, variable: Variable, outside: Variables) -> Ways:
        """BIND and its like: only names for what is there are compiled."""
        try:
            made = expression(node, self.vertex)
        except NotCompiledError:
            made = None
        if isinstance(made, Variable) and made not in ways.open | outside:
            bound = [
                join(Ways((way,)), Ways((Way(known={variable: made}),))) if made in way.bound else Ways((way,))
                for way in ways.ways
            ]
            return Ways(tuple(way for one in bound for way in one.ways), ways.strength, ways.open)
        if made is not None and isinstance(made, NamedNode | Literal | type(HOME)):
            return join(ways, Ways((Way(known={variable: made}),)))
        return ways.weakened(Strength.DECIDING, [variable])

    def _filtered(self, ways: Ways, node: Any, outside: Variables) -> Ways:
        if isinstance(node, CompValue) and node.name == "Builtin_EXISTS":
            return self._existing(ways, node, outside)
        try:
            condition = expression(node, self.vertex)
            if ways.ways:
                known = ways.variables | outside
                self.unbound |= dict.fromkeys(v for v in free_variables(condition) if v not in known)
            if self.names_home and sees_names(condition):
                raise NotCompiledError("how the home vertex is called")
            filtered = tuple(self._with_filter(way, condition, ways.open | outside) for way in ways.ways)
            return Ways(filtered, ways.strength, ways.open)
        except NotCompiledError:
            return ways.weakened(Strength.NECESSARY)

    def _with_filter(self, way: Way, condition: Expression, open_: Variables) -> Way:
        used = frozenset(free_variables(condition))
        if (used - way.bound) & open_:
            raise NotCompiledError("a variable that may or may not be bound")
        unbound: dict[Variable, Vertex] = {variable: self.fresh() for variable in sorted(used - way.bound, key=str)}
        filter_ = as_filter(substituted(condition, {**way.known, **unbound}))
        return Way(way.arcs, way.classes, (*way.filters, filter_), way.known)

    def _existing(self, ways: Ways, node: CompValue, outside: Variables) -> Ways:
        """A solution needs a way of the pattern that must exist, whose own variables nobody sees."""
        inner = self.group(node.graph, outside | ways.variables)
        parts = [
            join(Ways((way,)), Ways(tuple(hidden(one, way.bound, self.fresh) for one in inner.ways)))
            for way in ways.ways
        ]
        found = tuple(way for part in parts for way in part.ways)
        return Ways(found if len(found) <= MOST_WAYS else ways.ways, Strength.NECESSARY, ways.open)

    def vertex(self, node: Any) -> Vertex:
        term = self.query.term(unwrapped(node), self._of_blank)
        return HOME if term == TW.home else term

    def _property(self, node: Any) -> NamedNode:
        return cast(NamedNode, self.query.term(node, self._of_blank))

    def _variable(self, node: Any) -> Variable:
        return self.query.variable(node)

    def _of_blank(self, label: str) -> Variable:
        if label not in self._blank:
            self._blank[label] = self.fresh()
        return self._blank[label]


def _aggregates(node: Any) -> bool:
    if isinstance(node, CompValue) and node.name.startswith("Aggregate_"):
        return True
    return any(map(_aggregates, children(node)))

"""The OPS matcher: an event's typed-statements meet the statement patterns that wait for them."""

from __future__ import annotations

import gc
import logging
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.closure import close
from triplewire.concepts.model import ConceptModel
from triplewire.matching.explanation import Explanation, explain
from triplewire.matching.matcher import Match, TooManyMappingsError, in_order
from triplewire.matching.papers.eventgraph import EventGraph
from triplewire.matching.papers.ops.ems import Contents, EMSArray, Entry
from triplewire.matching.papers.ops.traversal import TypedStatements, traverse
from triplewire.matching.papers.ops.tree import MatchingTree, Rectangle
from triplewire.matching.papers.statements import Label, StatementPattern, SubscriptionGraph, subscription_graph
from triplewire.rdf.graph import Event
from triplewire.subscriptions.pattern import Home, Subscription, Variable

ANY = -1
"""The object of a waiting pattern that may be any vertex."""

log = logging.getLogger(__name__)


class OPS:
    """Takes conjunctions of statement patterns in which paths lead from the home vertex to every other.

    Its work: ``statements`` traversed, ``patterns`` derived, ``comparisons`` of the two, ``nodes`` of all matching
    trees, and trees ``verified`` by their boolean expressions.
    """

    looks_back: ClassVar[bool] = True
    """Whether derived patterns meet what was traversed before them. The printed algorithm forgets to."""

    def __init__(self, model: ConceptModel) -> None:
        self.model = model
        self.work: Counter[str] = Counter()
        self.array = EMSArray(model)
        self.entries: dict[StatementPattern, Entry] = {}
        self._graphs: dict[str, SubscriptionGraph] = {}
        self._subscriptions: dict[str, Subscription] = {}
        self._initial_nodes = 0

    def add(self, subscription: Subscription) -> None:
        graph = subscription_graph(subscription, self.model, "ops")
        if graph.id in self._graphs:
            self.remove(graph.id)
        self._graphs[graph.id] = graph
        self._subscriptions[graph.id] = subscription
        for statement in graph.statements:
            self.entries[statement] = self.array.enter(statement.meta)
        for statement in graph.leaving[0]:
            waiting = self.entries[statement].waiting
            waiting.setdefault(_contents(statement, graph), {})[statement] = graph
        self._initial_nodes += 1 + len(graph.leaving[0])

    def remove(self, id_: str) -> None:
        graph = self._graphs.pop(id_)
        del self._subscriptions[id_]
        for statement in graph.leaving[0]:
            waiting, contents = self.entries[statement].waiting, _contents(statement, graph)
            del waiting[contents][statement]
            if not waiting[contents]:
                del waiting[contents]
        for statement in graph.statements:
            self.array.leave(self.entries.pop(statement))
        self._initial_nodes -= 1 + len(graph.leaving[0])

    def match(self, event: Event, bindings: bool = False) -> list[Match]:
        with _uncollected():
            return self._match(event.id, EventGraph(close(event.graph, self.model)), bindings)

    def _match(self, event: str, graph: EventGraph, bindings: bool) -> list[Match]:
        found = []
        for tree in self.grow(graph):
            try:
                solutions = tree.solutions(graph)
            except TooManyMappingsError as error:
                log.error("subscription %r is passed over on event %r: %s", tree.graph.id, event, error)
                continue
            if solutions:
                rows = in_order(graph.binding(tree.graph, pairs) for pairs in solutions) if bindings else None
                found.append(Match(event, tree.graph.id, 1.0, rows))
        return found

    def explain(self, id_: str, event: Event) -> Explanation:
        return explain(self._subscriptions[id_], event, self.model)

    def grow(self, event: EventGraph) -> list[MatchingTree]:
        """The matching trees of an event, by subscription id; none for subscriptions that nothing in it matches."""
        growth = self._growth(event)
        trees = [tree for _, tree in sorted(growth.trees.items()) if tree is not None]
        self.work["nodes"] += self._initial_nodes
        for tree in trees:
            self.work["nodes"] += len(tree.nodes) - 1 - len(tree.first)
            self.work["verified"] += tree.root.checked
        return trees

    def tree(self, id_: str, event: EventGraph) -> MatchingTree | None:
        """The matching tree of one subscription; None if the event's home vertex does not fit it."""
        return self._growth(event).tree(self._graphs[id_])

    def _growth(self, event: EventGraph) -> Growth:
        growth = Growth(self, event)
        for statements in traverse(event, self.array):
            growth.meet(statements)
        return growth


class WaitingPattern:
    """A derived statement pattern that waits, for all who derived an equal one."""

    __slots__ = ("found", "label", "object", "observers")

    def __init__(self, object_: int, label: Label | None) -> None:
        self.object = object_
        self.label = label
        self.found: list[int] = []
        self.observers: list[tuple[MatchingTree, Rectangle]] = []


class Growth:
    """The matching trees of one event as they grow with its traversal."""

    def __init__(self, matcher: OPS, event: EventGraph) -> None:
        self.trees: dict[str, MatchingTree | None] = {}
        self._array = matcher.array
        self._entries = matcher.entries
        self._looks_back = matcher.looks_back
        self._work = matcher.work
        self._event = event
        self._traversed: dict[tuple[Entry, int], list[int]] = defaultdict(list)
        self._waiting: dict[tuple[Entry, int], dict[tuple[int, Label | None], WaitingPattern]] = defaultdict(dict)
        self._notices: list[tuple[MatchingTree, Rectangle, int]] = []

    def meet(self, statements: TypedStatements) -> None:
        """Match typed-statements with the patterns that wait for them or for an ancestor of theirs, each once."""
        subject, object_, metas = statements
        literal = self._event.literal[object_]
        entries = {entry: None for meta in metas for entry in self._array.at_or_above(meta, literal)}
        self._work["statements"] += len(metas)
        for entry in entries:
            self._traversed[entry, subject].append(object_)
            if subject == self._event.home:
                self._begin(entry, object_)
            for pattern in [*self._waiting[entry, subject].values()]:
                if self._matches(pattern, object_):
                    pattern.found.append(object_)
                    self._notices += [(tree, rectangle, object_) for tree, rectangle in pattern.observers]
        self._follow()

    def _begin(self, entry: Entry, object_: int) -> None:
        """Match an arc from the home vertex with the patterns that wait since before the event."""
        for (constant, label), observers in entry.waiting.items():
            self._work["comparisons"] += 1
            if not self._is(constant, object_) or (label is not None and not self._event.passes(object_, label)):
                continue
            for statement, graph in observers.items():
                tree = self.tree(graph)
                if tree is not None:
                    first = next(rectangle for rectangle in tree.first if rectangle.statement is statement)
                    self._notices.append((tree, first, object_))

    def tree(self, graph: SubscriptionGraph) -> MatchingTree | None:
        if graph.id not in self.trees:
            home, label = self._event.home, graph.home_label
            fits = home is not None and (label is None or self._event.passes(home, label))
            self.trees[graph.id] = MatchingTree(graph, self._event, home) if home is not None and fits else None
        return self.trees[graph.id]

    def _is(self, constant: Home | NamedNode | Literal | None, object_: int) -> bool:
        if constant is None:
            return True
        return object_ == (self._event.home if isinstance(constant, Home) else self._event.number(constant))

    def _matches(self, pattern: WaitingPattern, object_: int) -> bool:
        self._work["comparisons"] += 1
        if pattern.object != ANY and pattern.object != object_:
            return False
        return pattern.label is None or self._event.passes(object_, pattern.label)

    def _follow(self) -> None:
        """Turn notices into circles, and their derived patterns into waiting ones, until there are none."""
        notices, event = self._notices, self._event
        while notices:
            tree, rectangle, object_ = notices.pop()
            for derived in tree.extend(rectangle, object_, event):
                self._wait(tree, derived)

    def _wait(self, tree: MatchingTree, rectangle: Rectangle) -> None:
        """Let a derived pattern wait, after it has met what was traversed before it."""
        statement, pairs = rectangle.statement, rectangle.parent.pairs
        subject = pairs[statement.subject]
        if not self._event.leaving[subject]:
            return  # nothing will come
        label, wanted = statement.label, pairs.get(statement.object)
        if wanted is not None:
            label = None
        elif (constant := tree.graph.constants[statement.object]) is not None:
            wanted = self._event.number(constant)
            if wanted is None:
                return
        else:
            wanted = ANY
        place = (self._entries[statement], subject)
        patterns = self._waiting[place]
        pattern = patterns.get((wanted, label))
        if pattern is None:
            self._work["patterns"] += 1
            pattern = patterns[wanted, label] = WaitingPattern(wanted, label)
            if self._looks_back:
                pattern.found = [o for o in self._traversed.get(place, ()) if self._matches(pattern, o)]
        pattern.observers.append((tree, rectangle))
        if self._looks_back:
            self._notices += [(tree, rectangle, object_) for object_ in pattern.found]


@contextmanager
def _uncollected() -> Iterator[None]:
    """Put off the search for garbage: trees have no cycles, and looking for some as they grow takes half the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _contents(statement: StatementPattern, graph: SubscriptionGraph) -> Contents:
    vertex = graph.vertices[statement.object]
    return None if isinstance(vertex, Variable) else vertex, statement.label

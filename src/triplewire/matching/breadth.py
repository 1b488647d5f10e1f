"""How much a query may have to join on an event, told before it is asked: Oxigraph cannot be told when to stop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from triplewire.concepts.closure import ClosedEvent
from triplewire.rdf.terms import Term, Triple
from triplewire.subscriptions.pattern import Arc, Home, Variable, Vertex
from triplewire.subscriptions.sparql_joins import Joined, Reach

Named: TypeAlias = Callable[[Vertex], Term | None]


class Degrees(NamedTuple):
    """How many arcs there are of a property, and from or to a vertex; of the property None are all."""

    of: Counter[Term | None]
    out: Counter[tuple[Term | None, Term]]
    into: Counter[tuple[Term | None, Term]]
    most_out: dict[Term | None, int]
    most_into: dict[Term | None, int]

    @classmethod
    def counted(cls, arcs: Iterable[Triple]) -> Degrees:
        of: Counter[Term | None] = Counter()
        out: Counter[tuple[Term | None, Term]] = Counter()
        into: Counter[tuple[Term | None, Term]] = Counter()
        for subject, property_, object_ in arcs:
            for key in (property_, None):
                of[key] += 1
                out[key, subject] += 1
                into[key, object_] += 1
        return cls(of, out, into, _most(out), _most(into))


def breadth(joined: Joined, event: ClosedEvent, degrees: Degrees) -> int:
    """The most rows that any group of a query can come to on an event.

    What is joined aside, as an OPTIONAL is, may be joined on its own first, so that it has to be narrow by itself.
    """

    def named(vertex: Vertex) -> Term | None:
        match vertex:
            case Variable():
                return None
            case Home():
                return event.home
            case _:
                return event.name(vertex)

    return max(_rows(group, frozenset(), named, degrees) for group in joined.groups())


def _rows(joined: Joined, outside: frozenset[object], named: Named, degrees: Degrees) -> int:
    """How many rows a group can come to: arc after arc, each time the one that widens them least.

    Of vertices that are found on the way no more is known than how many arcs any vertex has. What a branch finds tells
    nothing of the others.
    """
    left, bound, rows = list(dict.fromkeys(joined.arcs)), set(outside), joined.rows
    while left:
        widths = [_width(arc, bound, named, degrees) for arc in left]
        least = min(widths)
        arc = left.pop(widths.index(least))
        bound.update((arc.subject, arc.property, arc.object))
        rows *= max(least, 1)
    known = frozenset(bound)
    for branch in joined.branches:
        rows *= max(sum(_rows(one, known, named, degrees) for one in branch), 1)
    return rows


def _width(arc: Arc, bound: set[object], named: Named, degrees: Degrees) -> int:
    """How many arcs of the event one may be, at most, where some variables are bound."""
    key = None if isinstance(arc.property, Variable) else arc.property
    from_, to = named(arc.subject), named(arc.object)
    subject, object_ = from_ is not None or arc.subject in bound, to is not None or arc.object in bound
    if isinstance(arc, Reach):
        reached = degrees.of[key] + 1
        return 1 if subject and object_ else reached if subject or object_ else reached**2 + degrees.of[None]
    if subject and object_:
        return 1 if key is not None or arc.property in bound else min(degrees.most_out[None], degrees.most_into[None])
    if subject:
        return degrees.most_out.get(key, 0) if from_ is None else degrees.out[key, from_]
    if object_:
        return degrees.most_into.get(key, 0) if to is None else degrees.into[key, to]
    return degrees.of[key]


def _most(counts: Counter[tuple[Term | None, Term]]) -> dict[Term | None, int]:
    most: dict[Term | None, int] = {None: 0}
    for (key, _), count in counts.items():
        most[key] = max(most.get(key, 0), count)
    return most

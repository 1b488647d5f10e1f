"""Root signatures: the little that must hold at one vertex of an event for a subscription to match at all.

A root is a vertex of a pattern, the home vertex if it names it, with its labels and with one or two of its arcs,
whatever is at their other ends. That is a pattern, too, which matches wherever the whole does; so an index of roots
tells which subscriptions can match an event.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from triplewire.concepts.model import ConceptModel
from triplewire.matching.engine.compile import HOME_KEY, Compiled
from triplewire.matching.engine.segment import Segment
from triplewire.matching.engine.tables import Prepared
from triplewire.subscriptions.pattern import Subscription

ANYTHING = b""
"""The root of what may match any event: an interest, or a subscription that asks nothing of single vertices."""
MOST_ARCS = 2


def roots_of(prepared: Prepared) -> list[bytes]:
    """The roots of a subscription, as texts; where it matches, one of them does."""
    found = {_root(way) for way in prepared.ways}
    return sorted(found | ({ANYTHING} if prepared.interests or not prepared.ways else set()))


def root_segment(roots: Iterable[bytes], model: ConceptModel) -> Segment:
    """The index of roots: root number ``i`` is found under the id that is its number."""
    return Segment.merged(model, new=_prepared(roots))


def _root(way: Compiled) -> bytes:
    if not way.vertices:
        return ANYTHING
    plain = [sorted(label for label in labels if isinstance(label, bytes)) for labels in way.vertices]
    root = max(range(len(plain)), key=lambda v: (HOME_KEY in plain[v], len(plain[v]), -v))
    arcs = sorted({(s == root, p) for s, p, o in way.arcs if root in (s, o)})[:MOST_ARCS]
    if not plain[root] and not arcs:
        return ANYTHING
    labels = [label.decode("latin-1") for label in plain[root]]
    return json.dumps([labels, [[outgoing, p.decode("latin-1")] for outgoing, p in arcs]]).encode()


def _prepared(roots: Iterable[bytes]) -> Iterator[Prepared]:
    for number, text in enumerate(roots):
        if text != ANYTHING:
            labels, arcs = json.loads(text)
            vertices = [frozenset(label.encode("latin-1") for label in labels), *(frozenset() for _ in arcs)]
            ends = [
                (0, p.encode("latin-1"), other) if outgoing else (other, p.encode("latin-1"), 0)
                for other, (outgoing, p) in enumerate(arcs, start=1)
            ]
            way = Compiled(tuple(vertices), tuple(ends), injective=False, decided=True)
            yield Prepared(Subscription(str(number), ()), (way,), ())

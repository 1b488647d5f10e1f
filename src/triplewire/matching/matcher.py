"""What every matcher does, and what it says of a match."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from pyoxigraph import NamedNode

from triplewire.concepts.similarity import Pair
from triplewire.errors import SubscriptionError
from triplewire.rdf.graph import Event
from triplewire.subscriptions.pattern import Subscription

if TYPE_CHECKING:
    from triplewire.matching.explanation import Explanation

Binding: TypeAlias = dict[str, str]
"""A solution: terms in N-Triples syntax by variable, ``{"?1": "_:pc"}``; an unbound variable is left out."""


MOST_BINDINGS = 10_000
"""More bindings of one match than this are not told."""

MOST_MAPPINGS = 200_000
"""The oracle and the papers' matchers give up on a pattern with more mappings than this, at any step."""

MOST_STEPS = 50_000
"""The engine tries so many arcs and vertices for a pattern, and if it has found no mapping by then, gives it up."""


class TooManyMappingsError(Exception):
    """The pattern leaves so much open that its mappings cannot all be looked at."""


@dataclass(frozen=True)
class Match:
    """An event trips a subscription. ``bindings`` is None where nobody asked for them.

    Where somebody asked for bindings, ``graph`` is what a CONSTRUCT query made of the event, as lines of N-Triples, and
    ``pairs`` are the concepts whose similarity made the score.
    """

    event: str
    subscription: str
    score: float = 1.0
    bindings: tuple[Binding, ...] | None = None
    graph: tuple[str, ...] | None = None
    pairs: tuple[Pair, ...] = ()

    def as_line(self) -> str:
        """The JSON line that the command line prints."""
        record: dict[str, object] = {"event": self.event, "subscription": self.subscription, "score": self.score}
        if self.bindings is not None:
            record["bindings"] = self.bindings
        if self.graph is not None:
            record["graph"] = self.graph
        if self.pairs:
            record["pairs"] = [{name: _told(part) for name, part in vars(pair).items()} for pair in self.pairs]
        return json.dumps(record, ensure_ascii=False)


class Lapse(NamedTuple):
    """A subscription was given up on an event: whether it matches would have taken too long to find out."""

    event: str
    subscription: str
    reason: str


def _told(part: object) -> object:
    return str(part) if isinstance(part, NamedNode) else part


class Matcher(Protocol):
    """Keeps subscriptions and finds those that an event trips.

    Matchers differ in what they can express. ``work`` counts what was done for events, by names that each matcher
    tells; it grows until its owner clears it.
    """

    work: Counter[str]

    def add(self, subscription: Subscription) -> None:
        """Keep a subscription; one with the same id is replaced. What cannot be expressed is ``refused``."""

    def remove(self, id_: str) -> None:
        """Forget a subscription; an unknown id is a ``KeyError``."""

    def match(self, event: Event, bindings: bool = False) -> list[Match]:
        """The matches of an event, by subscription id in code-point order."""

    def explain(self, id_: str, event: Event) -> Explanation:
        """Why an event trips a subscription, or what is missing; an unknown id is a ``KeyError``."""


def refused(matcher: str, what: object) -> SubscriptionError:
    """The error of a matcher that cannot express a part of a subscription, which it names."""
    return SubscriptionError(f"the {matcher} matcher takes no {what}")


def in_order(bindings: Iterable[Binding]) -> tuple[Binding, ...]:
    """Bindings in the order of their JSON text with sorted keys, the first of them if they are very many."""
    rows = ({name: row[name] for name in sorted(row)} for row in bindings)
    return tuple(sorted(rows, key=lambda row: json.dumps(row, ensure_ascii=False))[:MOST_BINDINGS])

"""What a match tells, the same for every matcher that finds the mappings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from triplewire.concepts.closure import ClosedEvent
from triplewire.concepts.similarity import Pair
from triplewire.matching.matcher import Binding, Match, TooManyMappingsError, in_order
from triplewire.matching.residual import constructed, solutions
from triplewire.rdf.terms import Term
from triplewire.subscriptions.pattern import Alternative, Residual, Subscription, Vertex

Image = Callable[[Vertex], Term | None]


def told(alternative: Alternative, image: Image) -> Binding:
    """What one mapping of an alternative's pattern tells; ``image`` says where it sends a vertex or property."""
    answer = alternative.answer
    if answer is None:
        answer = tuple((variable, variable) for variable in alternative.pattern.variables)
    return {str(name): str(term) for name, vertex in answer if (term := image(vertex)) is not None}


def outcome(
    subscription: Subscription, event: ClosedEvent, rows: Sequence[list[Binding] | None], bindings: bool
) -> list[Binding] | None:
    """The bindings of a match, an empty list if nobody asks for them; None if the subscription does not match.

    ``rows`` holds for each alternative what its mappings tell, and None where its pattern has no mapping. Of the
    residuals each is checked once, and only if one of its patterns matches.
    """
    found: list[list[Binding]] = []
    residuals: dict[Residual, None] = {}
    for alternative, row in zip(subscription.alternatives, rows, strict=True):
        if row is not None and alternative.residual is None:
            found.append(row)
        elif row is not None and alternative.residual is not None:
            residuals[alternative.residual] = None
    found += [rows_ for residual in residuals if (rows_ := solutions(residual, event)) is not None]
    if not found:
        return None
    if not bindings or subscription.bindings == "none":
        return []
    if subscription.answer is not None:
        found = []
        with suppress(TooManyMappingsError):  # that it matches is known; what it tells would take too long
            found = [solutions(subscription.answer, event) or []]
    everything = [row for rows_ in found for row in rows_]
    return _distinct(everything) if subscription.bindings == "distinct" else everything


def told_match(
    id_: str,
    subscription: Subscription,
    event: ClosedEvent,
    score: float,
    rows: list[Binding],
    pairs: tuple[Pair, ...] = (),
) -> Match:
    """The match of the event called ``id_``, with all that it tells: bindings, pairs, and the graph of a CONSTRUCT."""
    query = subscription.answer
    graph: tuple[str, ...] | None = None
    if query is not None and query.form == "CONSTRUCT":
        try:
            graph = constructed(query, event)
        except TooManyMappingsError:
            graph = ()
    return Match(id_, subscription.id, score, in_order(rows), graph, pairs)


def _distinct(rows: Iterable[Binding]) -> list[Binding]:
    return list({tuple(sorted(row.items())): row for row in rows}.values())

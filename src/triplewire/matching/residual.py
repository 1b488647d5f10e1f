"""Residuals: the part of a subscription that Oxigraph decides, on G*.

A query that may have to join more than ``MOST_ROWS`` on an event is not asked: that is a ``TooManyMappingsError``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import TypeAlias, cast

from pyoxigraph import (
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    QueryBoolean,
    QuerySolution,
    QuerySolutions,
    QueryTriples,
    Store,
    Variable,
)

from triplewire.concepts.closure import ClosedEvent
from triplewire.matching.breadth import Degrees, breadth
from triplewire.matching.matcher import MOST_BINDINGS, Binding, TooManyMappingsError
from triplewire.rdf.terms import RDF, TW, Resource, Term, Triple, renamed
from triplewire.subscriptions.pattern import Residual
from triplewire.subscriptions.sparql_text import replace_iris

Forms: TypeAlias = dict[Term, Term]

MOST_ROWS = 1_000_000
"""Oxigraph joins about as many in a second."""


def solutions(residual: Residual, event: ClosedEvent) -> list[Binding] | None:
    """The residual's solutions with their multiplicity, or None if it has none."""
    if residual.needs_home and event.home is None:
        return None
    found = _asked(residual, event)
    if isinstance(found, QueryBoolean):
        return [] if found else None
    own = _own(residual, event)
    if isinstance(found, QueryTriples):
        return [] if any(True for _ in found) else None
    rows = [_binding(found.variables, row, own) for row in islice(found, MOST_BINDINGS)]
    if not rows:
        return None
    return rows if residual.form == "SELECT" else []


def constructed(residual: Residual, event: ClosedEvent) -> tuple[str, ...]:
    """The graph that a CONSTRUCT query makes of an event, as lines of N-Triples in order."""
    own = _own(residual, event)
    triples = cast(QueryTriples, _asked(residual, event))
    lines = {" ".join(str(own.get(term, term)) for term in triple) + " ." for triple in islice(triples, MOST_BINDINGS)}
    return tuple(sorted(lines))


def _asked(residual: Residual, event: ClosedEvent) -> QueryBoolean | QuerySolutions | QueryTriples:
    """Oxigraph's answer on G*. The query names things as the event does; a blank home vertex goes by ``tw:home``."""
    from triplewire.subscriptions.sparql import joined  # which loads the parser

    if breadth(joined(residual.query), event, _degrees(event.closed)) > MOST_ROWS:
        raise TooManyMappingsError(f"the query may have to join more than {MOST_ROWS:,} rows")
    names = {name: own for name in residual.names if (own := event.name(name)) != name}
    blank: Resource | None = None
    if residual.needs_home and isinstance(event.home, NamedNode):
        names[TW.home] = event.home
    elif residual.needs_home and event.home is not None:
        blank = event.home
    store = _store(event.closed, blank)
    query = replace_iris(residual.query, {n.value: str(own) for n, own in names.items()}) if names else residual.query
    return store.query(query)


@lru_cache(maxsize=2)
def _degrees(triples: frozenset[Triple]) -> Degrees:
    return Degrees.counted(triples)


@lru_cache(maxsize=2)  # an event's residuals come one after the other
def _store(triples: frozenset[Triple], blank: Resource | None) -> Store:
    """Triples as Oxigraph reads them, a blank home vertex under the name ``tw:home``."""
    names: dict[Resource, Resource] = {} if blank is None else {blank: TW.home}
    store = Store()
    store.extend(Quad(*renamed(triple, names), DefaultGraph()) for triple in triples)
    return store


def _own(residual: Residual, event: ClosedEvent) -> Forms:
    """The event's own form of what Oxigraph writes otherwise."""
    forms = dict(_forms(event.closed))
    if residual.needs_home and event.home is not None and not isinstance(event.home, NamedNode):
        forms[TW.home] = event.home
    return forms


@lru_cache(maxsize=2)
def _forms(triples: frozenset[Triple]) -> Forms:
    return written_forms(triples)


def written_forms(triples: Iterable[Triple]) -> Forms:
    """The event's own form of each literal that Oxigraph would write otherwise: ``1.50`` for its ``1.5``."""
    literals = {t.object for t in triples if isinstance(t.object, Literal)}
    written = sorted(literals, key=str, reverse=True)
    scratch = Store()
    scratch.extend(Quad(TW[str(n)], RDF.value, literal) for n, literal in enumerate(written))
    forms: Forms = {}
    for n, literal in enumerate(written):
        kept = next(scratch.quads_for_pattern(TW[str(n)], None, None)).object
        if isinstance(kept, Literal) and kept not in literals:
            forms[kept] = literal
    return forms


def _binding(variables: Sequence[Variable], row: QuerySolution, own: Forms) -> Binding:
    pairs = zip(variables, row, strict=True)
    return {str(variable): str(own.get(term, term)) for variable, term in pairs if term is not None}

"""Residuals: the part of a subscription that Oxigraph decides, on G*."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    Store,
    Variable,
)

from triplewire.concepts.closure import ClosedEvent
from triplewire.matching.matcher import MOST_BINDINGS, Binding
from triplewire.rdf.terms import RDF, TW, Resource, Term, Triple, renamed
from triplewire.subscriptions.pattern import Residual
from triplewire.subscriptions.sparql import replace_home

Forms: TypeAlias = dict[Term, Term]


def solutions(residual: Residual, event: ClosedEvent) -> list[Binding] | None:
    """The residual's solutions with their multiplicity, or None if it has none.

    A query names things as the model does, and the home vertex ``tw:home``; its solutions name them as the event does.
    """
    if residual.needs_home and event.home is None:
        return None
    outer: dict[Resource, Resource] = {event.names[name]: name for name in event.model.names.values()}
    query = residual.query
    if residual.needs_home and isinstance(event.home, NamedNode):
        query = replace_home(query, str(outer.get(event.home, event.home)))
    elif residual.needs_home and event.home is not None:
        outer[event.home] = TW.home
    store = Store()
    store.extend(Quad(*renamed(triple, outer), DefaultGraph()) for triple in event.closed)
    found = store.query(query)
    if isinstance(found, QueryBoolean):
        return [] if found else None
    own = written_forms(event.closed) | {name: term for term, name in outer.items()}
    found = cast(QuerySolutions, found)
    rows = [_binding(found.variables, row, own) for row in islice(found, MOST_BINDINGS)]
    if not rows:
        return None
    return rows if residual.form == "SELECT" else []


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

"""Residuals: the part of a subscription that Oxigraph decides, on G*."""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import DefaultGraph, Literal, Quad, QueryBoolean, QuerySolutions, Store

from triplewire.concepts.closure import ClosedEvent
from triplewire.matching.matcher import Binding
from triplewire.rdf.terms import RDF, TW, Term, Triple
from triplewire.subscriptions.pattern import Residual

HOME = TW.home


def solutions(residual: Residual, event: ClosedEvent) -> list[Binding] | None:
    """The residual's solutions with their multiplicity, or None if it has none.

    A query names things as the model does, and the home vertex ``tw:home``; its solutions name them as the event does.
    """
    if residual.needs_home and event.home is None:
        return None
    home = event.home if residual.needs_home else None
    outer = {own: model_name for model_name, own in _own_names(event).items()}
    if home is not None:
        outer[home] = HOME
    store = Store()
    store.extend(
        Quad(outer.get(s, s), p, outer.get(o, o), DefaultGraph())  # type: ignore[arg-type]
        for s, p, o in event.closed
    )
    found = store.query(residual.query)
    if isinstance(found, QueryBoolean):
        return [] if found else None
    own = written_forms(event.closed) | {name: term for term, name in outer.items()}
    assert isinstance(found, QuerySolutions)
    names = [variable.value for variable in found.variables]
    rows = [{f"?{n}": str(own.get(row[n], row[n])) for n in names if row[n] is not None} for row in found]
    if not rows:
        return None
    return rows if residual.form == "SELECT" else []


def written_forms(triples: Iterable[Triple]) -> dict[Term, Term]:
    """The event's own form of each literal that Oxigraph would write otherwise: ``1.50`` for its ``1.5``."""
    literals = {t.object for t in triples if isinstance(t.object, Literal)}
    written = sorted(literals, key=str, reverse=True)
    scratch = Store()
    scratch.extend(Quad(TW[str(n)], RDF.value, literal) for n, literal in enumerate(written))
    forms: dict[Term, Term] = {}
    for n, literal in enumerate(written):
        kept = next(scratch.quads_for_pattern(TW[str(n)], None, None)).object
        if kept not in literals:
            forms[kept] = literal
    return forms


def _own_names(event: ClosedEvent) -> dict[Term, Term]:
    """The event's own name for each thing that the model has one name for."""
    return {name: event.name(name) for name in set(event.model.names.values())}



"""Residuals: the part of a subscription that Oxigraph decides, on G*."""

from __future__ import annotations

from pyoxigraph import DefaultGraph, Quad, QueryBoolean, Store, Variable

from triplewire.concepts.closure import ClosedEvent
from triplewire.matching.matcher import Binding
from triplewire.rdf.terms import TW, Term
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
    own = {name: term for term, name in outer.items()}
    names = [Variable(v.value) for v in found.variables]  # type: ignore[union-attr]
    rows = [
        {f"?{name.value}": str(own.get(row[name], row[name])) for name in names if row[name] is not None}  # type: ignore[index]
        for row in found
    ]
    if not rows:
        return None
    return rows if residual.form == "SELECT" else []


def _own_names(event: ClosedEvent) -> dict[Term, Term]:
    """The event's own name for each thing that the model has one name for."""
    return {name: event.name(name) for name in set(event.model.names.values())}



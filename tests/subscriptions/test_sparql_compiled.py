"""Compiled ``sparql`` subscriptions against Oxigraph's own answer on the materialised G*."""

from __future__ import annotations

from random import Random

import pytest
from pyoxigraph import BlankNode, DefaultGraph, Quad, QueryBoolean, QueryTriples, Store

from tests import queries, worlds
from triplewire.concepts.closure import close
from triplewire.errors import SubscriptionError
from triplewire.matching.brute import match_one
from triplewire.matching.matcher import TooManyMappingsError, in_order
from triplewire.matching.translated import _names, materialise
from triplewire.matching.translation import prefixed
from triplewire.rdf.graph import Event
from triplewire.rdf.terms import TW, renamed
from triplewire.subscriptions.languages import parse_subscription


def parsed(text, model):
    return parse_subscription({"id": "s", "language": "sparql", "pattern": text}, model)


def oxigraph(query: str, event: Event, model):
    """The bindings, None without a solution, by Oxigraph on G* alone. The home vertex goes by ``tw:home``."""
    names = _names(event.graph, model)
    home = event.graph.home and names.get(event.graph.home, event.graph.home)
    text = prefixed(queries.said(query, names))
    if "tw:home" in query and home is None:
        return None
    outer = {}
    if "tw:home" in query and isinstance(home, BlankNode):
        outer = {home: TW.home}
    elif "tw:home" in query:
        text = text.replace("tw:home", str(home))
    store = Store()
    closed = materialise(event.graph, model, names).quads_for_pattern(None, None, None, DefaultGraph())
    store.extend(Quad(*renamed(quad.triple, outer)) for quad in closed)
    found = store.query(text)
    if isinstance(found, QueryBoolean):
        return () if found else None
    own = {name: term for term, name in outer.items()}
    if isinstance(found, QueryTriples):
        return (
            () if bool(store.query(text.replace(text[text.index("CONSTRUCT") : text.index("WHERE")], "ASK "))) else None
        )
    rows = [
        {str(v): str(own.get(term, term)) for v, term in zip(found.variables, row, strict=True) if term is not None}
        for row in found
    ]
    return in_order(rows) if rows else None


def compared(rng: Random, simple: bool = False):
    model = worlds.model(rng)
    event = Event("source", "event", worlds.graph(rng, most=20))
    query = queries.query(rng, simple)
    expected = oxigraph(query, event, model)
    found = match_one(parsed(queries.said(query), model), close(event.graph, model))
    return query, event, model, expected, in_order(found[1]) if found else None


PARTS = [range(start, start + 200) for start in (0, 500, 1_000)]
"""Seeds, in parts, so that a failure tells its part soon."""
NO_CASE = (SyntaxError, SubscriptionError, TooManyMappingsError)
"""A query that Oxigraph refuses, say for a blank node in two groups, or that leaves too much open."""


@pytest.mark.parametrize("simple", [False, True], ids=["all of sparql", "what is compiled"])
@pytest.mark.parametrize("seeds", PARTS, ids=str)
def test_a_compiled_query_means_what_oxigraph_answers(seeds, simple):
    tried = 0
    for seed in seeds:
        try:
            query, _, _, expected, found = compared(Random(seed), simple)
        except NO_CASE:
            continue
        tried += 1
        assert found == expected, f"seed {seed}: {query}"
    assert tried > len(seeds) / 2

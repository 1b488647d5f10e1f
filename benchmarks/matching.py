"""Brute force beside what a user would write without us: one ASK for each subscription, in Oxigraph and in rdflib.

The subscriptions are the auction's paper pattern with varying class and price; all three must find the same matches.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pyoxigraph
import rdflib

from benchmarks.report import report
from triplewire import load_model, make_matcher, parse_event, parse_subscription
from triplewire.concepts.closure import close
from triplewire.rdf.graph import Event
from triplewire.rdf.syntax import write
from triplewire.testing import cloud_event

PREFIXES = {"ex": "http://example.org/auction#", "units": "http://example.org/units#"}
CLASSES = ["Product", "Computer", "DesktopPC", "NotebookPC", "Book", "EBook", "DigitalProduct", "MP3"]
OPS = """(_:H, ?1, (ex:Selling, ex:target, ex:{0}))
(_:H, ?2, (ex:Selling, ex:price, ex:MoneyValue))
(?2, units:dollar, (ex:MoneyValue, ex:currency, daml:Thing))
(?2, ?3, (ex:MoneyValue, rdf:value, xsd:decimal), ?3 < {1})"""
ASK = """PREFIX ex: <http://example.org/auction#> PREFIX units: <http://example.org/units#>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
ASK {{ ?h a ex:Selling; ex:target ?t; ex:price ?m . ?t a ex:{0} .
  ?m a ex:MoneyValue; ex:currency units:dollar; rdf:value ?v FILTER(?v < {1}) }}"""
OFFER = """@prefix ex: <http://example.org/auction#> . @prefix units: <http://example.org/units#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
_:H a ex:Selling ; ex:target [ a ex:{0} ] ; ex:price [ a ex:MoneyValue ; ex:currency units:dollar ; rdf:value {1} ] ."""


def main(subscriptions: int = 200, events: int = 20) -> None:
    rng = random.Random(1)
    model = load_model([Path(__file__).parents[1] / "examples/auction/ontology.ttl"])
    wanted = [(rng.choice(CLASSES), f"{rng.randint(50, 500)}.5") for _ in range(subscriptions)]
    offers = [
        parse_event(cloud_event(OFFER.format(rng.choice(CLASSES), f"{rng.randint(1, 500)}.0"))) for _ in range(events)
    ]
    brute = make_matcher("brute", model)
    for number, (cls, price) in enumerate(wanted):
        record = {"id": f"{number:06}", "language": "ops", "pattern": OPS.format(cls, price), "prefixes": PREFIXES}
        brute.add(parse_subscription(record, model))
    asks = [ASK.format(*want) for want in wanted]

    def ours(event: Event) -> set[int]:
        return {int(match.subscription) for match in brute.match(event)}

    def oxigraph(event: Event) -> set[int]:
        store = pyoxigraph.Store()
        store.extend(pyoxigraph.Quad(*triple) for triple in close(event.graph, model).closed)
        return {number for number, ask in enumerate(asks) if store.query(ask)}

    def in_rdflib(event: Event) -> set[int]:
        graph = rdflib.Graph().parse(data=write(close(event.graph, model).closed), format="nt")
        return {number for number, ask in enumerate(asks) if graph.query(ask).askAnswer}

    few = offers[:2]
    assert [ours(e) for e in offers] == [oxigraph(e) for e in offers]
    assert [ours(e) for e in few] == [in_rdflib(e) for e in few]
    times = {
        "brute force": _ms(ours, offers),
        "Oxigraph, ASK each": _ms(oxigraph, offers),
        "rdflib, ASK each": _ms(in_rdflib, few),
    }
    rows = [
        {"matcher": n, "ms an event": f"{t:.1f}", "times brute force": f"{t / times['brute force']:.2f}"}
        for n, t in times.items()
    ]
    report("matching", f"{subscriptions} `ops` subscriptions, {events} offers of 9 triples, one process.", rows)


def _ms(match: Callable[[Event], set[int]], events: list[Event]) -> float:
    start = time.perf_counter()
    for event in events:
        match(event)
    return (time.perf_counter() - start) / len(events) * 1000


if __name__ == "__main__":
    main()

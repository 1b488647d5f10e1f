"""Helpers for testing your own subscriptions, ontologies and events.

::

    def test_cheap_notebooks_trip_my_subscription():
        assert trips(NOTEBOOK_AT_380, MY_SUBSCRIPTION, ontology=SHOP)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from triplewire.concepts.load import model_of, read_ontology
from triplewire.lift.cloudevents import parse_event
from triplewire.matching import BruteForce, Match
from triplewire.subscriptions.languages import parse_subscription


def trips(event: str | Mapping[str, Any], subscription: Mapping[str, Any], ontology: str = "") -> Match | None:
    """The match, with its bindings, if an event trips a subscription; else None.

    ``event`` is a CloudEvent or just its graph in Turtle, ``subscription`` a record (its ``id`` may be left out), and
    ``ontology`` a Turtle text. The oracle decides, so that the answer is the definition's.
    """
    model = model_of(read_ontology(ontology, "text/turtle", "ontology"))
    matcher = BruteForce(model)
    matcher.add(parse_subscription({"id": "subscription", **subscription}, model))
    matches = matcher.match(parse_event(cloud_event(event) if isinstance(event, str) else event), bindings=True)
    return matches[0] if matches else None


def cloud_event(turtle: str, **attributes: str) -> dict[str, str]:
    """A CloudEvent that carries a graph in Turtle."""
    envelope = {"specversion": "1.0", "id": "event", "source": "/testing", "type": "testing"}
    return envelope | {"datacontenttype": "text/turtle", "data": turtle} | attributes

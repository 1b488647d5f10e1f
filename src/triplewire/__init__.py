"""Semantic publish/subscribe: RDF events meet graph-pattern subscriptions.

The library in five lines::

    model = load_model([Path("ontology.ttl")])
    matcher = make_matcher("brute", model)
    matcher.add(parse_subscription({"id": "s1", "language": "ops", "pattern": "…"}, model))
    for match in matcher.match(parse_event(cloud_event), bindings=True):
        print(match.as_line())
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triplewire.concepts.load import load_model as load_model
    from triplewire.concepts.model import ConceptModel as ConceptModel
    from triplewire.errors import EventError as EventError
    from triplewire.errors import OntologyError as OntologyError
    from triplewire.errors import StoreError as StoreError
    from triplewire.errors import SubscriptionError as SubscriptionError
    from triplewire.errors import TriplewireError as TriplewireError
    from triplewire.errors import UsageError as UsageError
    from triplewire.lift.cloudevents import parse_event as parse_event
    from triplewire.lift.cloudevents import parse_events as parse_events
    from triplewire.lift.lifting import Lifting as Lifting
    from triplewire.lift.lifting import load_lifting as load_lifting
    from triplewire.lift.lower import lower as lower
    from triplewire.matching import Match as Match
    from triplewire.matching import Matcher as Matcher
    from triplewire.matching import make_matcher as make_matcher
    from triplewire.matching.explanation import Explanation as Explanation
    from triplewire.matching.explanation import explain as explain
    from triplewire.rdf.graph import Event as Event
    from triplewire.subscriptions.languages import parse_subscription as parse_subscription
    from triplewire.subscriptions.pattern import Subscription as Subscription

__version__ = "0.1.0"

# The public names and their homes. They are imported when first asked for, so that `import triplewire` costs nothing.
_HOMES = {
    "ConceptModel": "concepts.model",
    "Event": "rdf.graph",
    "EventError": "errors",
    "Explanation": "matching.explanation",
    "Lifting": "lift.lifting",
    "Match": "matching",
    "Matcher": "matching",
    "OntologyError": "errors",
    "StoreError": "errors",
    "Subscription": "subscriptions.pattern",
    "SubscriptionError": "errors",
    "TriplewireError": "errors",
    "UsageError": "errors",
    "explain": "matching.explanation",
    "load_lifting": "lift.lifting",
    "load_model": "concepts.load",
    "lower": "lift.lower",
    "make_matcher": "matching",
    "parse_event": "lift.cloudevents",
    "parse_events": "lift.cloudevents",
    "parse_subscription": "subscriptions.languages",
}
__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'triplewire' has no attribute {name!r}")
    return getattr(import_module(f"triplewire.{_HOMES[name]}"), name)

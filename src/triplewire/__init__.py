"""Semantic publish/subscribe: RDF events meet graph-pattern subscriptions."""

__version__ = "0.1.0"

"""The web page, a module a page. Pages are rendered here; their scripts ask the HTTP API as everybody does."""

from __future__ import annotations

from triplewire.broker.web import (
    dead_letters,
    home,
    notifications,
    ontology,
    publish,
    signing,
    sources,
    subscribe,
    subscriptions,
)
from triplewire.broker.web.frame import STATIC

PAGES = (home, subscribe, publish, notifications, subscriptions, ontology, dead_letters, sources)

__all__ = ["PAGES", "STATIC", "signing"]

"""The web page, a module a page. Pages are rendered here; their scripts ask the HTTP API as everybody does."""

from __future__ import annotations

from triplewire.broker.web import home, signing
from triplewire.broker.web.frame import STATIC

PAGES = (home,)

__all__ = ["PAGES", "STATIC", "signing"]

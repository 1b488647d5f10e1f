"""The default vocabulary: the property that a bare key, element, attribute or column stands for."""

from __future__ import annotations

from urllib.parse import quote, unquote

from pyoxigraph import NamedNode

KEYS = "urn:triplewire:key:"


def key_property(key: str) -> NamedNode:
    """The property of a key: the key itself, percent-encoded, under ``urn:triplewire:key:``."""
    return NamedNode(KEYS + quote(key, safe="", errors="surrogatepass"))


def key_of(property_: NamedNode) -> str | None:
    """The key that a property stands for; None if it is not of the default vocabulary."""
    return unquote(property_.value[len(KEYS) :]) if property_.value.startswith(KEYS) else None

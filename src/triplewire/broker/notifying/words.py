"""Terms and notifications in a person's words."""

from __future__ import annotations

import re

from triplewire.store import Notification

_LITERAL = re.compile(r'("(?:[^"\\]|\\.)*")(?:\^\^<[^>]*>|(@[-\w]+))?')
_LOCAL_NAME = re.compile(r"<.*?([^/#:<>]+)[/#]?>")


def short(term: str) -> str:
    """A term in N-Triples syntax without the parts that a person reads over: datatype and namespace."""
    if literal := _LITERAL.fullmatch(term):
        return literal[1] + (literal[2] or "")
    local = _LOCAL_NAME.fullmatch(term)
    return local[1] if local else term


def line(found: Notification) -> str:
    """A notification as one line: who was told of what, and the first way in which it matched."""
    bindings = found.bindings[0] if found.bindings else {}
    how = ", ".join(f"{variable} = {short(term)}" for variable, term in sorted(bindings.items()))
    return f"✓ {found.subscription} ← {found.event}" + (f"   ({how})" if how else "")

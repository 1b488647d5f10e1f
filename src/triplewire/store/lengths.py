"""How long names may be. An index of PostgreSQL takes rows of 2,700 bytes, and refuses all that is written with one."""

from __future__ import annotations

from triplewire.errors import UsageError

LONGEST_ID = 1024
"""Of an event or of a subscription. A notification's row has one of each, and the id of an entry besides."""
LONGEST_ADDRESS = 1500
"""Of a source, or of a place that something is sent to."""
LONGEST_CONCEPTS = 1000
"""Of a proposed concept and its parent together."""
ESCAPE = 4


def length(text: str) -> int:
    """How many bytes a text takes, with those of the escapes for what PostgreSQL has no sign for."""
    return len(text.encode("utf-8", "replace")) + ESCAPE * text.count("\0")


def check_length(what: str, text: str, most: int) -> None:
    """Refuse a name that is too long to be kept."""
    if length(text) > most:
        raise UsageError(f"{what} should have at most {most:,} bytes, not {length(text):,}")

"""Every error that Triplewire raises on purpose.

TriplewireError
├── EventError            an event that cannot be read, lifted or accepted
├── OntologyError         an ontology that cannot be read
├── SubscriptionError     a subscription that cannot be understood; knows language, line and column
├── UsageError            a call that cannot be carried out as asked
├── StoreError            the store cannot do what is needed of it
│   ├── StoreAwayError    … as its server is away, or somebody else keeps it locked
│   ├── StoreReadOnlyError … as it may only be read
│   └── StoreFullError    … as its disk is full
├── DiskFullError         there is no room left for what has to be kept
└── IndexFolderError      a folder that holds no index, or a damaged one

Each carries a sentence a user can act on. ``as_dict`` is what the command line and the broker print.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


class TriplewireError(Exception):
    """Something is wrong that the user can mend."""

    def as_dict(self) -> dict[str, Any]:
        return {"error": type(self).__name__, "message": str(self)}


class EventError(TriplewireError):
    """An event that cannot be read, lifted or accepted."""


class OntologyError(TriplewireError):
    """An ontology that cannot be read."""


class UsageError(TriplewireError):
    """A call that cannot be carried out as asked."""


class StoreError(TriplewireError):
    """The store cannot do what is needed of it."""


class StoreAwayError(StoreError):
    """The store's server is away, or went away meanwhile, or somebody else keeps the store locked.

    Whether what was to be written just then is there or not, nobody can tell; everything before it is.
    """


class StoreReadOnlyError(StoreError):
    """The store may only be read. Nothing of what was to be written is there, and everything else still is."""


class StoreFullError(StoreError):
    """The store's disk is full. Nothing of what was to be written is there, and everything else still is."""


class DiskFullError(TriplewireError):
    """There is no room left for what has to be kept."""


class IndexFolderError(TriplewireError):
    """A folder that holds no index, or a damaged one."""


@dataclass(frozen=True)
class Place:
    """Where in a text something stands: one-based line and column, and the line itself."""

    line: int
    column: int
    text: str

    @classmethod
    def of(cls, source: str, line: int, column: int) -> Place:
        lines = source.split("\n")
        return cls(line, column, lines[min(line, len(lines)) - 1])

    @classmethod
    def at(cls, source: str, offset: int) -> Place:
        start = source.rfind("\n", 0, offset) + 1
        return cls.of(source, source.count("\n", 0, offset) + 1, offset - start + 1)

    def caret(self) -> str:
        return f"{self.text}\n{' ' * (self.column - 1)}^"


class SubscriptionError(TriplewireError):
    """A subscription that cannot be understood."""

    def __init__(
        self,
        message: str,
        *,
        language: str | None = None,
        place: Place | None = None,
        expected: Iterable[str] = (),
        nearest: str | None = None,
    ) -> None:
        self.reason = message
        self.language = language
        self.place = place
        self.expected = tuple(expected)
        self.nearest = nearest
        super().__init__(message)

    @classmethod
    def at(cls, text: str, line: int, column: int, message: str, *, language: str) -> SubscriptionError:
        """An error at a place in a text."""
        return cls(message, language=language, place=Place.of(text, line, column))

    def __str__(self) -> str:
        head = f"{self.language}: " if self.language else ""
        where = f"line {self.place.line}, column {self.place.column}: " if self.place else ""
        tail = f" Expected {_either(self.expected)}." if self.expected else ""
        hint = f" Did you mean {self.nearest}?" if self.nearest else ""
        return f"{head}{where}{self.reason}{tail}{hint}"

    def as_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = super().as_dict()
        if self.language:
            found["language"] = self.language
        if self.place:
            found |= {"line": self.place.line, "column": self.place.column, "excerpt": self.place.caret()}
        if self.expected:
            found["expected"] = list(self.expected)
        if self.nearest:
            found["nearest"] = self.nearest
        return found


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that a misspelt one most likely meant."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.75)
    return close[0] if close else None


def _either(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"

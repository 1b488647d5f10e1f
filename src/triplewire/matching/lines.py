"""Lines of files in, lines of output out: what ``triplewire match`` and the batch job share, so that they agree.

Where a result is a text it is a match's line, and where it is a dict it tells what was refused, and why.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

from triplewire.concepts.model import ConceptModel
from triplewire.errors import EventError, SubscriptionError, UsageError
from triplewire.lift.cloudevents import open_envelope, parse_envelope
from triplewire.lift.lifting import DEFAULT, Lifting
from triplewire.matching.matcher import Lapse, Match, Matcher
from triplewire.rdf.graph import Event
from triplewire.subscriptions.pattern import Subscription

Refusal: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """A line of a file, by its one-based number."""

    file: str
    number: int
    text: bytes


def read_lines(path: Path) -> Iterator[Line]:
    """The lines of a file that are not blank. A line ends with a line feed, and with nothing else."""
    try:
        with path.open("rb") as file:
            for number, text in enumerate(file, start=1):
                if text.strip():
                    yield Line(str(path), number, text)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None


@dataclass(frozen=True)
class Entry:
    """A subscription of a file, with its record and where that stood."""

    line: Line
    record: Mapping[str, Any]
    subscription: Subscription


def read_subscriptions(lines: Iterable[Line], model: ConceptModel) -> Iterator[Entry | Refusal]:
    """The subscriptions of a file; one that cannot be read is refused, and so is a second one of the same id."""
    from triplewire.subscriptions.languages import parse_subscription  # which loads the parsers

    taken: set[str] = set()
    for line in lines:
        id_ = None
        try:
            record = record_of(line)
            id_ = record.get("id")
            subscription = parse_subscription(record, model)
            if subscription.id in taken:
                raise _repeated(subscription.id)
        except SubscriptionError as error:
            yield _refusal(line, id_, error)
        else:
            taken.add(subscription.id)
            yield Entry(line, record, subscription)


def add_subscriptions(lines: Iterable[Line], matcher: Matcher, model: ConceptModel) -> Iterator[Refusal]:
    """Add subscriptions to a matcher; those that cannot be read, and those that it cannot express, are refused."""
    for found in read_subscriptions(lines, model):
        if isinstance(found, dict):
            yield found
            continue
        try:
            matcher.add(found.subscription)
        except SubscriptionError as error:
            yield _refusal(found.line, found.subscription.id, error)


def refusal_of_repeated(id_: str) -> Refusal:
    """What is told of a subscription whose id another one before it has."""
    return {"subscription": id_} | _told(_repeated(id_))


def _repeated(id_: str) -> SubscriptionError:
    return SubscriptionError(f"there is a subscription {id_!r} already")


def _refusal(line: Line, id_: object, error: SubscriptionError) -> Refusal:
    return {"subscription": id_, "file": line.file, "line": line.number} | _told(error)


def match_lines(
    lines: Iterable[Line], matcher: Matcher, bindings: bool = False, lifting: Lifting = DEFAULT
) -> Iterator[str | Refusal]:
    """Match events in order. One with the source and id of an earlier one is the same event again, and is ignored."""
    seen: set[str] = set()
    for line in lines:
        key = identity(line.text, lifting.size_limit)
        if key is None or key not in seen:
            yield from match_line(line, matcher, bindings, lifting)
        if key is not None:
            seen.add(key)


def identity(text: bytes, size_limit: int = DEFAULT.size_limit) -> str | None:
    """What tells a line's event, or events, from others: the source and id. None if the line is no event."""
    try:
        envelope = parse_envelope(text, size_limit)
    except EventError:
        return None
    return json.dumps([envelope.source, envelope.id])


def match_line(
    line: Line, matcher: Matcher, bindings: bool = False, lifting: Lifting = DEFAULT
) -> Iterator[str | Refusal]:
    """The matches of a line's events, entry by entry, each by subscription id; or the line's refusal."""
    id_ = None
    try:
        envelope = parse_envelope(line.text, lifting.size_limit)
        id_ = envelope.id
        told = [match_or_lapse(matcher, event, bindings) for event in open_envelope(envelope, lifting)]
    except EventError as error:
        yield {"event": id_, "file": line.file, "line": line.number} | error.as_dict()
    except Exception as error:  # whatever is wrong with an event, the others go on
        reason = {"error": type(error).__name__, "message": str(error)}
        yield {"event": id_, "file": line.file, "line": line.number} | reason
    else:
        yield from (_writable(match.as_line()) for matches, _ in told for match in matches)
        for lapse in (one for _, lapses in told for one in lapses):
            yield refusal_of_lapse(*lapse, {"file": line.file, "line": line.number})


def match_or_lapse(matcher: Matcher, event: Event, bindings: bool) -> tuple[list[Match], list[Lapse]]:
    """The matches of an event, and, by a matcher that tells, the subscriptions that were given up on it."""
    if isinstance(matcher, Tells):
        return matcher.match_or_lapse(event, bindings)
    return matcher.match(event, bindings), []


@runtime_checkable
class Tells(Protocol):
    """A matcher that tells what it has given up."""

    def match_or_lapse(self, event: Event, bindings: bool = False) -> tuple[list[Match], list[Lapse]]: ...


def refusal_of_lapse(event: str, subscription: str, reason: str, place: Mapping[str, Any]) -> Refusal:
    """What is told of a subscription that was given up on the event at a place."""
    return {"event": event, "subscription": subscription, **place, "error": "GivenUp", "message": reason}


def record_of(line: Line) -> dict[str, Any]:
    """The subscription's record that a line holds."""
    try:
        record = json.loads(line.text)
    except json.JSONDecodeError as error:
        raise SubscriptionError(f"not JSON: column {error.colno}: {error.msg}") from None
    except UnicodeDecodeError as error:
        raise SubscriptionError(f"not UTF-8: {error.reason} at offset {error.start}") from None
    except ValueError as error:  # a number of thousands of digits
        raise SubscriptionError(f"not JSON that can be read: {error}") from None
    except RecursionError:
        raise SubscriptionError("the JSON is nested too deeply") from None
    if not isinstance(record, dict):
        raise SubscriptionError(f"a subscription is a JSON object, not {type(record).__name__}")
    return record


def _told(error: SubscriptionError) -> Refusal:
    """The error's own account, its place in the pattern kept apart from the place in the file."""
    told = error.as_dict()
    place = {name: told.pop(name) for name in ("line", "column", "excerpt") if name in told}
    return told | ({"place": place} if place else {})


def _writable(line: str) -> str:
    """A JSON line with half characters, which JSON's escapes can smuggle in and no encoding can hold, as escapes."""
    return line.encode("utf-8", "backslashreplace").decode()

"""Dead letters over HTTP: what was refused and why, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Response

from triplewire.broker.access.gate import Caller
from triplewire.broker.access.users import Publisher
from triplewire.broker.http.bodies import ExactJSONResponse, json_object
from triplewire.broker.http.pages import Paged
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.http.tags import IfMatch, IfNoneMatch, check_unchanged, tagged
from triplewire.broker.state import Shared, State
from triplewire.lift.cloudevents import Envelope
from triplewire.lift.documents import read_json
from triplewire.lift.places import place_in
from triplewire.store import DeadLetter

router = APIRouter(prefix="/v1/dead-letters", tags=["events"])

Body = Annotated[dict[str, Any], Depends(json_object)]
Position = Annotated[int, Path(ge=0, lt=1 << 63)]
InState = Annotated[Literal["open", "dismissed", "republished"] | None, Query(description="Only those in this state.")]
Contains = Annotated[str, Query(max_length=200, description="Only those whose reason, source or id has this in it.")]
Newest = Annotated[bool, Query(description="The newest first, instead of in log order.")]


@router.get("")
def list_dead_letters(
    caller: Publisher,
    shared: Shared,
    page: Paged,
    state: InState = None,
    contains: Contains = "",
    newest: Newest = False,
) -> ExactJSONResponse:
    """The caller's events that were accepted and could not be matched, with the reason, in log order."""
    rows = shared.store.dead_letters(page.after, page.more, caller.only, contains, state, newest)
    return page.of(rows, shown_letter, lambda found: found.position)


@router.get("/{position}")
def read_dead_letter(
    caller: Publisher, shared: Shared, position: Position, if_none_match: IfNoneMatch = None
) -> Response:
    """A refused event: as it came, why it was refused, where in it that is, and what became of it."""
    return tagged(shown_letter(letter_at(position, caller, shared)), if_none_match)


@router.patch("/{position}")
def change_dead_letter(
    caller: Publisher, shared: Shared, position: Position, body: Body, if_match: IfMatch = None
) -> Response:
    """Note that nothing is to be done about a refused event, ``{"state": "dismissed"}``, or something is: ``open``.

    One that is mended is published with ``POST /v1/events?mends=…``, and is then ``republished``.
    """
    letter_at(position, caller, shared)

    def check() -> None:
        check_unchanged(shown_letter(letter_at(position, caller, shared)), if_match)

    match body:
        case {"state": "dismissed"} if len(body) == 1:
            shared.store.settle_letter(position, check=check)
        case {"state": "open"} if len(body) == 1:
            shared.store.reopen_letter(position, check)
        case _:
            detail = 'what can be changed is \'state\', to "dismissed" or "open"'
            raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail)
    return tagged(shown_letter(letter_at(position, caller, shared)), None)


def letter_at(position: int, caller: Caller, shared: State) -> DeadLetter:
    """A dead letter, if the caller may see it; else it is as if there were none."""
    found = shared.store.dead_letter(position)
    if found is None or not caller.sees(found.publisher):
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no dead letter at position {position}")
    return found


def check_mended(position: int, envelopes: Sequence[Envelope], caller: Caller, shared: State) -> None:
    """Refuse what cannot take the place of a dead letter: several events, or one that is the same by source and id."""
    letter = letter_at(position, caller, shared)
    if len(envelopes) != 1:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, "a dead letter is mended by one event, not by a batch")
    if (envelopes[0].source, envelopes[0].id) == (letter.source, letter.id):
        detail = (
            f"the event {letter.id!r} of {letter.source} is in the log already, broken; give the mended one a new id"
        )
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail)


def shown_letter(letter: DeadLetter) -> dict[str, Any]:
    event = read_json(letter.body) if letter.body else None
    return {
        "position": letter.position,
        "event": letter.id,
        "source": letter.source,
        "reason": letter.reason,
        "created": letter.created,
        "state": letter.state,
        "settled": letter.settled,
        "republished": letter.republished,
        "place": place_in(event or {}, letter.reason) or None,
        "cloudevent": event,
    }

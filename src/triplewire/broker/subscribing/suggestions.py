"""People's profiles, and what they are offered because somebody who knows them was told of it."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request, Response

from triplewire.broker.access.users import Subscriber
from triplewire.broker.http.bodies import ExactJSONResponse, media_type, read_body, text_of, unsupported
from triplewire.broker.http.pages import Paged
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.http.tags import IfNoneMatch, tagged
from triplewire.broker.state import Shared
from triplewire.broker.subscribing.subscriptions import understood
from triplewire.concepts.load import read_ontology
from triplewire.lift.documents import read_json
from triplewire.rdf.syntax import FORMATS
from triplewire.rdf.terms import Triple
from triplewire.store import StoredSuggestion
from triplewire.subscriptions.profiles import Person, holders, interests, people

router = APIRouter(tags=["people"])

Number = Annotated[int, Path(ge=1, lt=1 << 63)]


async def _triples(request: Request) -> list[Triple]:
    kind = media_type(request)
    if kind not in FORMATS:
        raise unsupported(kind, tuple(FORMATS))
    return read_ontology(text_of(await read_body(request)), kind, "profiles")


@router.post("/v1/profiles")
def put_profiles(
    caller: Subscriber, shared: Shared, profiles: Annotated[list[Triple], Depends(_triples)]
) -> dict[str, Any]:
    """Take in people's profiles, as RDF by the profile scheme, for the events to come.

    Each interest is a subscription of the one who has it, called by its IRI; one that is there already is changed.
    Who has declined suggestions still does. Nothing is taken in unless all can be understood. Only an administrator
    may put profiles of others.
    """
    owners = holders(profiles)
    everybody, records = list(people(profiles)), list(interests(profiles))
    new = sum(shared.store.subscription(record["id"]) is None for record in records)
    shared.allowance.check_subscriptions(caller, new, webhooks=0)
    for name in sorted({*owners.values(), *(person.id for person in everybody)}):
        caller.acts_for(name)
    model = shared.models.current()
    for number, record in enumerate(records):
        shared.allowance.check_record(record)
        records[number], _ = understood(record, owners[record["id"]], shared.store, model)
        current = shared.store.subscription(record["id"])
        if current is not None and current.owner != owners[record["id"]]:
            raise ProblemError(
                HTTPStatus.CONFLICT, f"there is a subscription {record['id']!r} of somebody else already"
            )
    for number, person in enumerate(everybody):
        known = shared.store.people.now(person.id)
        declines = person.declines or (known is not None and known.declines)
        everybody[number] = replace(person, declines=declines)
        shared.store.people.put(everybody[number])
    for record in records:
        if shared.store.subscription(record["id"]) is None:
            shared.store.subscribe(record, owners[record["id"]])
        else:
            shared.store.revise(record)
    return {"people": [_person(person) for person in everybody], "subscriptions": [record["id"] for record in records]}


@router.get("/v1/profiles/{person:path}")
def read_profile(caller: Subscriber, shared: Shared, person: str, if_none_match: IfNoneMatch = None) -> Response:
    """Whom a person knows, and what they consent to."""
    found = shared.store.people.now(person)
    if found is None or not caller.sees(person):
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no profile of {person!r}")
    return tagged(_person(found), if_none_match)


@router.get("/v1/suggestions")
def list_suggestions(caller: Subscriber, shared: Shared, page: Paged, person: str | None = None) -> ExactJSONResponse:
    """What a person is offered, in the order in which it arose. Whoever was told of it is not named."""
    rows = shared.store.people.offered(page.after, page.more, caller.acts_for(person))
    return page.of(rows, shown, lambda found: found.number)


@router.post("/v1/suggestions/{number}/decline")
def decline(caller: Subscriber, shared: Shared, number: Number, person: str | None = None) -> dict[str, Any]:
    """Say no for good: the person whom this was offered to is offered nothing from the log position ``since`` on."""
    whose = caller.acts_for(person)
    found = shared.store.people.offered(number - 1, 1, whose)
    if not found or found[0].number != number:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no suggestion {number} for {whose!r}")
    return {"person": found[0].person, "declines": True, "since": shared.store.people.decline(found[0].person)}


def shown(found: StoredSuggestion) -> dict[str, Any]:
    return {
        "id": found.number,
        "kind": "suggestion",
        "event": found.event,
        "source": found.source,
        "position": found.position,
        "person": found.person,
        "subscription": found.subscription,
        "score": found.score,
        "created": found.created,
        "cloudevent": read_json(found.body) if found.body else None,
    }


def _person(person: Person) -> dict[str, Any]:
    known = sorted(person.knows)
    return {"id": person.id, "knows": known, "shares": person.shares, "declines": person.declines}

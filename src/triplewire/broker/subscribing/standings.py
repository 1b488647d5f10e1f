"""How the caller's subscriptions stand: what they mean, what they have matched, and how it is delivered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query

from triplewire.broker.access.users import Subscriber
from triplewire.broker.delivery.deliveries import status
from triplewire.broker.http.bodies import ExactJSONResponse
from triplewire.broker.http.pages import Paged
from triplewire.broker.state import Shared, State
from triplewire.broker.subscribing.subscriptions import shown
from triplewire.concepts.model import ConceptModel
from triplewire.errors import SubscriptionError
from triplewire.lift.documents import write_json
from triplewire.store import Revision
from triplewire.store.inbox import END
from triplewire.store.moments import now
from triplewire.store.terms import state_of
from triplewire.subscriptions.english import sentence
from triplewire.subscriptions.languages import parse_subscription

MOST_COUNTED = 1000
"""What waits to be delivered is counted up to here."""
LONGEST_TEXT = 200
SubscriptionState = Literal["active", "paused", "expired"]
Language = Literal["ops", "gtopss", "sparql", "filter", "interest"]
Text = Annotated[str, Query(max_length=LONGEST_TEXT, description="Is in the id or in the pattern.")]

router = APIRouter(tags=["subscriptions"])


@router.get("/v1/standings")
def list_standings(
    caller: Subscriber,
    shared: Shared,
    page: Paged,
    text: Text = "",
    language: Language | None = None,
    state: SubscriptionState | None = None,
) -> ExactJSONResponse:
    """The subscriptions that stand, the last changed first; those with a text, of a language or in a state.

    Each with what it ``means``, how many ``notifications`` there were and the ``last`` one, and how its delivery is.
    Some thousands are looked at at a time: there may be a next page though this one is not full.
    """
    chosen = fitting(text, language, state)
    found, following = shared.store.newest_subscriptions(page.after or END, page.limit, caller.only, chosen)
    return page.told(standings(found, shared), following)


def fitting(text: str, language: str | None, state: str | None) -> Callable[[Revision], bool] | None:
    """Whether a subscription is one of those that are asked for; none, if all are."""
    words, moment = text.strip().casefold(), now()
    if not (words or language or state):
        return None

    def fits(revision: Revision) -> bool:
        record = revision.record
        return (
            (not language or record.get("language") == language)
            and (not state or state_of(record, moment) == state)
            and (not words or words in revision.id.casefold() or words in write_json(record["pattern"]).casefold())
        )

    return fits


def standings(found: Sequence[Revision], shared: State) -> list[dict[str, Any]]:
    """How some subscriptions stand."""
    store, model = shared.store, shared.models.current()
    latest = store.latest_of({one.id: one.owner for one in found})
    deliveries = store.deliveries.of(one.id for one in found)
    waiting = store.deliveries.waiting_up_to(deliveries, MOST_COUNTED)
    told = []
    for one in found:
        last, to = latest.get(one.id), deliveries.get(one.id)
        told.append(
            shown(one)
            | meaning(one.record, model)
            | {
                "notifications": last.count if last else 0,
                "last": {"id": last.number, "created": last.created} if last else None,
                "delivery": status(to, waiting[one.id], shared) if to else None,
            }
        )
    return told


def meaning(record: dict[str, Any], model: ConceptModel) -> dict[str, Any]:
    """What a subscription says in English, or why it says nothing any more."""
    try:
        return {"means": sentence(parse_subscription(record, model), model), "problem": None}
    except SubscriptionError as error:
        return {"means": "", "problem": str(error)}

"""Subscriptions over HTTP: create, list, read, change, end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Any, TypeAlias
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Request, Response

from triplewire.broker.access.gate import Caller
from triplewire.broker.access.users import Subscriber
from triplewire.broker.http.bodies import ExactJSONResponse, json_object
from triplewire.broker.http.pages import Paged
from triplewire.broker.http.patches import merged
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.http.repeats import WITH_KEY, fresh_id, is_repeatable, repeatable
from triplewire.broker.http.tags import IfMatch, IfNoneMatch, check_unchanged, tag_of, tagged
from triplewire.broker.model import problem
from triplewire.broker.state import Shared, State
from triplewire.broker.subscribing.places import invite, place, shown_place
from triplewire.broker.subscribing.trial import FURTHER, MOST_EVENTS, trial
from triplewire.concepts.model import ConceptModel
from triplewire.concepts.proposed import Proposal, word_for
from triplewire.concepts.synonyms import words_in
from triplewire.errors import SubscriptionError, UsageError, nearest
from triplewire.lift.documents import check_depth
from triplewire.store import Revision, Store, moment_of, terms
from triplewire.store.lengths import LONGEST_ID, check_length
from triplewire.store.moments import now
from triplewire.store.terms import EXPIRED, expiry_of, state_of, terms_of
from triplewire.subscriptions.interest import words_of
from triplewire.subscriptions.languages import parse_subscription, proposals
from triplewire.subscriptions.pattern import Subscription

READ_ONLY = ("since", "created", "warnings", "problem", "owner", "lapses")
MEMBERS = ("id", "language", "pattern", "mapping", "threshold", "prefixes", "own", *terms.MEMBERS)
"""What means something in a record."""
DELIVERY = "delivery"
"""A member that is no part of the record, which is for everybody who matches: it has a secret in it."""
OVERLAP = timedelta(days=1)
"""So long is a secret that was replaced used beside the new one."""
DEPTH = 100
MOST_OWN = 10_000
PAGE = 100

router = APIRouter(prefix="/v1/subscriptions", tags=["subscriptions"], route_class=repeatable())


Check: TypeAlias = Callable[[], None]
Body = Annotated[dict[str, Any], Depends(json_object)]
DryRun = Annotated[bool, Query(alias="dry-run", description="Create nothing; tell what it would come to.")]
Newest = Annotated[int, Query(ge=1, le=FURTHER * MOST_EVENTS, description="So many events a dry run looks at.")]


@router.post("", status_code=HTTPStatus.CREATED, dependencies=[WITH_KEY])
def subscribe(
    caller: Subscriber,
    request: Request,
    shared: Shared,
    body: Body,
    dry_run: DryRun = False,
    events: Newest = MOST_EVENTS,
) -> ExactJSONResponse:
    """Create a subscription. It matches every event after the log position ``since``.

    With ``delivery``, such as ``{"channel": "webhook", "url": "https://…", "secret": "whsec_…"}``, its notifications
    are sent there. On what terms: ``state`` (``paused``: it matches, and nothing is sent), ``expiresAt`` (it matches no
    event received after), ``priority`` (0 to 9), ``throttling`` (the least time between two sendings), ``digest``
    (``hourly``, ``daily`` or a duration), ``duplicates`` (for how long the same content is not told again).

    With ``dry-run=true`` nothing is created: it is told what the subscription means, which of the
    caller's own cover it or are covered by it, and what it would have matched of the newest events, today's ontology
    given.
    """
    owner = caller.acts_for(body.get("owner"))
    model = shared.models.current()
    shared.allowance.check_record(_writable(body))
    asked = body.get(DELIVERY)
    webhooks = int(asked is not None)
    if not dry_run:
        shared.allowance.check_subscriptions(caller, 1, webhooks)
    record, parsed = understood({"id": fresh_id(request), **_writable(body)}, owner, shared.store, model)
    to = None if asked is None else place(asked, None, shared)
    if dry_run:
        others = (one for one in own_subscriptions(owner, shared, model) if one.id != record["id"])
        return ExactJSONResponse(trial(record, parsed, model, others, shared.recent, events))
    invite(to, owner, shared)
    try:
        again = lambda: shared.allowance.check_subscriptions(caller, 1, webhooks)  # noqa: E731 - many may come at once
        since = shared.store.subscribe(record, owner, to, again)
    except UsageError as error:
        standing = shared.store.subscription(record["id"])
        if not is_repeatable(request) or standing is None or (standing.record, standing.owner) != (record, owner):
            raise ProblemError(HTTPStatus.CONFLICT, str(error)) from None
        since = standing.since
    shared.store.propose(proposals(record, parsed, model), owner, record["id"])
    state = state_of(record, now())
    answer = {**record, "state": state, "owner": owner, "since": since, "warnings": list(parsed.warnings)}
    return _answer(caller, shared, record["id"], answer, HTTPStatus.CREATED)


@router.get("")
def list_subscriptions(caller: Subscriber, shared: Shared, page: Paged) -> ExactJSONResponse:
    """The subscriptions that stand now, the longest unchanged first."""
    rows = shared.store.subscriptions(page.after, page.more, caller.only)
    to = _delivered(shared, (row.id for row in rows))
    return page.of(rows, lambda row: shown(row) | to.get(row.id, {}), lambda row: row.change)


@router.get("/{subscription_id:path}")
def read_subscription(
    caller: Subscriber, shared: Shared, subscription_id: str, if_none_match: IfNoneMatch = None
) -> Response:
    """A subscription as it stands now, with its ``problem`` if the ontology of today leaves it without a meaning.

    ``lapses`` tells on how many events it was given up, as it takes too long to find out whether it matches, and of
    the last one the reason. It is no part of the tag.
    """
    found = content(caller, shared, subscription_id)
    count, last = shared.store.lapses(subscription_id, found["owner"])
    told = {"lapses": {"count": count, "last": asdict(last)}} if last is not None else {}
    return tagged(found, if_none_match, told)


@router.patch("/{subscription_id:path}")
def change_subscription(
    caller: Subscriber, shared: Shared, body: Body, subscription_id: str, if_match: IfMatch = None
) -> Response:
    """Change some members (a JSON merge patch). The change holds for the events after the log position ``since``.

    A new ``secret`` in ``delivery`` replaces the one before, which is used beside it for a day.
    """
    if body.get("id", subscription_id) != subscription_id:
        raise ProblemError(HTTPStatus.BAD_REQUEST, "a subscription keeps its id; create another one instead")
    check_depth(body, DEPTH)
    model = shared.models.current()
    revision = shared.subscription(subscription_id, caller)
    answer: dict[str, Any] = {"owner": revision.owner}
    new: list[Proposal] = []

    def change(record: dict[str, Any]) -> dict[str, Any]:
        check_unchanged(content(caller, shared, subscription_id), if_match)
        shared.allowance.check_record(merged(record, _writable(body)))
        changed, parsed = understood(merged(record, _writable(body)), revision.owner, shared.store, model)
        new.extend(proposals(changed, parsed, model))
        state = state_of(changed, now())
        answer.update(changed, state=state, warnings=list(parsed.warnings))
        return changed

    deliver = _delivering(caller, shared, revision, body)
    if not _writable(body):
        deliver(lambda: check_unchanged(content(caller, shared, subscription_id), if_match))
        return tagged(content(caller, shared, subscription_id), None)
    try:
        since = shared.store.amend(subscription_id, change)
    except UsageError:
        raise _unknown(subscription_id) from None
    deliver(lambda: None)
    shared.store.propose(new, revision.owner, subscription_id)
    return _answer(caller, shared, subscription_id, answer | {"since": since}, HTTPStatus.OK)


@router.delete("/{subscription_id:path}")
def unsubscribe(caller: Subscriber, shared: Shared, subscription_id: str, if_match: IfMatch = None) -> dict[str, Any]:
    """End a subscription. It matches no event from the log position ``until`` on."""
    shared.subscription(subscription_id, caller)

    def check() -> None:
        check_unchanged(content(caller, shared, subscription_id), if_match)

    try:
        return {"id": subscription_id, "until": shared.store.unsubscribe(subscription_id, check)}
    except UsageError:
        raise _unknown(subscription_id) from None


def content(caller: Caller, shared: State, id_: str) -> dict[str, Any]:
    """What a GET shows of a subscription."""
    revision = shared.subscription(id_, caller)
    reason = problem(revision.record, shared.models.current())
    to = _delivered(shared, [id_]).get(id_, {})
    return shown(revision) | to | ({"problem": reason} if reason else {})


def _answer(caller: Caller, shared: State, id_: str, told: dict[str, Any], status: HTTPStatus) -> ExactJSONResponse:
    """What is told of a subscription that was made or changed, with the tag that it has now."""
    headers = {"ETag": tag_of(content(caller, shared, id_))}
    if status == HTTPStatus.CREATED:
        headers["Location"] = f"{router.prefix}/{quote(id_, safe='')}"
    return ExactJSONResponse(told | _delivered(shared, [id_]).get(id_, {}), status, headers)


def own_subscriptions(owner: str, shared: State, model: ConceptModel) -> Iterator[Subscription]:
    """An owner's subscriptions that can be understood, and have not expired."""
    after, moment = 0, now()
    while found := shared.store.subscriptions(after, PAGE, owner):
        for revision in found:
            if state_of(revision.record, moment) != EXPIRED:
                with suppress(SubscriptionError):
                    yield parse_subscription(revision.record, model)
        after = found[-1].change


def shown(revision: Revision) -> dict[str, Any]:
    told = {"owner": revision.owner, "since": revision.since, "created": revision.created}
    return {**revision.record, "state": state_of(revision.record, now()), **told}


def understood(
    record: dict[str, Any], owner: str, store: Store, model: ConceptModel
) -> tuple[dict[str, Any], Subscription]:
    """A record and what it says; with its owner's own words for concepts, if it cannot be understood without."""
    try:
        check_length("a subscription's id", str(record.get("id", "")), LONGEST_ID)
        terms_of(record), expiry_of(record)
    except UsageError as error:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None
    try:
        return record, _warned(parse_subscription(record, model), record)
    except SubscriptionError:
        own = _own_words(record, owner, store) if record.get("language") == "interest" else {}
        if not own:
            raise
    record = record | {"own": own | record.get("own", {})}
    return record, _warned(parse_subscription(record, model), record)


def _warned(parsed: Subscription, record: dict[str, Any]) -> Subscription:
    """With a warning of members that mean nothing and look like ones that do. Others are the owner's to keep there."""
    unknown = ((name, nearest(name, MEMBERS)) for name in record if name not in MEMBERS)
    misspelt = (f"{name!r} means nothing here; did you mean {near!r}?" for name, near in unknown if near)
    return replace(parsed, warnings=(*parsed.warnings, *misspelt))


def _own_words(record: dict[str, Any], owner: str, store: Store) -> dict[str, str]:
    """Those of a record's words that its owner proposed and that are open, with what they were put under."""
    wanted = words_of(record.get("pattern"))
    made = (one.proposal for one in store.proposals(limit=MOST_OWN, state="open", proposer=owner))
    return {str(one.concept): str(one.parent) for one in made if words_in(word_for(one.concept)) in wanted}


def _writable(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in (*READ_ONLY, DELIVERY)}


def _delivering(caller: Caller, shared: State, revision: Revision, body: dict[str, Any]) -> Callable[[Check], None]:
    """What has a subscription delivered as is asked, once all else is done; what is asked is checked here.

    It is given what is to be checked right before it is written.
    """
    deliveries, id_ = shared.store.deliveries, revision.id
    if DELIVERY not in body:
        return lambda check: check()
    if body[DELIVERY] is None:
        return lambda check: deliveries.remove(id_, check)
    known = deliveries.of([id_]).get(id_)
    shared.allowance.check_subscriptions(caller, 0, webhooks=int(known is None))
    to = place(body[DELIVERY], known, shared)
    if known is None or known.url != to.url or "to" in body[DELIVERY]:
        invite(to, revision.owner, shared)

    def deliver(check: Check) -> None:
        def checked() -> None:
            check()
            shared.allowance.check_subscriptions(caller, 0, webhooks=int(id_ not in deliveries.of([id_])))

        deliveries.put(id_, to, moment_of(datetime.now(UTC) + OVERLAP), revision.owner, checked)

    return deliver


def _delivered(shared: State, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Where subscriptions are delivered to, of those that are."""
    return {id_: {DELIVERY: shown_place(one)} for id_, one in shared.store.deliveries.of(ids).items()}


def _unknown(id_: str) -> ProblemError:
    return ProblemError(HTTPStatus.NOT_FOUND, f"there is no subscription {id_!r}")

"""Mailboxes: asked before anything is sent to them, and able to stop it by a click.

The routes are for people who read mail and have no account here: what they may do is said by the token in the link.
Opening a link changes nothing, as programs that look through mail open them, too; the button on the page does.
"""

from __future__ import annotations

import hmac
import re
from datetime import UTC, datetime
from html import escape
from http import HTTPStatus
from secrets import token_urlsafe
from smtplib import SMTPException
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from triplewire.broker.delivery.mailer import CONFIRM, UNSUBSCRIBE, question
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.state import Shared, State
from triplewire.errors import UsageError
from triplewire.rdf.syntax import FORMATS
from triplewire.store import Delivery, Mailbox

CHANNEL = "email"
MEMBERS = ("channel", "to", "format")
ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,253}")

router = APIRouter(tags=["mailboxes"])

Token = Annotated[str, Query(max_length=200)]


def mailbox(asked: dict[str, Any], known: Delivery | None, shared: State) -> Mailbox:
    """The mailbox that the member ``delivery`` of a subscription asks for; what it leaves out stays as it is known."""
    if unknown := sorted(set(asked) - set(MEMBERS)):
        raise _bad(f"'delivery' by e-mail has no member {unknown[0]!r}; there are {', '.join(MEMBERS)}")
    before = known if known is not None and known.channel == CHANNEL else None
    address = asked.get("to", before.url.removeprefix("mailto:") if before else None)
    format_ = asked.get("format", before.format if before else "text/turtle")
    if not isinstance(address, str) or not ADDRESS.fullmatch(address):
        raise _bad("'delivery' by e-mail needs 'to', an address such as ann@example.org")
    if format_ not in FORMATS:
        raise _bad(f"'format' should be one of {', '.join(FORMATS)}")
    if shared.mailer is None:
        raise _bad("no mail is sent from here, as there is no mail server: smtp-host is not set")
    return Mailbox(f"mailto:{address}", before.secrets[0] if before else token_urlsafe(24), format_)


def ask(address: str, owner: str, shared: State) -> None:
    """Ask whoever reads the mail at an address whether they want a user's notifications, unless they do."""
    try:
        token = shared.store.mailboxes.ask(owner, address, datetime.now(UTC))
    except UsageError as error:
        raise ProblemError(HTTPStatus.TOO_MANY_REQUESTS, str(error)) from None
    if token is not None and shared.mailer is not None:
        try:
            shared.mailer.send(question(address, owner, token, shared.mailer))
        except (OSError, SMTPException):
            shared.store.mailboxes.forget(token)
            raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, "no mail can be sent now; try again later") from None


def shown_mailbox(delivery: Delivery) -> dict[str, Any]:
    return {"channel": CHANNEL, "to": delivery.url.removeprefix("mailto:"), "format": delivery.format}


@router.get(CONFIRM, response_class=HTMLResponse)
def show_confirmation(token: Token) -> HTMLResponse:
    """A page with a button that agrees to get mail."""
    return _page("Do you want to get notifications by mail?", CONFIRM, token, "Yes, send them")


@router.post(CONFIRM, response_class=HTMLResponse)
def confirm(shared: Shared, token: Token) -> HTMLResponse:
    """Agree to get mail at the address that the token was sent to."""
    address = shared.store.mailboxes.confirm(token, datetime.now(UTC))
    if address is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, "this link is not good any more; ask for another one")
    return _page(f"Notifications will be sent to {address}.")


@router.get(UNSUBSCRIBE, response_class=HTMLResponse)
def show_unsubscription(token: Token) -> HTMLResponse:
    """A page with a button that pauses a subscription."""
    return _page("Do you want no more of these messages?", UNSUBSCRIBE, token, "Pause them")


@router.post(UNSUBSCRIBE, response_class=HTMLResponse)
def unsubscribe(shared: Shared, token: Token) -> HTMLResponse:
    """Pause the subscription that a message was sent for, as its reader asks, or their mail program (RFC 8058)."""
    number, _, secret = token.partition(".")
    numbers = [int(number)] if re.fullmatch("[0-9]{1,15}", number) else []
    known = next(iter(shared.store.deliveries.at(numbers).values()), None)
    good = known is not None and known.channel == CHANNEL
    if known is None or not good or not hmac.compare_digest(known.secrets[0].encode(), secret.encode()):
        raise ProblemError(HTTPStatus.NOT_FOUND, "this link is not good any more")
    shared.store.pause(known.subscription)
    return _page("It is paused. Whoever set it up can have it go on, and nothing is lost.")


def _page(said: str, action: str = "", token: str = "", button: str = "") -> HTMLResponse:
    form = f'<form method="post" action="{action}?token={escape(token)}"><button>{button}</button></form>'
    policy = {"Content-Security-Policy": "default-src 'none'; form-action 'self'; frame-ancestors 'none'"}
    title = "<!doctype html><html lang=en><meta charset=utf-8><title>Triplewire</title>"
    return HTMLResponse(f"{title}<h1>{escape(said)}</h1>{form if button else ''}</html>", headers=policy)


def _bad(detail: str) -> ProblemError:
    return ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail)

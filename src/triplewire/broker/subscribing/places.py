"""Places that notifications are sent to, as the member ``delivery`` of a subscription names them."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from triplewire.broker.delivery import mailboxes, webhooks
from triplewire.broker.http.problems import ProblemError
from triplewire.broker.state import State
from triplewire.store import Delivery, Mailbox, Webhook


def place(asked: object, known: Delivery | None, shared: State) -> Webhook | Mailbox:
    """The place that is asked for; what is left out stays as it is known."""
    if isinstance(asked, dict):
        channel = asked.get("channel", known.channel if known else webhooks.CHANNEL)
        if channel == mailboxes.CHANNEL:
            return mailboxes.mailbox(asked, known, shared)
        if channel == webhooks.CHANNEL:
            before = known if known is not None and known.channel == channel else None
            return webhooks.webhook(asked, before, shared.addresses)
    raise ProblemError(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        '\'delivery\' should be an object such as {"channel": "webhook", "url": …, "secret": …} '
        'or {"channel": "email", "to": …}',
    )


def invite(to: Webhook | Mailbox | None, owner: str, shared: State) -> None:
    """Ask the reader of a mailbox, if they have not agreed yet."""
    if isinstance(to, Mailbox):
        mailboxes.ask(to.url.removeprefix("mailto:"), owner, shared)


def shown_place(delivery: Delivery) -> dict[str, Any]:
    """What a place was set up as, without its secret, which is told to nobody."""
    shown = mailboxes.shown_mailbox if delivery.channel == mailboxes.CHANNEL else webhooks.shown_webhook
    return shown(delivery)

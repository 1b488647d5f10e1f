"""Mail: notifications for people, through a mail server that we are told of."""

from __future__ import annotations

import asyncio
import smtplib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import EmailPolicy
from html import escape
from urllib.parse import quote

from triplewire.broker.delivery.mailer import UNSUBSCRIBE, Mailer
from triplewire.broker.delivery.parcels import Parcel, is_joined
from triplewire.broker.delivery.retries import Answer
from triplewire.broker.delivery.webhooks import digest_id, message_id
from triplewire.broker.notifying.notifications import rdf_of
from triplewire.broker.notifying.words import line
from triplewire.lift.lifting import Lifting
from triplewire.store import Delivery, Notification

SENDING = ThreadPoolExecutor(8, thread_name_prefix="mail")
"""Threads of their own, as a mail server that hangs would else hold up everything that needs a thread."""
LONGEST_RDF = 20_000


class _WholeLinks(EmailPolicy):
    """Writes ids and links of the header in one line: in pieces, or encoded, no mail program would know them."""

    def fold_binary(self, name: str, value: str) -> bytes:
        if name in ("Message-ID", "List-Unsubscribe"):
            return f"{name}: {value}{self.linesep}".encode()
        return super().fold_binary(name, value)


WHOLE_LINKS = _WholeLinks()


@dataclass(frozen=True)
class Mail:
    """The channel: a message for a notification, or for several that go together."""

    mailer: Mailer | None
    lifting: Lifting

    def prepare(self, delivery: Delivery, parcel: Parcel) -> EmailMessage:
        several, joined = parcel.notifications, is_joined(delivery)
        links = self.mailer.links if self.mailer else ""
        message = EmailMessage(WHOLE_LINKS)
        message["To"] = delivery.url.removeprefix("mailto:")
        message["Subject"] = _one_line(_subject(several, joined))
        id_ = digest_id(several) if joined else message_id(several[0])
        message["Message-ID"] = f"<{id_}@{(self.mailer.sender if self.mailer else '').rpartition('@')[2]}>"
        stop = f"{links}{UNSUBSCRIBE}?token={delivery.number}.{quote(delivery.secrets[0])}"
        message["List-Unsubscribe"] = f"<{stop}>"
        message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
        parts = [_told(one, delivery.format, self.lifting, links) for one in several]
        bye = f"To pause these messages: {stop}\n"
        message.set_content("\n".join((*("\n".join(part) for part in parts), "-- ", bye)))
        message.add_alternative(_page(parts, stop), subtype="html")
        return message

    async def send(self, delivery: Delivery, prepared: EmailMessage) -> Answer:
        if self.mailer is None:
            return Answer("there is no mail server: smtp-host is not set")
        try:
            await asyncio.get_running_loop().run_in_executor(SENDING, self.mailer.send, prepared)
        except smtplib.SMTPRecipientsRefused as error:
            [(code, said)] = error.recipients.values()
            return _refusal(code, said)
        except smtplib.SMTPServerDisconnected:
            raise
        except smtplib.SMTPResponseException as error:
            return _refusal(error.smtp_code, error.smtp_error)
        return Answer()


def _refusal(code: int, said: bytes | str) -> Answer:
    text = said.decode(errors="replace") if isinstance(said, bytes) else said
    return Answer(f"the mail server said {code} {text}"[:500], refused=code >= 500)


def _subject(several: Sequence[Notification], joined: bool) -> str:
    found = several[0]
    if joined:
        return f"{found.subscription}: {len(several)} notification{'s' if len(several) > 1 else ''}"
    return f"{found.subscription}: {found.event}"


def _one_line(text: str) -> str:
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())[:200]


def _told(found: Notification, format_: str, lifting: Lifting, links: str) -> list[str]:
    """A notification in lines: what matched and how, the event as RDF, and where it is explained."""
    lines = [line(found), f"number {found.sequence}, score {found.score:g}, {found.created}"]
    lines += [", ".join(f"{name} = {term}" for name, term in sorted(one.items())) for one in found.bindings]
    if (text := rdf_of(found, format_, lifting)) is not None:
        lines.append(text[:LONGEST_RDF])
    return [*lines, f"Why: {links}/notifications/{found.number}", ""]


def _page(parts: Sequence[Sequence[str]], stop: str) -> str:
    items = []
    for first, *rest, why, _ in parts:
        link = escape(why.removeprefix("Why: "))
        rows = "".join(f"<pre>{escape(text)}</pre>" for text in rest)
        items.append(f'<h3>{escape(first)}</h3>{rows}<p><a href="{link}">Why</a></p>')
    return f'<html><body>{"".join(items)}<p><a href="{escape(stop)}">Pause these messages</a></p></body></html>'

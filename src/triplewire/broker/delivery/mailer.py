"""The mail server, and the question that each mailbox is asked first."""

from __future__ import annotations

import smtplib
import ssl
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import formatdate
from urllib.parse import quote

TIMEOUT = 20
CONFIRM, UNSUBSCRIBE = "/v1/mailboxes/confirmation", "/v1/mailboxes/unsubscription"


@dataclass(frozen=True)
class Mailer:
    """The mail server, and what our mail says of us: whom it is from, and where we are reached (``links``)."""

    host: str
    port: int
    sender: str
    links: str
    security: str = "starttls"
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    def send(self, message: EmailMessage) -> None:
        """Hand a message to the server; an error if it does not take it."""
        message["From"] = self.sender
        message["Date"] = formatdate(usegmt=True)
        message["Auto-Submitted"] = "auto-generated"
        with self._connected() as server:
            if self.user is not None:
                server.login(self.user, self.password or "")
            server.send_message(message)

    def _connected(self) -> smtplib.SMTP:
        context = ssl.create_default_context()
        if self.security == "tls":
            return smtplib.SMTP_SSL(self.host, self.port, timeout=TIMEOUT, context=context)
        server = smtplib.SMTP(self.host, self.port, timeout=TIMEOUT)
        if self.security == "starttls":
            try:
                server.starttls(context=context)
            except BaseException:
                server.close()
                raise
        return server


def question(address: str, owner: str, token: str, mailer: Mailer) -> EmailMessage:
    """Asks whoever reads the mail at an address whether they want notifications."""
    message = EmailMessage()
    message["To"] = address
    message["Subject"] = "Do you want to be notified by Triplewire?"
    message.set_content(
        f"The user {owner} of Triplewire at {mailer.links} wants notifications to be sent to this address.\n\n"
        f"If that is you, open this page and agree:\n{mailer.links}{CONFIRM}?token={quote(token)}\n\n"
        "If it is not, do nothing: nothing more will be sent.\n"
    )
    return message

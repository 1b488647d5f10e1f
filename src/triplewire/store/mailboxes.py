"""Addresses for mail: asked for by users, and used once whoever reads the mail there has agreed."""

from __future__ import annotations

from datetime import datetime, timedelta
from secrets import token_urlsafe

from sqlalchemy import Connection, delete, func, insert, select, update

from triplewire.errors import UsageError
from triplewire.store.audit import note
from triplewire.store.database import Part
from triplewire.store.deliveries import MAIL, UNCONFIRMED, first_state, is_confirmed
from triplewire.store.moments import moment_of
from triplewire.store.tables import deliveries, mailboxes, revisions
from triplewire.store.users import digest_of

QUIET = timedelta(hours=1)
"""An address is not asked again before, whoever wants it to be."""
MOST_ASKED = 20
"""So many addresses may one user have asked, in a day, that have not agreed."""
GOOD_FOR = timedelta(days=7)


class Mailboxes(Part):
    """The addresses for mail that a store knows of."""

    def ask(self, owner: str, address: str, now: datetime) -> str | None:
        """A token by which whoever reads the mail there can agree; none if they have.

        Refused if the address was asked a short while ago, or if the user has too many asked.
        """
        with self._writing() as connection:
            if is_confirmed(connection, owner, address):
                return None
            _check(connection, owner, address, now)
            token = token_urlsafe(24)
            row = {"owner": owner, "address": address, "digest": digest_of(token), "asked": moment_of(now)}
            mine = (mailboxes.c.owner == owner) & (mailboxes.c.address == address)
            connection.execute(delete(mailboxes).where(mine))
            connection.execute(insert(mailboxes).values(row))
            note(connection, "mailbox", address, "asked", owner)
            return token

    def forget(self, token: str) -> None:
        """As if it had not been asked."""
        with self._writing() as connection:
            gone = delete(mailboxes).where(mailboxes.c.digest == digest_of(token)).returning(mailboxes.c.address)
            for address in connection.scalars(gone).all():
                note(connection, "mailbox", address, "forgotten")

    def confirm(self, token: str, now: datetime) -> str | None:
        """Have mail be sent to the address that a token was made for, and tell it; nothing if there is none."""
        good = mailboxes.c.digest == digest_of(token)
        good &= mailboxes.c.confirmed.is_not(None) | (mailboxes.c.asked > moment_of(now - GOOD_FOR))
        with self._writing() as connection:
            row = connection.execute(select(mailboxes).where(good)).first()
            if row is None:
                return None
            connection.execute(update(mailboxes).where(good).values(confirmed=moment_of(now)))
            note(connection, "mailbox", row.address, "confirmed", row.address)
            own = select(revisions.c.id).where(revisions.c.owner == row.owner, revisions.c.until.is_(None))
            url = f"{MAIL}{row.address}"
            waiting = (deliveries.c.url == url) & deliveries.c.subscription.in_(own)
            waiting &= deliveries.c.state == UNCONFIRMED
            for number, id_ in connection.execute(
                select(deliveries.c.number, deliveries.c.subscription).where(waiting)
            ):
                state = first_state(connection, id_, url)
                connection.execute(update(deliveries).where(deliveries.c.number == number).values(state=state))
            address: str = row.address
            return address


def _check(connection: Connection, owner: str, address: str, now: datetime) -> None:
    lately = (mailboxes.c.address == address) & (mailboxes.c.asked > moment_of(now - QUIET))
    lately &= mailboxes.c.confirmed.is_(None)
    if connection.execute(select(mailboxes.c.asked).where(lately)).first() is not None:
        raise UsageError(
            f"{address} was asked less than an hour ago, and has not answered; have a look at the mail there"
        )
    open_ = (mailboxes.c.owner == owner) & mailboxes.c.confirmed.is_(None)
    open_ &= mailboxes.c.asked > moment_of(now - timedelta(days=1))
    if (connection.scalar(select(func.count()).where(open_)) or 0) >= MOST_ASKED:
        raise UsageError(f"{MOST_ASKED} addresses were asked today that have not answered; wait for them")

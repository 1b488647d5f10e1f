"""Users, what they may do, and the tokens by which they are known. Of tokens and passwords only hashes are kept."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import scrypt, sha256
from secrets import token_bytes, token_urlsafe
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from triplewire.errors import UsageError
from triplewire.store.audit import note
from triplewire.store.database import Database, Part
from triplewire.store.deliveries import remove_followers
from triplewire.store.moments import moment_of, now
from triplewire.store.records import Bearer, Token, User
from triplewire.store.rights import ADMIN, SCOPES, SUBSCRIBE, USUAL
from triplewire.store.tables import tokens, users

PREFIX = "tw_"
SESSION = "tws_"
"""What the texts of sessions begin with: nobody can make one but by signing in."""
TO_THE_HOUR = len("2026-01-31T12")
"""When a token was used last is written to the hour, so that reading is not writing, most of the time."""
LONGEST = 200
MOST_TOKENS, REMEMBERED = 1000, timedelta(days=30)
"""So many tokens of a user are good at a time; and so long are those listed that are not any more."""
SCRYPT = {"n": 1 << 15, "r": 8, "p": 3, "maxmem": 1 << 26}


class Users(Part):
    """The users of a store. Their ``state`` is another object after each change that is made through this store."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.state = object()

    @contextmanager
    def _changing(self) -> Iterator[Connection]:
        """A transaction that changes what somebody may do."""
        try:
            with self._writing() as connection:
                yield connection
        finally:
            self.state = object()

    def any(self) -> bool:
        with self._reading() as connection:
            return connection.execute(select(users.c.name).limit(1)).first() is not None

    def add(self, name: str, scopes: Iterable[str] = USUAL) -> User:
        """A new user, with all that their tokens may be good for."""
        row = {"name": checked_name(name), "scopes": _written(scopes), "created": now()}
        with self._changing() as connection:
            if _user(connection, name) is not None:
                raise UsageError(f"there is a user {name!r} already")
            connection.execute(insert(users).values(row))
            note(connection, "user", name, "created")
        return User(name, frozenset(row["scopes"].split()), row["created"])

    def change(self, name: str, scopes: Iterable[str], check: Callable[[], None] = lambda: None) -> User:
        """Have a user, and so all their tokens, be good for this and nothing else.

        Without ``subscribe`` nothing is sent to their webhooks and mailboxes either, and without ``publish`` no feed is
        read for them, until they have it again. If ``check`` raises an error, all stays as it is.
        """
        with self._changing() as connection:
            check()
            connection.execute(update(users).where(users.c.name == name).values(scopes=_written(scopes)))
            known = _known(connection, name)
            note(connection, "user", name, f"may {_written(scopes) or 'nothing'}")
            return known

    def found(self, name: str) -> User | None:
        with self._reading() as connection:
            return _user(connection, name)

    def listed(self) -> list[User]:
        with self._reading() as connection:
            return [_user_of(row) for row in connection.execute(select(users).order_by(users.c.name))]

    # tokens

    def issue(
        self,
        user: str,
        name: str = "",
        scopes: Iterable[str] | None = None,
        expires: str | None = None,
        feed: str | None = None,
        prefix: str = PREFIX,
    ) -> tuple[Token, str]:
        """A new token of a user, good for all they may do unless ``scopes`` says less; and its text, told this once."""
        text = prefix + token_urlsafe(32)
        with self._changing() as connection:
            has = _known(connection, user).scopes
            _make_room(connection, user)
            wanted = has if scopes is None else frozenset(_written(scopes).split())
            if ADMIN not in has and (more := sorted(wanted - has)):
                raise UsageError(f"{user!r} may not {', '.join(more)}, so no token of theirs may")
            row = {"user": user, "name": name, "scopes": _written(wanted), "created": now(), "expires": expires}
            row |= {"digest": digest_of(text), "feed": feed}
            added = insert(tokens).values(row).returning(tokens)
            token = _token_of(connection.execute(added).one())
            note(connection, "token", token.number, f"issued to {user}")
            return token, text

    def tokens(self, user: str | None = None) -> list[Token]:
        """The tokens of a user, or of everybody, in the order in which they were issued."""
        query = select(tokens).order_by(tokens.c.number)
        with self._reading() as connection:
            found = connection.execute(query if user is None else query.where(tokens.c.user == user))
            return [_token_of(row) for row in found]

    def revoke(self, number: int, user: str | None = None) -> Token:
        """Have a token, one of a user's if one is named, be good for nothing from now on.

        Callbacks that were set up with it are called no more.
        """
        own = tokens.c.number == number
        if user is not None:
            own &= tokens.c.user == user
        with self._changing() as connection:
            connection.execute(update(tokens).where(own, tokens.c.revoked.is_(None)).values(revoked=now()))
            row = connection.execute(select(tokens).where(own)).first()
            if row is None:
                raise UsageError(f"there is no token {number}")
            remove_followers(connection, number)
            note(connection, "token", number, "revoked")
            return _token_of(row)

    def bearer(self, text: str, feed: str | None = None) -> Bearer | None:
        """Whose a token is, with what it is good for; nobody's if it is unknown, revoked or expired.

        One for a feed is good for that feed, and one for none is not good for any.
        """
        moment = now()
        query = select(tokens, users.c.scopes.label("most")).join(users, users.c.name == tokens.c.user)
        same = tokens.c.feed.is_(None) if feed is None else tokens.c.feed == feed
        with self._reading() as connection:
            row = connection.execute(query.where(tokens.c.digest == digest_of(text), same)).first()
        if row is None or row.revoked is not None or (row.expires is not None and row.expires <= moment):
            return None
        most, own = frozenset(row.most.split()), frozenset(row.scopes.split())
        if feed is not None and not most & {SUBSCRIBE, ADMIN}:
            return None
        if row.used is None or row.used[:TO_THE_HOUR] != moment[:TO_THE_HOUR]:
            with self._writing() as connection:
                connection.execute(update(tokens).where(tokens.c.number == row.number).values(used=moment))
        return Bearer(row.user, own if ADMIN in most else own & most, row.expires, row.number)

    def is_good(self, number: int, scopes: frozenset[str]) -> bool:
        """Whether a token is neither revoked nor expired, and its user may still do all of this."""
        query = select(tokens.c.revoked, tokens.c.expires, users.c.scopes)
        query = query.join(users, users.c.name == tokens.c.user).where(tokens.c.number == number)
        with self._reading() as connection:
            row = connection.execute(query).first()
        if row is None or row.revoked is not None or (row.expires is not None and row.expires <= now()):
            return False
        most = frozenset(row.scopes.split())
        return ADMIN in most or (bool(most) and scopes <= most)

    # passwords

    def set_password(self, name: str, password: str) -> None:
        salt = token_bytes(16)
        kept = f"{salt.hex()} {_hashed(password, salt).hex()}"
        with self._writing() as connection:
            _known(connection, name)
            connection.execute(update(users).where(users.c.name == name).values(password=kept))
            note(connection, "user", name, "given a password")

    def with_password(self, name: str, password: str) -> User | None:
        """The user who has this password. It takes as long to find out that there is none."""
        with self._reading() as connection:
            row = connection.execute(select(users).where(users.c.name == name)).first()
        salt, kept = bytes(16), bytes(64)
        if row is not None and row.password is not None:
            salt, kept = map(bytes.fromhex, row.password.split())
        same = hmac.compare_digest(_hashed(password, salt), kept)
        return _user_of(row) if row is not None and same else None


def _make_room(connection: Connection, user: str) -> None:
    """Forget a user's tokens that have long been good for nothing, and refuse another if they have too many."""
    ended = func.coalesce(tokens.c.revoked, tokens.c.expires)
    own = tokens.c.user == user
    connection.execute(delete(tokens).where(own, ended < moment_of(datetime.now(UTC) - REMEMBERED)))
    good = own & tokens.c.revoked.is_(None) & (tokens.c.expires.is_(None) | (tokens.c.expires > now()))
    if (connection.scalar(select(func.count()).where(good)) or 0) >= MOST_TOKENS:
        raise UsageError(f"{user!r} has {MOST_TOKENS:,} tokens, which is the most; revoke some")


def checked_name(name: str) -> str:
    if not name.strip() or name != name.strip() or not name.isprintable() or len(name) > LONGEST:
        raise UsageError(f"a user's name should be a text of up to {LONGEST} signs, not {name!r}")
    return name


def _written(scopes: Iterable[str]) -> str:
    wanted = set(scopes)
    if unknown := sorted(wanted - set(SCOPES)):
        raise UsageError(f"there is no scope {unknown[0]!r}; there are {', '.join(SCOPES)}")
    return " ".join(scope for scope in SCOPES if scope in wanted)


def _known(connection: Connection, name: str) -> User:
    found = _user(connection, name)
    if found is None:
        raise UsageError(f"there is no user {name!r}")
    return found


def _user(connection: Connection, name: str) -> User | None:
    row = connection.execute(select(users).where(users.c.name == name)).first()
    return None if row is None else _user_of(row)


def _user_of(row: Row[Any]) -> User:
    return User(row.name, frozenset(row.scopes.split()), row.created)


def _token_of(row: Row[Any]) -> Token:
    scopes = frozenset(row.scopes.split())
    return Token(row.number, row.user, row.name, scopes, row.created, row.used, row.expires, row.revoked, row.feed)


def digest_of(text: str) -> str:
    """What is kept of a token. It is random and long, so that a plain hash of it is as hard to undo as any."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _hashed(password: str, salt: bytes) -> bytes:
    return scrypt(password.encode("utf-8", "surrogatepass"), salt=salt, **SCRYPT)

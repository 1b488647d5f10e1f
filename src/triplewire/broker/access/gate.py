"""Who is let in, and as whom."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from math import ceil
from time import monotonic

from fastapi.concurrency import run_in_threadpool

from triplewire.broker.http.problems import ProblemError
from triplewire.store import LOCAL, Store, User
from triplewire.store.moments import now
from triplewire.store.rights import ADMIN, SCOPES
from triplewire.store.users import digest_of

MOST_FAILURES, WINDOW = 20, 60.0
"""So many failed attempts from one address in so many seconds; more are told to wait."""
MOST_ADDRESSES = 10_000
TOKEN, PASSWORD = "token", "password"
REMEMBERED = 1.0
"""Seconds for which a caller who was let in is known again without asking the store."""


@dataclass(frozen=True)
class Caller:
    """Whoever sends a request: their name, what they may do, and their token with its end, if they have one."""

    name: str
    scopes: frozenset[str]
    expires: str | None = None
    token: int | None = None

    @property
    def is_admin(self) -> bool:
        return ADMIN in self.scopes

    def may(self, scope: str) -> bool:
        return self.is_admin or scope in self.scopes

    def sees(self, owner: str) -> bool:
        """Whether what is an owner's is there, as far as the caller is told."""
        return self.is_admin or owner == self.name

    @property
    def only(self) -> str | None:
        """The one owner whose things the caller sees; none, if they see everybody's."""
        return None if self.is_admin else self.name

    def acts_for(self, named: object) -> str:
        """The user whom a request names, if it names one; only an administrator may name another."""
        if named is None:
            return self.name
        if not isinstance(named, str) or not named.strip():
            raise ProblemError(HTTPStatus.BAD_REQUEST, f"a user's name should be a text, not {named!r}")
        if not self.sees(named):
            raise ProblemError(HTTPStatus.FORBIDDEN, "only an administrator may act for somebody else")
        return named


class Gate:
    """Lets callers in. A store without users is open to whoever is on this machine, and to nobody else.

    Whoever was let in is remembered for a second. What is changed through this store counts at once all the same, and
    what another process changes, as ``triplewire token revoke`` does, a second later.
    """

    def __init__(self, store: Store, loopback: bool, clock: Callable[[], float] = monotonic) -> None:
        self._users = store.users
        self._loopback = loopback
        self._clock = clock
        self._has_users = False
        self._failures: OrderedDict[tuple[str, str], tuple[int, float]] = OrderedDict()
        self._remembered: dict[str | None, Caller] = {}
        self._state, self._end = self._users.state, 0.0

    async def let_in(self, token: str | None, address: str) -> Caller | None:
        """The one with a token or, where none is needed, whoever has none; nobody if it is wrong."""
        memory = self._memory()
        key = None if token is None else digest_of(token)
        found = memory.get(key)
        if found is None or (found.expires is not None and found.expires <= now()):
            found = await run_in_threadpool(self._ask, token, address)
            if found is not None:
                memory[key] = found  # if somebody was changed while we asked, this is not the memory any more
        return found

    def _memory(self) -> dict[str | None, Caller]:
        """Who is remembered, by the hashes of their tokens."""
        if self._users.state is not self._state or self._clock() >= self._end:
            self._remembered, self._state, self._end = {}, self._users.state, self._clock() + REMEMBERED
        return self._remembered

    def _ask(self, token: str | None, address: str) -> Caller | None:
        if token is None:
            return EVERYBODY if self.is_open() else None
        return self.bearer(token, address)

    def is_open(self) -> bool:
        """Whether no token is needed. It never is again once there was a user."""
        self._has_users = self._has_users or self._users.any()
        return self._loopback and not self._has_users

    def bearer(self, token: str, address: str, feed: str | None = None) -> Caller | None:
        """The one with a token, for a feed if one is named; nobody if it is wrong."""
        found = self._users.bearer(token, feed)
        if found is None:
            self._failed(TOKEN, address)
            return None
        return Caller(found.name, found.scopes, found.expires, found.token)

    def named(self, name: str) -> Caller:
        """A user in whose name something is done without their being here, with all that they may do."""
        found = self._users.found(name)
        if found is not None:
            return Caller(name, found.scopes)
        return Caller(name, EVERYBODY.scopes if self.is_open() else frozenset())

    def still_knows(self, caller: Caller) -> bool:
        """Whether a caller who was let in a while ago would be again."""
        return self.is_open() if caller.token is None else self._users.is_good(caller.token, caller.scopes)

    def with_password(self, name: str, password: str, address: str) -> User | None:
        """The user with a password; nobody if it is wrong. After too many wrong ones none is looked at for a while."""
        self._check((PASSWORD, address), MOST_FAILURES - 1)
        found = self._users.with_password(name, password)
        if found is None:
            self._failed(PASSWORD, address)
        return found

    def _failed(self, kind: str, address: str) -> None:
        """Count an attempt that failed, and refuse those that are too many.

        A program with an old token, which asks again and again, keeps nobody beside it from signing in.
        """
        time, key = monotonic(), (kind, address)
        count, end = self._failures.pop(key, (0, 0.0))
        self._failures[key] = (count + 1, end) if time < end else (1, time + WINDOW)
        if len(self._failures) > MOST_ADDRESSES:
            self._failures.popitem(last=False)
        self._check(key, MOST_FAILURES)

    def _check(self, key: tuple[str, str], most: int) -> None:
        count, end = self._failures.get(key, (0, 0.0))
        if count > most and (wait := end - monotonic()) > 0:
            detail = "too many failed attempts from your address; try again later"
            raise ProblemError(HTTPStatus.TOO_MANY_REQUESTS, detail, headers={"Retry-After": str(ceil(wait))})


EVERYBODY = Caller(LOCAL, frozenset(SCOPES))
"""The one caller of an open store."""

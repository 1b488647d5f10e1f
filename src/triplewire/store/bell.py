"""A bell that PostgreSQL rings when notifications are written, so that nobody has to ask all the time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from time import monotonic
from typing import Any

import psycopg
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

CHANNEL = "triplewire_notifications"
"""Where the newest one's number is told."""
SURE = 1.0
"""Seconds for which we rely on what we hear, and then ask: a network may go away without a word."""
PATIENCE = 5
"""Seconds that a server has to answer."""
DEAF = 60.0
"""Seconds until it is tried again to listen where nothing was heard, as behind some poolers of connections."""


class Bell:
    """Hears which notification is the newest, by a connection that is kept for this."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = Lock()
        self._connection: psycopg.Connection[Any] | None = None
        self._heard = 0
        self._asked, self._at = 0, -SURE
        self._again = 0.0

    def newest(self) -> int | None:
        """The newest one's number, without waiting; None if it is time to ask."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            if monotonic() - self._at > SURE or not self._listen():
                return None
            return max(self._heard, self._asked)
        finally:
            self._lock.release()

    def ask(self, read: Callable[[], int]) -> int:
        """The same as it is read from the database. Whatever is written from then on is heard, if anything is."""
        with self._lock:
            began = self._begin()
            newest = read()
            if began:
                self._heard = newest
            elif self._listen() and self._asked > self._heard and monotonic() - self._at > SURE:
                self._end()  # what was there by then should have been heard by now
                self._again = monotonic() + DEAF
            if began or newest > self._asked or monotonic() - self._at > SURE:
                self._asked, self._at = newest, monotonic()
            return newest

    def close(self) -> None:
        with self._lock:
            self._end()

    def _begin(self) -> bool:
        """Begin to listen, if we don't; whether it was begun now."""
        if self._connection is not None or monotonic() < self._again:
            return False
        with suppress(SQLAlchemyError, psycopg.Error):  # if the server is away, whoever reads is told
            arguments, settings = self._engine.dialect.create_connect_args(self._engine.url)
            settings.setdefault("connect_timeout", PATIENCE)
            self._connection = psycopg.connect(*arguments, **settings, autocommit=True)
            self._connection.execute(f"LISTEN {CHANNEL}")
            return True
        self._end()
        return False

    def _listen(self) -> bool:
        """Take in what was said by now; whether we still listen."""
        if self._connection is None:
            return False
        try:
            self._connection.pgconn.consume_input()
            while told := self._connection.pgconn.notifies():
                self._heard = max(self._heard, int(told.extra))
        except psycopg.Error:
            self._end()
        return self._connection is not None

    def _end(self) -> None:
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
            self._connection = None

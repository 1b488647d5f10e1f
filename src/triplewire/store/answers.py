"""What was answered to requests that have a key, so that a client which heard nothing can ask again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, delete, insert, select

from triplewire.store.database import Part
from triplewire.store.moments import moment_of, now
from triplewire.store.tables import answers

KEPT = timedelta(days=1)


@dataclass(frozen=True)
class Answer:
    """An answer to a request, which is known by a digest of it."""

    request: str
    status: int
    headers: dict[str, str]
    body: str


class Answers(Part):
    """The answers of the last day, by caller and key."""

    def find(self, caller: str, key: str) -> Answer | None:
        """What a caller was answered under a key, if that is not too long ago."""
        with self._reading() as connection:
            row = connection.execute(select(answers).where(_under(caller, key), answers.c.created > _oldest())).first()
            return None if row is None else Answer(row.request, row.status, json.loads(row.headers), row.body)

    def keep(self, caller: str, key: str, answer: Answer) -> None:
        """Keep an answer, unless there is one already, and forget those that are too old."""
        row = {"request": answer.request, "status": answer.status, "body": answer.body}
        row |= {"caller": caller, "key": key, "headers": json.dumps(answer.headers)}
        with self._writing() as connection:
            connection.execute(delete(answers).where(answers.c.created <= _oldest()))
            if connection.execute(select(answers.c.key).where(_under(caller, key))).first() is None:
                connection.execute(insert(answers).values(row | {"created": now()}))


def _under(caller: str, key: str) -> ColumnElement[bool]:
    return (answers.c.caller == caller) & (answers.c.key == key)


def _oldest() -> str:
    return moment_of(datetime.now(UTC) - KEPT)

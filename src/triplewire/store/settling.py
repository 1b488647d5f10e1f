"""Writing what came of sending: how far a delivery has got, and what it has left out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    BindParameter,
    Connection,
    Row,
    Update,
    bindparam,
    case,
    delete,
    func,
    insert,
    literal,
    null,
    select,
    update,
)

from triplewire.store.moments import moment_of
from triplewire.store.records import Attempt
from triplewire.store.tables import contents, deliveries, omissions

UNDELIVERED, SUPPRESSED = "undelivered", "suppressed"


def settle(connection: Connection, attempts: Sequence[Attempt]) -> list[Row[Any] | None]:
    """Write what came of attempts, one of a delivery, and return the deliveries as they stand now, if they still do.

    It takes as many statements for many as for one, unless something is left out.
    """
    for kind, (statement, names) in WRITING.items():
        if group := [_parameters(one) for one in attempts if _kind(one) == kind]:
            connection.execute(statement, [{name: one[name] for name in names & one.keys()} for one in group])
    rows = _rows(connection, attempts)
    omitting = [one for one, row in zip(attempts, rows, strict=True) if row is not None and _omits(one, row)]
    for one in omitting:
        _omit(connection, one)
    for one, row in zip(attempts, rows, strict=True):
        if row is not None and one.told:
            _remember(connection, one)
    return _rows(connection, attempts) if omitting else rows


def _kind(attempt: Attempt) -> str:
    if attempt.reason:
        return "given up" if any(one.kind == UNDELIVERED for one in attempt.omitted) else "failed"
    return "received" if attempt.count else "left out"


def _omits(attempt: Attempt, row: Row[Any]) -> bool:
    """Whether what is listed as left out may change. While nothing is, there is nothing to take off the list."""
    return _kind(attempt) != "failed" and bool(attempt.omitted or row.undelivered or row.suppressed)


def _rows(connection: Connection, attempts: Sequence[Attempt]) -> list[Row[Any] | None]:
    numbers = [one.delivery.number for one in attempts]
    rows = connection.execute(select(deliveries).where(deliveries.c.number.in_(numbers)))
    found = {(row.number, row.url): row for row in rows}
    return [found.get((one.delivery.number, one.delivery.url)) for one in attempts]


def _parameters(attempt: Attempt) -> dict[str, Any]:
    return {
        "of": attempt.delivery.number,
        "to": attempt.delivery.url,
        "before": attempt.delivery.last,
        "upto": attempt.number,
        "moment": attempt.moment,
        "next": attempt.due,
        "why": attempt.reason,
        "then": attempt.state,
        "many": attempt.count,
    }


def _writing() -> dict[str, tuple[Update, set[str]]]:
    """How each kind of outcome is written, and the parameters that it takes."""
    columns = deliveries.c
    moment: BindParameter[str] = bindparam("moment")
    many: BindParameter[int] = bindparam("many")
    moved = {  # the mark moves on, unless somebody has moved it meanwhile
        "last": case((columns.last == bindparam("before"), bindparam("upto")), else_=columns.last),
        "attempts": literal(0),
        "tried_since": null(),
        "due": bindparam("next"),
    }
    received = {
        "delivered": columns.delivered + many,
        "sent": columns.sent + many,
        "last_success": moment,
        "failing_since": null(),
        "reason": literal(""),
    }
    failed = {
        "sent": columns.sent + many,
        "failing_since": func.coalesce(columns.failing_since, moment),
        "reason": bindparam("why"),
        "state": case((columns.state == "active", bindparam("then")), else_=columns.state),
    }
    again = {
        "attempts": columns.attempts + 1,
        "tried_since": func.coalesce(columns.tried_since, moment),
        "due": bindparam("next"),
    }
    kinds: dict[str, dict[str, Any]] = {
        "received": moved | received,
        "left out": moved,
        "failed": failed | again,
        "given up": failed | moved,
    }
    same = (columns.number == bindparam("of")) & (columns.url == bindparam("to"))
    statements = {kind: update(deliveries).where(same).values(values) for kind, values in kinds.items()}
    return {kind: (statement, set(statement.compile().params)) for kind, statement in statements.items()}


WRITING = _writing()


def _omit(connection: Connection, attempt: Attempt) -> None:
    """Keep what was left out this time. What was left out before, and now was not, is no longer."""
    delivery, own = attempt.delivery, omissions.c.delivery == attempt.delivery.number
    passed = (omissions.c.notification > delivery.last) & (omissions.c.notification <= attempt.number)
    before = connection.execute(delete(omissions).where(own, passed)).rowcount
    for one in attempt.omitted:
        row = {"delivery": delivery.number, "notification": one.notification, "kind": one.kind}
        connection.execute(insert(omissions).values(row | {"reason": one.reason, "created": attempt.moment}))
    if before or attempt.omitted:
        counts = {
            kind: select(func.count()).where(own, omissions.c.kind == kind).scalar_subquery()
            for kind in (UNDELIVERED, SUPPRESSED)
        }
        connection.execute(update(deliveries).where(deliveries.c.number == delivery.number).values(counts))


def _remember(connection: Connection, attempt: Attempt) -> None:
    """Keep what was told, and let go of what was told so long ago that it may be told again."""
    own = contents.c.delivery == attempt.delivery.number
    for one in attempt.told:
        connection.execute(delete(contents).where(own, contents.c.content == one.hash))
        row = {"notification": one.notification, "received": one.received, "content": one.hash}
        connection.execute(insert(contents).values(row | {"delivery": attempt.delivery.number}))
    newest = datetime.fromisoformat(max(one.received for one in attempt.told))
    ago = moment_of(newest - timedelta(seconds=attempt.delivery.terms.duplicates))
    connection.execute(delete(contents).where(own, contents.c.received < ago))

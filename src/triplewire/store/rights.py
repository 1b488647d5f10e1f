"""What users may be allowed, and who was allowed it no longer."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, select

from triplewire.store.tables import users

PUBLISH, SUBSCRIBE, ONTOLOGY, ADMIN = SCOPES = ("publish", "subscribe", "ontology", "admin")
USUAL = (PUBLISH, SUBSCRIBE)


def is_shut_out(name: ColumnElement[Any], scope: str) -> ColumnElement[bool]:
    """Whether there is a user of that name who may not do something. Whoever is no user, in an open store, may."""
    lacking = [~users.c.scopes.contains(one) for one in (scope, ADMIN)]
    return select(1).select_from(users).where(users.c.name == name, *lacking).exists()

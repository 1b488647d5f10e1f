"""Who does something. There is no authentication yet, so it is whoever a request says it is."""

from __future__ import annotations

from http import HTTPStatus

from triplewire.broker.problems import ProblemError
from triplewire.store import LOCAL


def user(named: object) -> str:
    """The user whom a request names, if it names one."""
    if named is None:
        return LOCAL
    if not isinstance(named, str) or not named.strip():
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"a user's name should be a text, not {named!r}")
    return named

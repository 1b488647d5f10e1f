"""Logs: a line per record, for people or, as JSON, for programs.

``tell`` writes what happened with its fields. Every line that is written while a request is handled has its id.
"""

from __future__ import annotations

import json
import logging
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the request that is being handled."""


def set_up(kind: str, level: str) -> None:
    """Have everything logged to standard error, as ``text`` or ``json``, from a level on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if kind == "json" else TextLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("triplewire").setLevel(level.upper() or (logging.INFO if kind == "json" else logging.WARNING))


def tell(logger: logging.Logger, level: int, what: str, **fields: Any) -> None:
    """Log what happened, with its fields."""
    logger.log(level, what, extra={"fields": fields})


class JsonLines(logging.Formatter):
    """A record as a JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        line = {"time": _moment(record), "level": record.levelname.lower(), "logger": record.name}
        line |= {"message": record.getMessage()} | _fields(record)
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=True, default=str)


class TextLines(logging.Formatter):
    """A record as a line that a person reads."""

    def format(self, record: logging.LogRecord) -> str:
        fields = " ".join(f"{name}={_plain(value)}" for name, value in _fields(record).items())
        line = f"{_moment(record)} {record.levelname} {_plain(record.getMessage())} {fields}".rstrip()
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    fields: dict[str, Any] = dict(getattr(record, "fields", {}))
    if request_id.get():
        fields.setdefault("request", request_id.get())
    return fields


def _moment(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _plain(value: object) -> str:
    """A value on one line, whatever is in it: what a client sends must not look like lines of ours."""
    return str(value).encode("unicode_escape").decode() if not str(value).isprintable() else str(value)

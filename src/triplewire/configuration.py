"""What can be set: one table, from which the file, the environment, the command line and the documents are read.

To add a setting, add a row to ``Configuration``. It then has a name in a file (``smtp-host = "mail.example.org"``), in
the environment (``TRIPLEWIRE_SMTP_HOST``) and among the options of `triplewire serve` (``--smtp-host``), and its line
in ``docs/reference/configuration.md`` is asked for by a test. A row's type says what is accepted: ``str``, ``int``,
``float``, ``bool``, ``Path``, each also with ``| None``, and ``tuple[str, ...]`` for several.
A row that is ``secret`` is never given itself: ``smtp-password-file`` names the file that holds it.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any

from triplewire.errors import UsageError, nearest

PREFIX = "TRIPLEWIRE_"
FILE = f"{PREFIX}CONFIG"
ELSEWHERE = (FILE, "TRIPLEWIRE_KAFKA_JARS")
"""Variables of ours that are no settings."""
TRUE, FALSE = ("true", "yes", "1"), ("false", "no", "0")


@dataclass(frozen=True)
class Setting:
    """What a row says beside its type: what it means, what it is if left out, and what is allowed."""

    means: str
    default: Any
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    secret: bool = False
    variable: str = ""
    """A further name in the environment, where others look for it, too."""
    shown: str = ""
    """What is used if it is left out, where that is no plain value."""


def row(default: Any, means: str, **details: Any) -> Any:
    """A row of the table."""
    setting = Setting(means, default, **details)
    return field(default=default, repr=not setting.secret, metadata={"setting": setting})


@dataclass(frozen=True)
class Configuration:
    """Every setting, as it holds."""

    home: Path = row(Path("var"), "The data folder.")
    store: str | None = row(
        None,
        "Where events and everything else are kept: `sqlite:///FILE` or `postgresql://USER@HOST/DATABASE`.",
        shown="a file in the data folder",
    )
    keep_days: int | None = row(
        None, "Days that events are kept, if nobody needs them any more.", least=1, shown="for ever"
    )
    keep_size: int | None = row(
        None, "MiB of events that are kept; the oldest go first, if nobody needs them.", least=1, shown="any number"
    )
    host: str = row("127.0.0.1", "The address to listen on.")
    port: int = row(8080, "The port to listen on; 0 for one that is free.", least=0, most=65535, variable="PORT")
    metrics_port: int | None = row(
        None,
        "A port of their own for health and metrics; on the other one they then need a token.",
        least=0,
        most=65535,
    )
    metrics_host: str = row("127.0.0.1", "The address of that port.")
    sample: Path | None = row(None, "A folder with a sample world, loaded into a store without events.")
    accept_proposals: bool = row(False, "New concepts are everybody's at once, without review.")
    allow_network: tuple[str, ...] = row(
        (), "Networks, such as `127.0.0.0/8`, in which webhooks may be called, though they are not public."
    )
    trust_proxy: tuple[str, ...] = row(
        (),
        "Addresses or networks of proxies before the broker that say, in `X-Forwarded-For` and `X-Forwarded-Proto`, "
        "whom they speak for; one on this machine is believed anyway.",
    )
    public_url: str = row(
        "",
        "Where others reach the broker, perhaps through a proxy, and what links in mail lead to: `https://tw.example.org`.",
        shown="the address that it listens on",
    )
    smtp_host: str | None = row(None, "The server that mail is sent through; without it none is sent.")
    smtp_port: int = row(587, "Its port.", least=1, most=65535)
    smtp_security: str = row("starttls", "How the way to it is kept secret.", choices=("starttls", "tls", "none"))
    smtp_user: str | None = row(None, "The user to log in as there.")
    smtp_password: str | None = row(None, "Their password.", secret=True)
    smtp_sender: str = row("triplewire@localhost", "Whom mail is from.")
    pipeline: str = row(
        "embedded",
        "Whether the pipeline is run by us, or elsewhere on the same store.",
        choices=("embedded", "elsewhere"),
    )
    most_waiting: int = row(10_000, "Events that may wait to be written; further ones are refused with 429.", least=1)
    most_lag: int = row(1_000_000, "Events that may wait to be matched; further ones are refused with 429.", least=1)
    least_free: int = row(200, "MiB of the disk that are kept free; below, events are refused with 429.", least=0)
    quota_subscriptions: int = row(10_000, "Subscriptions that a user may have; administrators have no quota.", least=0)
    quota_webhooks: int = row(1_000, "Webhooks that a user may have; administrators have no quota.", least=0)
    quota_streams: int = row(20, "Streams that a user may have open; administrators have no quota.", least=0)
    quota_events: int = row(
        1_000, "Events that a user may publish a second, else 429; administrators have no quota.", least=1
    )
    most_record: int = row(65_536, "Bytes that a subscription may have, as JSON.", least=1)
    most_event: int = row(1 << 20, "Bytes that an event may have; a batch may have 16 times as many.", least=1)
    shutdown_seconds: int = row(10, "How long requests that are under way may take when the broker ends.", least=0)
    log: str = row("text", "How log lines are written, to standard error.", choices=("text", "json"))
    log_level: str = row(
        "",
        "From which level on.",
        choices=("", "debug", "info", "warning", "error"),
        shown="`info` for json, `warning` for text",
    )


def configured(
    options: Mapping[str, Any] | None = None,
    file: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Configuration:
    """The settings: what the options say, else the environment, else the file, else what each is if left out.

    A name that is no setting is refused, and so is a value that it cannot have.
    """
    if file is None and environment.get(FILE):
        file = Path(environment[FILE])
    told: dict[str, Any] = {}
    for origin in (_of_file(file) if file else (), _of_environment(environment), _of_options(options or {})):
        told.update(origin)
    return Configuration(**told)


def settings() -> Iterator[tuple[str, Field[Any], Setting]]:
    """The rows of the table by their names."""
    for one in fields(Configuration):
        setting: Setting = one.metadata["setting"]
        yield one.name.replace("_", "-") + ("-file" if setting.secret else ""), one, setting


def as_markdown() -> str:
    """The table as the documents show it."""
    lines = ["| name | variable | if left out | |", "|---|---|---|---|"]
    for name, _, setting in settings():
        variables = ", ".join(f"`{one}`" for one in _variables(name, setting))
        lines.append(f"| `{name}` | {variables} | {_default(setting)} | {setting.means}{_allowed(setting)} |")
    return "\n".join(lines) + "\n"


def _of_file(path: Path) -> Iterator[tuple[str, Any]]:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise UsageError(f"the configuration {path} is not UTF-8: {error.reason} at byte {error.start}") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"the configuration {path}: {getattr(error, 'strerror', None) or error}") from None
    known = {name: (one, setting) for name, one, setting in settings()}
    for name, value in _flat(found):
        if name not in known:
            raise UsageError(f"the configuration {path}: there is no setting {name!r}{_hint(name, known)}")
        yield _read(f"{path}: {name}", value, *known[name])


def _flat(table: Mapping[str, Any], head: str = "") -> Iterator[tuple[str, Any]]:
    """The names in a file; ``[smtp]`` with ``host`` in it is ``smtp-host``."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{head}{name}-")
        else:
            yield head + name, value


def _of_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    known = {
        variable: (one, setting)
        for name, one, setting in settings()
        for variable in reversed(_variables(name, setting))  # ours is read last, and holds
    }
    for variable in environment:
        if variable.startswith(PREFIX) and variable not in known and variable not in ELSEWHERE:
            raise UsageError(f"there is no setting {variable}{_hint(variable, known)}")
    for variable, (one, setting) in known.items():
        if environment.get(variable):  # an empty one is as good as none
            yield _read(variable, environment[variable], one, setting)


def _of_options(options: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, one, setting in settings():
        given = options.get(name.replace("-", "_"))
        if given is not None:
            yield _read(f"--{name}", given, one, setting)


def _read(origin: str, value: Any, one: Field[Any], setting: Setting) -> tuple[str, Any]:
    """The field's name and its value, once it is seen to be one that it can have."""
    if setting.secret:
        return one.name, _secret(origin, value)
    kind = str(one.type).removesuffix(" | None")
    expected, convert = KINDS[kind]
    try:
        read = convert(value)
        if setting.choices and read not in setting.choices:
            raise ValueError
        if (setting.least is not None and read < setting.least) or (setting.most is not None and read > setting.most):
            raise ValueError
    except (ValueError, TypeError):
        raise UsageError(f"{origin} should be {expected}{_allowed(setting)}, not {_written(value)}") from None
    return one.name, read


def _written(value: Any) -> str:
    """A value as it is written in a file."""
    return str(value).lower() if isinstance(value, bool) else repr(value) if isinstance(value, str) else str(value)


def _secret(origin: str, value: Any) -> str:
    if not isinstance(value, str | Path):
        raise UsageError(f"{origin} should be the path of a file, not {_written(value)}")
    try:
        return Path(value).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise UsageError(f"{origin}: {getattr(error, 'strerror', None) or error}") from None


def _whole(value: Any) -> int:
    if isinstance(value, bool | float):
        raise TypeError
    return int(value)


def _number(value: Any) -> float:
    if isinstance(value, bool):
        raise TypeError
    return float(value)


def _truth(value: Any) -> bool:
    word = str(value).lower()
    if word not in TRUE + FALSE:
        raise ValueError
    return word in TRUE


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _several(value: Any) -> tuple[str, ...]:
    """A list, or a text with commas or spaces between."""
    return tuple(value.replace(",", " ").split() if isinstance(value, str) else map(_text, value))


KINDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "str": ("a text", _text),
    "int": ("a whole number", _whole),
    "float": ("a number", _number),
    "bool": ("true or false", _truth),
    "Path": ("a path", lambda value: Path(_text(value))),
    "tuple[str, ...]": ("a list of texts", _several),
}


def _variables(name: str, setting: Setting) -> list[str]:
    return [PREFIX + name.upper().replace("-", "_"), *filter(None, [setting.variable])]


def _hint(name: str, known: Mapping[str, Any]) -> str:
    if below := [one for one in known if one.startswith(f"{name}-")]:
        return f". There are {', '.join(below)}"
    meant = nearest(name, known)
    return f". Did you mean {meant}?" if meant else ""


def _allowed(setting: Setting) -> str:
    if setting.choices:
        return f" ({', '.join(filter(None, setting.choices))})"
    if setting.least is not None and setting.most is not None:
        return f" ({setting.least:g} to {setting.most:g})"
    return f" (at least {setting.least:g})" if setting.least is not None else ""


def _default(setting: Setting) -> str:
    if setting.shown or setting.default in (None, (), ""):
        return setting.shown or "none"
    return f"`{str(setting.default).lower() if isinstance(setting.default, bool) else setting.default}`"

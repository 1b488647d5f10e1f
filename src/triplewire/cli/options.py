"""The settings as options of a command."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any

import typer

from triplewire.configuration import Configuration, configured, settings

FILE = Annotated[Path | None, typer.Option("--config", metavar="F.toml", help="A file with settings.")]


def with_settings(command: Callable[[Configuration], None]) -> Callable[..., None]:
    """A command that takes every setting as an option, and the name of a file with settings."""

    def called(config: Path | None = None, **options: Any) -> None:
        command(configured(options, config))

    parameters = [Parameter("config", Parameter.KEYWORD_ONLY, default=None, annotation=FILE), *_parameters()]
    called.__name__, called.__doc__ = command.__name__, command.__doc__
    called.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # where typer looks
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called


def _parameters() -> list[Parameter]:
    """Each is a text, as far as the command line knows; the configuration reads it, and says what is wrong with it."""
    found = []
    for name, one, setting in settings():
        kind: Any = {"bool": bool, "tuple[str, ...]": list[str]}.get(str(one.type), str)
        default = f" ({setting.default} if left out)" if setting.default not in (None, (), "", False) else ""
        help_ = f"{setting.means.replace('`', '')}{default}"
        names = f"--{name}/--no-{name}" if kind is bool else f"--{name}"
        option = typer.Option(names, metavar=None if kind is bool else "…", help=help_, show_default=False)
        parameter = name.replace("-", "_")
        found.append(
            Parameter(parameter, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind | None, option])
        )
    return found

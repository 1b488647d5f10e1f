"""Tables of results, printed and kept with the commit they were taken at."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache
from pathlib import Path

RESULTS = Path(__file__).parent / "results"

_TAKEN: ContextVar[list[dict[str, object]] | None] = ContextVar("taken", default=None)


def report(name: str, told: str, rows: list[dict[str, object]]) -> None:
    """Print a table, and keep it as ``results/NAME.md``; or hand its rows to who has asked for them by ``taken``."""
    taken_so_far = _TAKEN.get()
    if taken_so_far is not None:
        taken_so_far += [{"table": name} | row for row in rows]
        return
    heads = list(rows[0])
    table = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    table += ["| " + " | ".join(str(row[head]) for head in heads) + " |" for row in rows]
    text = f"# {name}\n\n{told}\n\n" + "\n".join(table) + f"\n\nAt {commit()}, Python {platform.python_version()}.\n"
    print(text)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(text)


def taken(main: Callable[..., None], **parameters: object) -> list[dict[str, object]]:
    """The rows of all tables that a benchmark reports; none is printed or kept."""
    rows: list[dict[str, object]] = []
    token = _TAKEN.set(rows)
    try:
        main(**parameters)
    finally:
        _TAKEN.reset(token)
    return rows


@cache
def commit() -> str:
    """The commit that the tree was at before any result was written."""
    head = ["git", "describe", "--always", "--dirty"]
    return subprocess.run(head, capture_output=True, text=True, check=False).stdout.strip() or "no commit"

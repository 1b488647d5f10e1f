"""Who may import whom: the plan of the house, kept true."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "triplewire"

BELOW: dict[str, set[str]] = {"errors": set()}
# "" is the package itself: its version, which anybody may ask, and the library's public names, imported when asked for.
BELOW[""] = {"errors", "rdf", "lift", "concepts", "subscriptions", "matching"}
BELOW["rdf"] = {"errors", ""}
BELOW["lift"] = BELOW["rdf"] | {"rdf"}
BELOW["concepts"] = BELOW["lift"] | {"lift"}
BELOW["subscriptions"] = BELOW["concepts"] | {"concepts"}
BELOW["matching"] = BELOW["subscriptions"] | {"subscriptions"}
BELOW["__init__"] = BELOW["matching"] | {"matching"}
BELOW["configuration"] = {"errors", ""}
BELOW["testing"] = BELOW["matching"] | {"matching"}
BELOW["store"] = BELOW["matching"] | {"matching"}
BELOW["pipeline"] = BELOW["store"] | {"store"}
BELOW["broker"] = BELOW["store"] | {"store", "configuration"}
BELOW["cli"] = BELOW["store"] | {"store", "pipeline", "broker", "testing", "configuration"}
BELOW["__main__"] = {"cli"}
"""The rooms that a room may import from."""

HOMES = {
    "numba": "matching/*kernels*",
    "pyspark": "pipeline/*",
    "sqlalchemy": "store/*",
    "sqlite3": "store/*",
    "alembic": "store/*",
    "psycopg": "store/*",
    "fastapi": "broker/*",
    "starlette": "broker/*",
    "uvicorn": "broker/*",
    "sse_starlette": "broker/*",
    "httpx": "broker/*",
    "httpcore": "broker/*",
}
"""Libraries that live in one room only."""


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def imports(source: str, path: str) -> Iterator[str]:
    """Every dotted name that a module imports, wherever in it the import stands."""
    package = ["triplewire", *Path(path).parent.parts]
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                base = package[: len(package) - level + 1] if level else []
                whole = ".".join([*base, *filter(None, [module])])
                # ``from triplewire import cli`` imports a room; ``from triplewire.cli import main`` a name in one.
                yield from (f"{whole}.{alias.name}" for alias in names) if whole == "triplewire" else [whole]


def violations(source: str, path: str) -> list[str]:
    """What a module, at a path inside the package, imports against the plan."""
    here = Path(path).with_suffix("").parts[0]
    wrong = []
    for name in imports(source, path):
        top, _, rest = name.partition(".")
        there = rest.partition(".")[0]
        # Of the package's own names only the version is for the rooms; the others are for users.
        if top == "triplewire" and there not in BELOW[here] | {here, "", "__version__"}:
            wrong.append(f"{path} imports {name}")
        elif top in HOMES and not fnmatch(path, HOMES[top]):
            wrong.append(f"{path} imports {name}, whose home is {HOMES[top]}")
    return wrong


@pytest.mark.parametrize("module", modules(), ids=lambda module: str(module.relative_to(PACKAGE)))
def test_imports_point_down_and_libraries_stay_at_home(module: Path) -> None:
    assert violations(module.read_text(encoding="utf-8"), str(module.relative_to(PACKAGE))) == []


def test_every_room_has_its_place_in_the_plan() -> None:
    rooms = {module.relative_to(PACKAGE).with_suffix("").parts[0] for module in modules()}
    assert rooms <= BELOW.keys()


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("rdf/graph.py", "from triplewire.concepts import model"),
        ("rdf/graph.py", "from triplewire import concepts"),
        ("rdf/graph.py", "from ..concepts import model"),
        ("rdf/graph.py", "from triplewire import make_matcher"),
        ("__init__.py", "from .store import Store"),
        ("rdf/graph.py", "def later():\n    import triplewire.store.tables"),
        ("errors.py", "import triplewire.rdf"),
        ("concepts/model.py", "from ..subscriptions.pattern import Pattern"),
        ("store/store.py", "from triplewire.pipeline import stage"),
        ("broker/app.py", "import triplewire.pipeline.stream"),
        ("pipeline/stream.py", "from triplewire.broker import app"),
        ("testing.py", "from triplewire.store import Store"),
        ("matching/engine/plan.py", "from numba import njit"),
        ("cli.py", "from pyspark.sql import SparkSession"),
        ("broker/app.py", "import sqlite3"),
        ("store/store.py", "from fastapi import FastAPI"),
    ],
)
def test_a_planted_violation_is_caught(path: str, source: str) -> None:
    assert len(violations(source, path)) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("lift/cloudevents.py", "from triplewire.rdf.graph import Graph"),
        ("broker/app.py", "from triplewire import __version__\nfrom fastapi import FastAPI"),
        ("matching/engine/kernels.py", "from numba import njit"),
        ("matching/engine/kernels/walk.py", "from numba import njit"),
        ("cli.py", "from triplewire.broker import app\nfrom triplewire.pipeline import batch"),
        ("pipeline/stream.py", "from . import stage\nfrom triplewire.errors import UsageError"),
    ],
)
def test_what_the_plan_allows_passes(path: str, source: str) -> None:
    assert violations(source, path) == []

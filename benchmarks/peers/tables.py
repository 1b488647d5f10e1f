"""DuckDB: the subscriptions as tables, an event as rows, and one query that finds all that match at once."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import pyarrow as pa

from benchmarks.peers.tasks import Answer, Filters, Graphs, Shape, Watch, taken, timed

LOWEST, HIGHEST = -(1 << 62), 1 << 62


def in_duckdb(task: Graphs | Filters, limit: float) -> Answer:
    """On one core, as all the others are."""
    with duckdb.connect(config={"threads": 1}) as database:
        if isinstance(task, Filters):
            ready, _ = timed(lambda: _load_tests(database, task))
            return taken(lambda values: _compare(database, values), task.values, Watch(limit), ready)
        ready, query = timed(lambda: _load_patterns(database, task.patterns))
        return taken(lambda shape: _find(database, query, shape), task.shapes, Watch(limit), ready)


def _load_tests(database: duckdb.DuckDBPyConnection, task: Filters) -> None:
    """A test is a range of numbers, or a text and how many of a value's letters it speaks of."""
    rows = []
    for number, tests in enumerate(task.tests):
        for attribute, operator, operand in tests:
            if isinstance(operand, str):
                rows.append((number, attribute, None, None, operand, len(operand) if operator == "strstarts" else 99))
            else:
                low, high = LOWEST if operator == "<=" else operand, HIGHEST if operator == ">=" else operand
                rows.append((number, attribute, low, high, None, None))
    _put(database, "tests", ("filter", "attribute", "low", "high", "text", "letters"), rows)
    database.execute("CREATE TABLE wanted AS SELECT filter, count(*) AS tests FROM tests GROUP BY filter")


def _compare(database: duckdb.DuckDBPyConnection, values: Sequence[int | str]) -> set[int]:
    rows = [
        (number, None if isinstance(value, str) else value, value if isinstance(value, str) else None)
        for number, value in enumerate(values)
    ]
    _put(database, "event", ("attribute", "number", "word"), rows, (pa.int64(), pa.int64(), pa.string()))
    found = database.execute(
        """SELECT filter FROM (
             SELECT filter, count(*) AS holding FROM tests JOIN event USING (attribute)
             WHERE number BETWEEN low AND high OR left(word, letters) = text
             GROUP BY filter) JOIN wanted USING (filter) WHERE holding = tests"""
    ).fetchall()
    return {number for (number,) in found}


def _load_patterns(database: duckdb.DuckDBPyConnection, patterns: Sequence[Shape]) -> str:
    """A table for each vertex after the first, with the arc that leads to it, and one of the other arcs; the query."""
    homes, steps, more = [], [], []
    for number, pattern in enumerate(patterns):
        homes.append((number, pattern.classes[0]))
        places = {0: 1}
        for s, p, o in pattern.arcs:
            if o in places:
                more.append((number, places[s], p, places[o]))
            else:
                steps.append((number, len(places), places[s], p, pattern.classes[o]))
                places[o] = len(places) + 1
    _put(database, "homes", ("pattern", "class"), homes)
    _put(database, "steps", ("pattern", "step", "source", "property", "class"), steps)
    _put(database, "more", ("pattern", "source", "property", "target"), more, (pa.int64(),) * 4)
    count = max(len(pattern.classes) for pattern in patterns)
    parts = ["m0 AS (SELECT pattern, [0] AS places FROM homes WHERE class = ?)"]
    for step in range(1, count):
        database.execute(f"CREATE TABLE step{step} AS SELECT * FROM steps WHERE step = {step}")
        parts.append(
            f"""m{step} AS (SELECT m.pattern, list_append(m.places, e.target) AS places
                FROM m{step - 1} m JOIN step{step} s ON m.pattern = s.pattern
                JOIN event e ON e.source = m.places[s.source] AND e.property = s.property AND e.class = s.class
                WHERE NOT list_contains(m.places, e.target))"""
        )
    return f"""WITH {", ".join(parts)} SELECT DISTINCT pattern FROM m{count - 1} m WHERE NOT EXISTS (
        SELECT 1 FROM more o WHERE o.pattern = m.pattern AND NOT EXISTS (SELECT 1 FROM event e
        WHERE e.source = m.places[o.source] AND e.property = o.property AND e.target = m.places[o.target]))"""


def _find(database: duckdb.DuckDBPyConnection, query: str, shape: Shape) -> set[int]:
    rows = [(s, p, o, shape.classes[o]) for s, p, o in shape.arcs]
    _put(database, "event", ("source", "property", "target", "class"), rows)
    return {number for (number,) in database.execute(query, [shape.classes[0]]).fetchall()}


def _put(
    database: duckdb.DuckDBPyConnection,
    name: str,
    columns: Sequence[str],
    rows: Sequence[tuple[object, ...]],
    types: Sequence[pa.DataType] | None = None,
) -> None:
    kinds = types or [None] * len(columns)
    arrays = [
        pa.array(column, kind)
        for column, kind in zip(zip(*rows, strict=True) if rows else [[]] * len(columns), kinds, strict=True)
    ]
    given = pa.table(arrays, names=list(columns))
    database.register("given", given)
    database.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM given")
    database.unregister("given")

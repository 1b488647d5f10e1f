"""Tables: each row of a CSV document is an event, each cell an arc from its home vertex."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from triplewire.errors import EventError
from triplewire.lift.documents import utf8
from triplewire.lift.entries import Entry
from triplewire.lift.names import Names
from triplewire.rdf.graph import HOME
from triplewire.rdf.terms import RDF, Resource, Triple


def lift_rows(data: str | bytes, names: Names) -> Iterator[Entry]:
    """The rows below the header. A row's key is the value of the id column, else its number, counted from 1."""
    reader = csv.reader(io.StringIO(utf8(data), newline=""), strict=True)
    try:
        header = next(reader, None)
        if header is None:
            raise EventError("the table is empty: its first line should name the columns")
        _check_header(header, names)
        taken: dict[str, int] = {}
        for number, row in enumerate(filter(None, reader), 1):
            entry = _entry(header, row, number, reader.line_num, names)
            if entry.key in taken:
                raise EventError(f"line {reader.line_num}: row {taken[entry.key]} has the key {entry.key!r} already")
            taken[entry.key or ""] = number
            yield entry
    except csv.Error as error:
        raise EventError(f"not well-formed CSV: line {reader.line_num}: {error}") from None


def _entry(header: list[str], row: list[str], number: int, line: int, names: Names) -> Entry:
    if len(row) > len(header):
        raise EventError(f"line {line}: {len(row)} cells in a table of {len(header)} columns")
    cells = {column: cell for column, cell in zip(header, row, strict=False) if cell != ""}
    key = cells.get(names.id) if names.id is not None else str(number)
    if key is None:
        raise EventError(f"line {line}: the cell of {names.id!r}, which identifies a row, is empty")
    home = (names.identifier(key, f"line {line}") if names.id is not None else None) or HOME
    return Entry(list(_arcs(home, cells, line, names)), home, key)


def _arcs(home: Resource, cells: dict[str, str], line: int, names: Names) -> Iterator[Triple]:
    if names.class_ is not None:
        yield Triple(home, RDF.type, names.class_)
    for column, cell in cells.items():
        if column == names.type:
            yield Triple(home, RDF.type, names.kind(cell))
        elif column != names.id or home == HOME:
            yield Triple(home, names.property(column), names.value(column, cell, f"line {line}, {column}"))


def _check_header(header: list[str], names: Names) -> None:
    if twice := {column for column in header if header.count(column) > 1}:
        raise EventError(f"line 1: two columns are called {min(twice)!r}")
    if "" in header:
        raise EventError(f"line 1: column {header.index('') + 1} has no name")
    for column in (names.id, names.type, *names.datatypes):
        if column is not None and column not in header:
            raise EventError(f"line 1: there is no column {column!r}; there are {', '.join(header)[:200]}")

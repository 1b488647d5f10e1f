"""Files of events, a text for each envelope, in pieces that can be read one by one.

A folder is all the files in it that hold events: CloudEvents a line each, Parquet, or a document by its suffix. Of a
Parquet file each row is an event: its ``body`` is the CloudEvent, or else the row is read as a JSON object would be.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from triplewire.errors import UsageError
from triplewire.lift.documents import write_json
from triplewire.lift.files import LINES, MEDIA_TYPES, SOURCE, enveloped

CHUNK = 16 * 1024 * 1024
"""How many bytes of a file make a piece."""
PARQUET = ".parquet"
SUFFIXES = (*LINES, PARQUET, *MEDIA_TYPES)
WINDOWS = 50
"""At so many places a sample is taken."""

FILE = 1 << 40
"""So many positions are kept for each file: more than any has bytes."""


class Piece(NamedTuple):
    """What begins at ``start <= offset < end`` in a file: bytes of lines, rows of Parquet, or a document as a whole."""

    number: int
    path: Path
    name: str
    start: int
    end: int
    size: int
    """In bytes, roughly: what a piece is of the whole."""


class Text(NamedTuple):
    """An envelope's text, at a place of its own in the order of all files; ``size`` is what it is of the whole."""

    position: int
    size: float
    text: bytes


def event_files(paths: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Files, and those of folders by name, each with the name that its documents are known by."""
    for path in paths:
        if path.is_dir():
            found = sorted(one for one in path.rglob("*") if one.is_file() and one.suffix.lower() in SUFFIXES)
            yield from ((one, one.relative_to(path).as_posix()) for one in found if not _hidden(one.relative_to(path)))
        elif not path.is_file():
            raise UsageError(f"{path}: no such file or folder")
        else:
            yield path, path.name


def pieces(paths: Iterable[Path], chunk: int = CHUNK) -> list[Piece]:
    """All files in pieces, in order."""
    return [
        piece
        for number, (path, name) in enumerate(event_files(paths))
        for piece in _pieces(number, path.absolute(), name, chunk)
    ]


def texts(piece: Piece) -> Iterator[Text]:
    """The envelopes of a piece."""
    base = piece.number * FILE
    suffix = piece.path.suffix.lower()
    if suffix == PARQUET:
        share = piece.size / max(piece.end - piece.start, 1)
        for row, text in _rows(piece):
            yield Text(base + row, share, text)
    elif suffix in MEDIA_TYPES:
        yield Text(base, piece.size, enveloped(piece.path, piece.name))
    else:
        for offset, text in _lines(piece):
            yield Text(base + offset, len(text), text)


def sample(whole: Sequence[Piece], wanted: int) -> Iterator[Text]:
    """About so many envelopes, some from each of several places that are evenly spread."""
    ends = list(accumulate(piece.size for piece in whole))
    seen: set[int] = set()
    for window in range(WINDOWS if ends else 0):
        place = ends[-1] * window // WINDOWS
        at = bisect_right(ends, place)
        piece = whole[at]
        into = (place - (ends[at] - piece.size)) / max(piece.size, 1)
        part = piece._replace(start=piece.start + int(into * (piece.end - piece.start)))
        for text in islice(_scaled(part, piece), -(-wanted // WINDOWS)):
            if text.position not in seen:
                seen.add(text.position)
                yield text


def line_numbers(path: Path, offsets: Iterable[int]) -> Iterator[int]:
    """The one-based numbers of the lines that begin at these offsets, which ascend."""
    number, position = 1, 0
    with path.open("rb") as file:
        for offset in offsets:
            while position < offset:
                block = file.read(min(CHUNK, offset - position))
                number += block.count(b"\n")
                position += len(block)
            yield number


def _scaled(part: Piece, piece: Piece) -> Iterator[Text]:
    """The texts of the end of a piece, each with the size that it has in the piece."""
    if piece.path.suffix.lower() == PARQUET and part.end > part.start:
        part = part._replace(size=round(piece.size * (part.end - part.start) / (piece.end - piece.start)))
    return texts(part)


def _pieces(number: int, path: Path, name: str, chunk: int) -> Iterator[Piece]:
    size = path.stat().st_size
    suffix = path.suffix.lower()
    if suffix == PARQUET:
        rows = _metadata(path).num_rows
        step = max(rows * chunk // max(size, 1), 1)
        for start in range(0, rows, step):
            end = min(start + step, rows)
            yield Piece(number, path, name, start, end, size * (end - start) // rows)
    elif suffix in MEDIA_TYPES:
        yield Piece(number, path, name, 0, 1, size)
    else:
        for start in range(0, size, chunk):
            end = min(start + chunk, size)
            yield Piece(number, path, name, start, end, end - start)


def _lines(piece: Piece) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, each with its offset in the file."""
    with piece.path.open("rb") as file:
        if piece.start:
            file.seek(piece.start - 1)
            file.readline()  # what began before
        offset = file.tell()
        while offset < piece.end and (text := file.readline()):
            if text.strip():
                yield offset, text
            offset += len(text)


def _rows(piece: Piece) -> Iterator[tuple[int, bytes]]:
    with pq.ParquetFile(piece.path) as file:
        before = 0
        for group in range(file.num_row_groups):
            count = file.metadata.row_group(group).num_rows
            first, last = max(piece.start - before, 0), min(piece.end - before, count)
            if first < last:
                for row, record in enumerate(file.read_row_group(group).slice(first, last - first).to_pylist(), first):
                    yield before + row, _row_text(record, f"{piece.name}#{before + row + 1}")
            before += count


def _row_text(record: dict[str, Any], id_: str) -> bytes:
    body = record.get("body")
    if isinstance(body, str | bytes):
        return body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    envelope = {"specversion": "1.0", "id": id_, "source": SOURCE, "type": "file"}
    return write_json(envelope | {"datacontenttype": "application/json", "data": _plain(record)}).encode()


def _plain(value: Any) -> Any:
    """A value of Parquet as JSON has it; times and the like as texts."""
    match value:
        case dict():
            return {str(name): _plain(member) for name, member in value.items()}
        case list() | tuple():
            return [_plain(member) for member in value]
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return value.decode("utf-8", "backslashreplace")
        case _:
            return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _metadata(path: Path) -> Any:
    try:
        return pq.read_metadata(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: not Parquet: {error}") from None


def _hidden(path: Path) -> bool:
    """Whether it is being written, or is none of the data, by the custom of Spark's files."""
    return any(part.startswith(("_", ".")) for part in path.parts)

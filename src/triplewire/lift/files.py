"""Events in files: CloudEvents a line each, or one document in a format that the file's suffix tells."""

from __future__ import annotations

import base64
from pathlib import Path

from triplewire.errors import UsageError
from triplewire.lift.documents import write_json

MEDIA_TYPES = {
    ".ttl": "text/turtle",
    ".nt": "application/n-triples",
    ".nq": "application/n-quads",
    ".trig": "application/trig",
    ".jsonld": "application/ld+json",
    ".rdf": "application/rdf+xml",
    ".json": "application/json",
    ".xml": "application/xml",
    ".csv": "text/csv",
    ".rss": "application/rss+xml",
    ".atom": "application/atom+xml",
    ".pdf": "application/pdf",
}
LINES = (".ndjson", ".jsonl")
SOURCE = "urn:triplewire:file"


def enveloped(path: Path, name: str | None = None, type_: str = "file") -> bytes:
    """A document in an envelope whose id is the file's name, or the one given; a CloudEvent is one already."""
    suffix = path.suffix.lower()
    if suffix not in MEDIA_TYPES:
        raise UsageError(f"{path}: the suffix should be one of {', '.join([*LINES, *MEDIA_TYPES])}")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    if suffix == ".json" and b'"specversion"' in data:
        return data
    envelope = {"specversion": "1.0", "id": name or path.name, "source": SOURCE, "type": type_}
    content = {"datacontenttype": MEDIA_TYPES[suffix], "data_base64": base64.b64encode(data).decode()}
    return write_json(envelope | content).encode()

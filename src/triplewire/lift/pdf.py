"""Documents in PDF: the XMP metadata embedded in one, which is RDF/XML about it."""

from __future__ import annotations

import io
import logging
import re
from typing import Any

from triplewire.errors import EventError
from triplewire.lift.entries import Entry
from triplewire.lift.markup import check_entities, xml_text
from triplewire.rdf.graph import HOME
from triplewire.rdf.syntax import read
from triplewire.rdf.terms import Resource, Triple, renamed

DOCUMENT = "urn:triplewire:document"
_RDF = re.compile(r"<(\w+):RDF\b.*</\1:RDF\s*>", re.DOTALL)


def lift_pdf(data: str | bytes, size_limit: int) -> Entry:
    """What a PDF says about itself; the document is the home vertex ``_:H``."""
    if isinstance(data, str):
        raise EventError("a PDF travels in 'data_base64', not in 'data'")
    packet = _packet(data)
    if len(packet) > size_limit:
        raise EventError(f"the XMP metadata has {len(packet):,} bytes, unpacked; the limit is {size_limit:,}")
    text = xml_text(packet)
    check_entities(text)
    found = _RDF.search(text)
    if found is None:
        raise EventError("the PDF's XMP metadata holds no rdf:RDF")
    triples = read(found[0], "application/rdf+xml", base=DOCUMENT)
    return Entry([renamed(triple, dict.fromkeys(_documents(triples), HOME)) for triple in triples], HOME)


def _documents(triples: list[Triple]) -> set[Resource]:
    """The vertices that stand for the document: in XMP all statements are about one thing, named or not."""
    objects = {triple.object for triple in triples}
    return {triple.subject for triple in triples if triple.subject not in objects}


def _packet(data: bytes) -> bytes:
    import pypdf  # here, since few need it and it takes its time
    from pypdf.errors import PyPdfError

    logging.getLogger("pypdf").setLevel(logging.ERROR)  # what it makes of broken documents is said once, below
    try:
        catalogue: Any = pypdf.PdfReader(io.BytesIO(data)).trailer["/Root"]
        if "/Metadata" not in catalogue:
            raise EventError("the PDF has no XMP metadata")
        packet: bytes = catalogue["/Metadata"].get_object().get_data()
    except (PyPdfError, KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise EventError(f"not a PDF that can be read: {error}") from None
    return packet

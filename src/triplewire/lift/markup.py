"""XML: the text of a document in any encoding, what of it is too dangerous to read, and its tree as a graph."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import quote
from xml.parsers import expat

from pyoxigraph import NamedNode

from triplewire.errors import EventError
from triplewire.lift.entries import Blanks, Entry
from triplewire.lift.lifting import Lifting
from triplewire.lift.names import Names
from triplewire.rdf.graph import HOME
from triplewire.rdf.terms import RDF, Resource, Triple

ENTITY_LIMIT = 256
"""The longest text that an entity may stand for: namespaces are, bombs are not."""

_DECLARATION = re.compile(r"""\s*<\?xml\b([^>]*?)\s+encoding\s*=\s*(?:"([^"]*)"|'([^']*)')([^>]*?\?>)""")
_ENTITY = re.compile(r"""<!ENTITY\s+[^\s%"'<>]+\s+(?:"([^"%]*)"|'([^'%]*)')\s*>""")
_NESTED = re.compile(r"&(?!#|lt;|gt;|amp;|quot;|apos;)")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\0?\0", "utf-16-le"),
    (b"\0<\0?", "utf-16-be"),
)
_CHARACTER_SETS = ("utf-8", "utf-16", "ascii", "iso8859", "latin", "cp", "koi8", "euc", "shift", "gb", "big5", "mac")


def xml_text(data: str | bytes) -> str:
    """The text of an XML document, decoded as its byte order mark or declaration says, and declaring no encoding."""
    text = (data if isinstance(data, str) else _decoded(data)).removeprefix("\ufeff")
    return _DECLARATION.sub(r"<?xml\1\4", text, count=1) if _DECLARATION.match(text) else text


def check_entities(text: str) -> None:
    """Refuse entities that could read a file, open a connection, or grow beyond measure.

    What is left are short texts, such as the namespaces that RDF/XML of old abbreviates so.
    """
    if "<!DOCTYPE" not in text:
        return
    for found in re.finditer(r"<!ENTITY\b", text):
        line = text.count("\n", 0, found.start()) + 1
        entity = _ENTITY.match(text, found.start())
        if entity is None:
            raise EventError(f"line {line}: an external, parameter or broken entity; only plain texts are read")
        meaning = entity[1] if entity[1] is not None else entity[2]
        if _NESTED.search(meaning) or len(meaning) > ENTITY_LIMIT:
            raise EventError(f"line {line}: an entity made of entities, or of more than {ENTITY_LIMIT} characters")


@dataclass
class Element:
    """An element as it is read: its name, attributes, children and text."""

    name: str
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    line: int = 0

    @property
    def text(self) -> str:
        return "".join(self.pieces).strip()


def read_elements(text: str, depth_limit: int) -> Element:
    """The root element of an XML document; names with a namespace are written as ``namespace name``."""
    check_entities(text)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    open_: list[Element] = [Element("", {})]

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(open_) > depth_limit:
            raise EventError(
                f"line {parser.CurrentLineNumber}: the XML is nested too deeply: the limit is {depth_limit} levels"
            )
        element = Element(name, attributes, line=parser.CurrentLineNumber)
        open_[-1].children.append(element)
        open_.append(element)

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _name: open_.pop()
    parser.CharacterDataHandler = lambda piece: open_[-1].pieces.append(piece)
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise EventError(f"not well-formed XML: line {error.lineno}, column {error.offset + 1}: {reason}") from None
    return open_[0].children[0]


def lift_markup(data: str | bytes, names: Names, lifting: Lifting) -> Entry:
    """The tree of an XML document as a graph.

    The root is the home vertex, and its name is its class. An attribute is an arc to a text, and so is a child that
    holds text alone; any other child is an arc to a vertex of its own, whose text is its ``rdf:value``.
    """
    root = read_elements(xml_text(data), lifting.depth_limit)
    home = _subject(root, names) or HOME
    class_ = names.class_ or _named(root.name, names)
    arcs = _arcs(home, root, names, Blanks())
    return Entry([Triple(home, RDF.type, class_), *arcs], home)


def _arcs(subject: Resource, element: Element, names: Names, fresh: Blanks) -> Iterator[Triple]:
    identified = _subject(element, names) is not None
    for name, value in element.attributes.items():
        if not (identified and _plain(name) == names.id):
            yield _scalar(subject, name, value, element, names)
    for child in element.children:
        if child.attributes or child.children:
            vertex = _subject(child, names) or fresh()
            yield Triple(subject, _named(child.name, names), vertex)
            yield from _arcs(vertex, child, names, fresh)
        elif not (identified and _plain(child.name) == names.id):
            yield _scalar(subject, child.name, child.text, child, names)
    if element.text:
        yield Triple(subject, RDF.value, names.value("", element.text, f"line {element.line}"))


def _scalar(subject: Resource, name: str, text: str, element: Element, names: Names) -> Triple:
    if _plain(name) == names.type:
        return Triple(subject, RDF.type, names.kind(text))
    return Triple(subject, _named(name, names), names.value(_plain(name), text, f"line {element.line}, {_plain(name)}"))


def _subject(element: Element, names: Names) -> Resource | None:
    """The vertex that an element names by its id attribute or child, if it does."""
    if names.id is None:
        return None
    for name, text in (*element.attributes.items(), *((child.name, child.text) for child in element.children)):
        if _plain(name) == names.id:
            return names.identifier(text, f"line {element.line}")
    return None


def _named(name: str, names: Names) -> NamedNode:
    """The property or class of an element's or attribute's name: as mapped, else in its namespace, else by default."""
    namespace, _, local = name.rpartition(" ")
    if not namespace or local in names.properties:
        return names.property(local)
    joint = "" if namespace[-1] in "#/:" else "#"
    try:
        return NamedNode(namespace + joint + quote(local, safe=""))
    except ValueError as error:
        raise EventError(f"the namespace {namespace!r} makes no IRI: {error}") from None


def _plain(name: str) -> str:
    return name.rpartition(" ")[2]


def _decoded(data: bytes) -> str:
    name = next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)
    if name is None:
        declared = _DECLARATION.match(data[:1024].decode("latin-1"))
        name = (declared[2] or declared[3]) if declared else "utf-8"
    try:
        known = codecs.lookup(name).name
        if not known.startswith(_CHARACTER_SETS):
            raise LookupError(name)
        return data.decode(known)
    except UnicodeDecodeError as error:
        raise EventError(f"not {name}: byte {data[error.start]:#04x} at offset {error.start}") from None
    except (LookupError, ValueError):
        raise EventError(f"the declared encoding {name[:40]!r} is not known") from None

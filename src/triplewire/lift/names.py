"""What the names in an event mean: keys of JSON, elements and attributes of XML, columns of a table.

A mapping is a JSON object, all of whose members may be left out::

    {
      "prefixes": {"ex": "http://example.org/"},
      "class": "ex:Offer",
      "id": "sku",
      "base": "http://example.org/offers/",
      "type": "kind",
      "vocabulary": "http://example.org/",
      "properties": {"price": {"property": "ex:price", "datatype": "xsd:decimal"}, "name": "rdfs:label"}
    }

A name that ``properties`` does not list belongs to ``vocabulary``, which is ``urn:triplewire:key:`` if left out.
Instead of all this, JSON may be given a JSON-LD context as ``"@context"``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from pyoxigraph import Literal, NamedNode

from triplewire.errors import EventError
from triplewire.lift.keys import KEYS
from triplewire.rdf.terms import WELL_KNOWN_PREFIXES, XSD, Resource, Term
from triplewire.rdf.values import NoValueError, is_numeric_type, value

REFERENCE = "@id"
"""In place of a datatype: the value is the IRI of a thing."""
MEMBERS = ("for", "@context", "prefixes", "class", "id", "base", "type", "vocabulary", "properties")


@dataclass(frozen=True)
class Names:
    """The meaning of names, by default all under the default vocabulary with the values as they come."""

    context: Any = None
    class_: NamedNode | None = None
    id: str | None = None
    base: str | None = None
    type: str | None = None
    vocabulary: str = KEYS
    prefixes: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, NamedNode] = field(default_factory=dict)
    datatypes: Mapping[str, NamedNode | str] = field(default_factory=dict)

    def property(self, name: str) -> NamedNode:
        """The property that a name stands for."""
        return self.properties.get(name) or self.term(name)

    def term(self, name: str) -> NamedNode:
        """The IRI that a name is, or stands for under the vocabulary."""
        return NamedNode(self.vocabulary + quote(name, safe="", errors="surrogatepass"))

    def kind(self, text: str) -> NamedNode:
        """The class that a value of the type key names: an IRI, in full or by prefix, or a name of the vocabulary."""
        return expand(text, self.prefixes) if ":" in text else self.term(text)

    def value(self, name: str, found: Any, place: str) -> Term:
        """What a scalar under a name is: a literal of the declared datatype, else of its own; or a thing."""
        text, own = scalar(found)
        datatype = self.datatypes.get(name, own)
        if isinstance(datatype, str):
            return self._reference(text, place)
        try:
            literal = Literal(text, datatype=datatype)
        except ValueError as error:
            raise EventError(f"{place}: {error}") from None
        if name in self.datatypes and not _well_formed(literal):
            raise EventError(f"{place}: {text[:60]!r} is no value of {datatype}")
        return literal

    def identifier(self, found: Any, place: str) -> Resource | None:
        """The IRI of the thing whose id this is: the id itself if it is one, else under ``base``; else none."""
        text = scalar(found)[0]
        if self.base is not None and "://" not in text and not text.startswith("urn:"):
            return NamedNode(self.base + quote(text, safe="", errors="surrogatepass"))
        if ":" not in text:
            return None
        return self._reference(text, place)

    def _reference(self, text: str, place: str) -> NamedNode:
        try:
            return expand(text, self.prefixes)
        except ValueError as error:
            raise EventError(f"{place}: {error}") from None


def scalar(found: Any) -> tuple[str, NamedNode]:
    """The text and datatype of a JSON scalar, a number as it was written."""
    if isinstance(found, bool):
        return ("true" if found else "false"), XSD.boolean
    if isinstance(found, int):
        return str(found), XSD.integer
    if isinstance(found, Decimal | float):
        return f"{Decimal(str(found)):f}", XSD.decimal
    return found, XSD.string


def expand(name: str, prefixes: Mapping[str, str]) -> NamedNode:
    """The IRI that a name is, in full or by a prefix."""
    prefix, colon, local = name.partition(":")
    if colon and not local.startswith("//"):
        base = prefixes.get(prefix) or WELL_KNOWN_PREFIXES.get(prefix)
        if base is not None:
            return NamedNode(base + local)
    return NamedNode(name)


def read_names(record: Mapping[str, Any]) -> Names:
    """The names that a mapping's record describes."""
    if unknown := [name for name in record if name not in MEMBERS]:
        raise EventError(f"a mapping has no {unknown[0]!r}; known are {', '.join(MEMBERS)}")
    if record.keys() - {"for", "@context"} and "@context" in record:
        raise EventError("a mapping has either '@context' or other members, not both")
    prefixes = record.get("prefixes", {})
    properties: dict[str, NamedNode] = {}
    datatypes: dict[str, NamedNode | str] = {}
    for name, meant in record.get("properties", {}).items():
        meant = {"property": meant} if isinstance(meant, str) else meant
        if "property" in meant:
            properties[name] = expand(meant["property"], prefixes)
        if (datatype := meant.get("datatype")) is not None:
            datatypes[name] = datatype if datatype == REFERENCE else expand(datatype, prefixes)
    class_ = record.get("class")
    return Names(
        context=record.get("@context"),
        class_=None if class_ is None else expand(class_, prefixes),
        id=record.get("id"),
        base=record.get("base"),
        type=record.get("type"),
        vocabulary=record.get("vocabulary", KEYS),
        prefixes=prefixes,
        properties=properties,
        datatypes=datatypes,
    )


def _well_formed(literal: Literal) -> bool:
    """Whether a literal's text is one of its datatype, as far as we know the datatype."""
    known = is_numeric_type(literal.datatype) or literal.datatype in (XSD.boolean, XSD.date, XSD.dateTime, XSD.time)
    try:
        return not known or value(literal) is not None
    except NoValueError:
        return False

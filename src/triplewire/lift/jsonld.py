"""JSON-LD with contexts from the registry. Nothing is fetched, and nothing is lost without a word.

JSON-LD has no errors for many mistakes: a number where a term holds IRIs, a text where it holds a map of languages, a
relative reference without a base. What is lost so, or changes its meaning, is refused here, with its place as a JSON
Pointer. A registered context may say more about a term than JSON-LD can, in a member ``expect`` beside ``@context``::

    "expect": {
      "name": {"value": "text"},
      "first": {"class": ["CollectionPage", "Link"]},
      "orderedItems": {"of": ["OrderedCollection", "OrderedCollectionPage"]}
    }

``value`` is what kind of value it has, ``class`` what an object there may be, ``of`` what has such a member.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from triplewire.errors import EventError
from triplewire.lift.documents import kind, write_json
from triplewire.lift.entries import Entry
from triplewire.lift.lifting import Lifting
from triplewire.lift.names import scalar
from triplewire.rdf.graph import HOME
from triplewire.rdf.syntax import read
from triplewire.rdf.terms import XSD

MEDIA_TYPE = "application/ld+json"
REFERENCES = ("@id", "@vocab")
NO_DATATYPES = (*REFERENCES, "@none", "@json", None)
STRINGS = ("xsd:string", XSD.string.value)

LANGUAGE = re.compile(
    r"(([a-z]{2,3}(-[a-z]{3}){0,3}|[a-z]{4,8})(-[a-z]{4})?(-([a-z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*"
    r"(-[0-9a-wyz](-[a-z0-9]{2,8})+)*(-x(-[a-z0-9]{1,8})+)?|x(-[a-z0-9]{1,8})+|@none)",
    re.IGNORECASE,
)
"""RFC 5646's language tags, and JSON-LD's name for none."""


def lift_linked(document: Any, lifting: Lifting, plain: bool = False) -> Entry:
    """The graph of a JSON-LD document; of ``plain`` JSON, the root is ``_:H`` and numbers are as in plain JSON."""
    if not isinstance(document, dict | list):
        raise EventError(f"a JSON-LD document is an object or an array, not {kind(document)}")
    if isinstance(document, list) and any(isinstance(member, dict) and "@context" in member for member in document):
        raise EventError("an array of documents, each with an @context of its own: publish each as an event")
    reader = _Reader(lifting, plain)
    read_out = reader.value(document, None, Terms(), "")
    anonymous = plain and not reader.root_named
    if anonymous:
        read_out = {**read_out, "@id": str(HOME)}
    return Entry(read(write_json(read_out), MEDIA_TYPE), HOME if anonymous else None)


@dataclass(frozen=True)
class Terms:
    """A context as it stands at a place of a document: definitions by term, and what is expected of terms."""

    definitions: Mapping[str, Any] = field(default_factory=dict)
    expected: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def keyword(self, key: str) -> str | None:
        """The keyword that a key is, or is an alias of."""
        if key.startswith("@"):
            return key
        definition = self.definitions.get(key)
        meant = definition.get("@id") if isinstance(definition, dict) else definition
        return meant if isinstance(meant, str) and meant.startswith("@") else None

    def definition(self, key: str) -> Mapping[str, Any]:
        found = self.definitions.get(key)
        return found if isinstance(found, dict) else {}

    def types(self, node: Mapping[str, Any]) -> list[str]:
        """The classes that a node names."""
        for key, value in node.items():
            if self.keyword(key) == "@type":
                return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]
        return []


class _Reader:
    """Goes through a document once: puts registered contexts in their places, and looks at every value."""

    def __init__(self, lifting: Lifting, plain: bool) -> None:
        self.lifting = lifting
        self.plain = plain
        self.root_named = False
        self._opening: list[str] = []

    def value(self, found: Any, key: str | None, terms: Terms, place: str) -> Any:
        """A value under a key, or the document itself."""
        if isinstance(found, list):
            return [self.value(one, key, terms, f"{place}/{number}") for number, one in enumerate(found)]
        definition = {} if key is None else terms.definition(key)
        containers = _several(definition.get("@container"))
        if "@language" in containers and found is not None:
            return _language_map(found, place)
        _check_value(found, definition, terms, place)
        if isinstance(found, dict):
            if definition.get("@type") == "@json" or any(terms.keyword(name) == "@value" for name in found):
                return found
            inner = self.extended(terms, definition["@context"]) if "@context" in definition else terms
            if any(name in containers for name in ("@index", "@id", "@type", "@graph")):
                return {name: self.value(one, None, inner, f"{place}/{name}") for name, one in found.items()}
            return self.node(found, key, inner, place)
        return self._number(found, definition) if self.plain and _is_number(found) else found

    def node(self, found: Mapping[str, Any], key: str | None, terms: Terms, place: str) -> dict[str, Any]:
        out: dict[str, Any] = {}
        if "@context" in found:
            terms = self.extended(terms, found["@context"])
            out["@context"] = self.inlined(found["@context"])
        types = terms.types(found)
        for scoped in (terms.definition(one).get("@context") for one in types):
            terms = terms if scoped is None else self.extended(terms, scoped)
        for name, member in found.items():
            if name != "@context":
                out[name] = self._member(name, member, key, types, terms, f"{place}/{name}", root=place == "")
        return out

    def _member(
        self, name: str, member: Any, key: str | None, types: list[str], terms: Terms, place: str, root: bool
    ) -> Any:
        match terms.keyword(name):
            case None:
                _check_expected(member, terms.expected.get(name, {}), types, terms, place)
                return self.value(member, name, terms, place)
            case "@id":
                if not isinstance(member, str):
                    raise EventError(f"{place}: an id should be a text, not {kind(member)}")
                _check_reference(member, terms, place)
                self.root_named |= root
            case "@type":
                if not all(isinstance(one, str) for one in (member if isinstance(member, list) else [member])):
                    raise EventError(f"{place}: a type should be a text or an array of texts, not {kind(member)}")
            case "@list" | "@set":
                return self.value(member, key, terms, place)
            case "@graph" | "@included" | "@reverse" | "@nest":
                return self.value(member, None, terms, place)
        return member

    def _number(self, found: int | Decimal | float, definition: Mapping[str, Any]) -> Any:
        """A number of plain JSON, of the term's datatype or else as it was written."""
        text, own = scalar(found)
        declared = definition.get("@type")
        return {"@value": text, "@type": own.value if declared in NO_DATATYPES else declared}

    def extended(self, terms: Terms, context: Any) -> Terms:
        """The terms that are known once a context is added."""
        if context is None:
            return Terms()
        if isinstance(context, list):
            for one in context:
                terms = self.extended(terms, one)
            return terms
        if isinstance(context, str):
            document = self._registered(context)
            terms = Terms(terms.definitions, {**terms.expected, **document.get("expect", {})})
            with self._opened(context):
                return self.extended(terms, document["@context"])
        if not isinstance(context, dict):
            raise EventError(f"an @context should be an address, an object, an array or null, not {kind(context)}")
        if isinstance(context.get("@import"), str):
            terms = self.extended(terms, context["@import"])
        return Terms({**terms.definitions, **context}, terms.expected)

    def inlined(self, context: Any) -> Any:
        """A context with every address replaced by what is registered under it."""
        if isinstance(context, str):
            with self._opened(context):
                return self.inlined(self._registered(context)["@context"])
        if isinstance(context, list):
            return [inner for one in context for inner in _several(self.inlined(one), null=True)]
        if not isinstance(context, dict):
            return context
        imported = self.inlined(context["@import"]) if isinstance(context.get("@import"), str) else {}
        if not isinstance(imported, dict):
            raise EventError(f"the JSON-LD context {context['@import']} cannot be imported: it is no object")
        own = {name: self._scoped(meant) for name, meant in context.items() if name != "@import"}
        return {**imported, **own}

    def _scoped(self, definition: Any) -> Any:
        if isinstance(definition, dict) and "@context" in definition:
            return {**definition, "@context": self.inlined(definition["@context"])}
        return definition

    def _registered(self, address: str) -> dict[str, Any]:
        document = self.lifting.context(address)
        if not isinstance(document, dict) or "@context" not in document:
            raise EventError(f"what is registered as the JSON-LD context {address} has no @context")
        return document

    @contextmanager
    def _opened(self, address: str) -> Iterator[None]:
        """A registered context while it is read, which it must not be twice at a time."""
        if address in self._opening:
            raise EventError(f"the JSON-LD context {address} includes itself")
        self._opening.append(address)
        yield
        self._opening.pop()


def _check_value(found: Any, definition: Mapping[str, Any], terms: Terms, place: str) -> None:
    """Refuse what the term's own definition rules out."""
    declared = definition.get("@type")
    if declared in REFERENCES:
        if not isinstance(found, str | dict | None):
            raise EventError(f"{place}: should be an IRI or an object, not {kind(found)}")
        if isinstance(found, str) and declared == "@id":
            _check_reference(found, terms, place)
    elif declared not in NO_DATATYPES and isinstance(found, dict):
        if not any(terms.keyword(name) in ("@value", "@list", "@set") for name in found):
            raise EventError(f"{place}: should be a value of {declared}, not an object")
    elif declared in STRINGS and _is_number(found):
        raise EventError(f"{place}: should be a text, not a number")


def _check_expected(member: Any, expected: Mapping[str, Any], types: list[str], terms: Terms, place: str) -> None:
    """Refuse what the registered context expects otherwise."""
    owners, classes = expected.get("of"), expected.get("class")
    if owners and types and not set(types) & set(owners):
        raise EventError(f"{place}: belongs to {_either(owners)}, not to {_either(types)}")
    for found in member if isinstance(member, list) else [member]:
        if expected.get("value") == "text" and not (found is None or isinstance(found, str) or _is_value(found)):
            raise EventError(f"{place}: should be a text, not {kind(found)}")
        if classes and isinstance(found, dict) and (own := terms.types(found)) and not set(own) & set(classes):
            raise EventError(f"{place}: should be {_either(classes)}, not {_either(own)}")


def _check_reference(found: str, terms: Terms, place: str) -> None:
    """Refuse a relative reference where no base says what it is relative to: JSON-LD would drop it without a word."""
    if ":" not in found and not terms.definitions.get("@base"):
        raise EventError(f"{place}: {found[:80]!r} is a relative reference, and there is no @base")


def _language_map(found: Any, place: str) -> Any:
    if not isinstance(found, dict):
        raise EventError(f"{place}: should be a map from languages to texts, not {kind(found)}")
    for tag, texts in found.items():
        if not LANGUAGE.fullmatch(tag):
            raise EventError(f"{place}: {tag[:80]!r} is no language tag of RFC 5646")
        if not all(isinstance(text, str | None) for text in (texts if isinstance(texts, list) else [texts])):
            raise EventError(f"{place}/{tag}: should be a text, not {kind(texts)}")
    return found


def _is_value(found: Any) -> bool:
    return isinstance(found, dict) and "@value" in found


def _is_number(found: Any) -> bool:
    return isinstance(found, int | Decimal | float) and not isinstance(found, bool)


def _several(value: Any, null: bool = False) -> list[Any]:
    if value is None and not null:
        return []
    return value if isinstance(value, list) else [value]


def _either(names: Iterable[str]) -> str:
    return " or ".join(names)

"""Short names for people to read: ``ex:price`` where a prefix is known, else the end of the IRI."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from pyoxigraph import BlankNode, Literal, NamedNode

from triplewire.rdf.terms import RDF, WELL_KNOWN_PREFIXES, XSD, Term

_DECLARED = re.compile(
    r"""(?:@prefix|\bprefix)\s+(?P<turtle>[\w.-]*):\s*<(?P<of_turtle>[^<>\s]+)>
      | \bxmlns:(?P<xml>[\w.-]+)\s*=\s*["'](?P<of_xml>[^"'<>\s]+)["']""",
    re.IGNORECASE | re.VERBOSE,
)
_LOCAL = re.compile(r"[^/#:]+$")
_PLAIN_DATATYPES = frozenset({XSD.string, XSD.integer, XSD.decimal, XSD.boolean, RDF.langString})


def declared_prefixes(document: str) -> dict[str, str]:
    """The prefixes that a Turtle, TriG or RDF/XML document declares; for showing names, not for reading them."""
    found = {}
    for match in _DECLARED.finditer(document):
        found[match["turtle"] or match["xml"] or ""] = match["of_turtle"] or match["of_xml"]
    return found


def namespace(iri: str) -> str:
    """All of an IRI but its last part."""
    found = _LOCAL.search(iri)
    return iri[: found.start()] if found else iri


@dataclass(frozen=True)
class Names:
    """How to call the terms of a document.

    A name with a known prefix is written with it, and without if its namespace is ``bare``. Any other is called by
    the last part of its IRI, unless some other IRI among ``terms`` ends alike.
    """

    terms: frozenset[NamedNode]
    prefixes: Mapping[str, str] = field(default_factory=dict)
    bare: str | None = None

    @classmethod
    def of(cls, terms: Iterable[Term], prefixes: Mapping[str, str] | None = None, *, bare: bool = False) -> Names:
        """Names for these terms; with ``bare``, those of the namespace that most of them are from have no prefix."""
        named = frozenset(term for term in terms if isinstance(term, NamedNode))
        own = (namespace(term.value) for term in named)
        spaces = Counter(space for space in own if space not in WELL_KNOWN_PREFIXES.values())
        most = min(spaces, key=lambda space: (-spaces[space], space), default=None)
        return cls(named, WELL_KNOWN_PREFIXES | dict(prefixes or {}), most if bare else None)

    def short(self, term: Term) -> str:
        """The term as people read it."""
        if isinstance(term, BlankNode):
            return str(term)
        if isinstance(term, Literal):
            return self._literal(term)
        return self._short.get(term) or self._name(term)

    def full(self, term: Term) -> str:
        """The same, but an IRI with no known prefix is written out."""
        return self._prefixed(term) or str(term) if isinstance(term, NamedNode) else self.short(term)

    @cached_property
    def _short(self) -> dict[NamedNode, str]:
        """The terms' names, of which no two are alike."""
        called: dict[str, list[NamedNode]] = defaultdict(list)
        for term in self.terms:
            called[self._name(term)].append(term)
        return {
            term: name if len(terms) == 1 else self._prefixed(term) or str(term)
            for name, terms in called.items()
            for term in terms
        }

    def _name(self, term: NamedNode) -> str:
        space = namespace(term.value)
        prefixed = None if space == self.bare else self._prefixed(term)
        return prefixed or term.value[len(space) :] or str(term)

    def _prefixed(self, term: NamedNode) -> str | None:
        fits = [(len(space), prefix) for prefix, space in self.prefixes.items() if term.value.startswith(space)]
        if not fits:
            return None
        length, prefix = max(fits)
        rest = term.value[length:]
        return f"{prefix}:{rest}" if rest and not re.search(r"[/#:?\s]", rest) else None

    def _literal(self, literal: Literal) -> str:
        text = printable(literal.value)
        if literal.language:
            return f'"{text}"@{literal.language}'
        if literal.datatype == XSD.string:
            return f'"{text}"'
        if literal.datatype in _PLAIN_DATATYPES:
            return text
        return f'"{text}"^^{self.short(literal.datatype)}'


def printable(text: str) -> str:
    """A text with escapes for whatever would break a line or command a terminal."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)

"""The text of a SPARQL query: its lexemes, the names in it, and what is refused by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from triplewire.errors import Place, SubscriptionError, nearest

_CODE = r"\\u[0-9A-Fa-f]{4}|\\U00(?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4}"
_ESCAPED = r"\\[_~.\-!$&'()*+,;=/?#@%]"
_LOCAL = rf"(?:[\w:%]|{_ESCAPED})(?:(?:[\w.:%\-]|{_ESCAPED})*(?:[\w:%\-]|{_ESCAPED}))?"
_TOKEN = re.compile(
    rf"""
    (?P<comment>\#[^\n]*)
  | (?P<string>'''(?:(?:'|'')?(?:[^'\\]|\\.))*''' | \"\"\"(?:(?:"|"")?(?:[^"\\]|\\.))*\"\"\"
      | '(?:[^'\\\n]|\\.)*' | "(?:[^"\\\n]|\\.)*")
  | (?P<iri><(?:[A-Za-z][A-Za-z0-9+.\-]*:|(?![^<>]*&&))(?:[^\x00-\x20<>"{{}}|^`\\]|{_CODE})*>)
  | (?P<blank>_:[\w.\-]*\w)
  | (?P<name>[^\W\d_][\w.\-]*:(?:{_LOCAL})? | :(?:{_LOCAL})?)
  | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]+ | [0-9]*\.[0-9]+ | [0-9]+)
  | (?P<tag>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
  | (?P<word>a(?=[0-9]) | [?$]?\w+)
  | (?P<other>\S)
    """,
    re.VERBOSE | re.DOTALL,
)
_REFUSED = {
    "SERVICE": "SERVICE would ask another machine",
    "GRAPH": "GRAPH asks for named graphs, and an event's graph is the union of its own",
    "FROM": "FROM names another data set, and there is only the event",
    "DESCRIBE": "DESCRIBE leaves open what it returns",
}
_RESTLESS = ("NOW", "RAND", "UUID", "STRUUID", "BNODE")
_UPDATES = ("LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "INSERT", "DELETE", "WITH")
_NO_UPDATE = "updates change data, and an event is never changed"


class Lexeme(NamedTuple):
    """A word, name, text, number or sign, and where it starts."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def lexemes(text: str) -> list[Lexeme]:
    """The lexemes of a query, comments left out."""
    found = (Lexeme(found.lastgroup or "other", found.group(), found.start()) for found in _TOKEN.finditer(text))
    return [lexeme for lexeme in found if lexeme.kind != "comment"]


def is_variable(lexeme: Lexeme) -> bool:
    return lexeme.kind == "word" and lexeme.text[0] in "?$"


def refuse(text: str, found: list[Lexeme]) -> None:
    """Refuse by name what has no meaning for a single event."""
    words = [lexeme for lexeme in found if lexeme.kind == "word"]
    for lexeme in words:
        if (word := lexeme.text.upper()) in _REFUSED:
            raise error_at(text, lexeme.start, f"{_REFUSED[word]}.")
    for lexeme, following in pairwise(found):
        if (word := lexeme.text.upper()) in _RESTLESS and following.text == "(":
            raise error_at(text, lexeme.start, f"{word} would answer otherwise each time the event is matched.")
    body = [lexeme for lexeme in words if lexeme.text.upper() not in ("PREFIX", "BASE")]
    if body and (word := body[0].text.upper()) in _UPDATES:
        raise error_at(text, body[0].start, f"{word}: {_NO_UPDATE}.")


def prologue(found: list[Lexeme]) -> tuple[dict[str, str], str | None, list[Lexeme]]:
    """The prefixes and the base that a query declares, and the lexemes that follow."""
    prefixes: dict[str, str] = {}
    base: str | None = None
    at = 0
    while at + 1 < len(found):
        word = found[at].text.upper()
        if word == "BASE" and found[at + 1].kind == "iri":
            base = _unescaped(found[at + 1].text[1:-1])
            at += 2
        elif (
            word == "PREFIX"
            and found[at + 1].text.endswith(":")
            and at + 2 < len(found)
            and found[at + 2].kind == "iri"
        ):
            prefixes[found[at + 1].text[:-1]] = _unescaped(found[at + 2].text[1:-1])
            at += 3
        else:
            break
    return prefixes, base, found[at:]


def check_prefixes(text: str, found: Iterable[Lexeme], prefixes: Mapping[str, str]) -> None:
    for lexeme in found:
        prefix = lexeme.text.partition(":")[0]
        if lexeme.kind == "name" and prefix not in prefixes:
            if text.startswith("//", lexeme.end):
                raise error_at(text, lexeme.start, "an IRI stands in angle brackets, without blanks in it.")
            near = nearest(prefix, prefixes)
            raise error_at(text, lexeme.start, f"the prefix '{prefix}:' is not declared.", near and f"{near}:")


def iri_of(lexeme: Lexeme, prefixes: Mapping[str, str]) -> str | None:
    """The IRI that a lexeme is, written out or prefixed; None if it is none."""
    if lexeme.kind == "iri":
        return _unescaped(lexeme.text[1:-1])
    if lexeme.kind == "name":
        prefix, _, local = lexeme.text.partition(":")
        return prefixes[prefix] + re.sub(r"\\(.)", r"\1", local) if prefix in prefixes else None
    return None


def _unescaped(iri: str) -> str:
    return re.sub(_CODE, lambda found: chr(int(found[0].lstrip("\\uU"), 16)), iri)


def replace_iris(query: str, by: Mapping[str, str]) -> str:
    """A query with IRIs in angle brackets replaced; what stands in texts is left alone."""
    return replaced(query, ((lexeme, by[lexeme.text[1:-1]]) for lexeme in _iris(query) if lexeme.text[1:-1] in by))


def _iris(query: str) -> Iterator[Lexeme]:
    return (lexeme for lexeme in lexemes(query) if lexeme.kind == "iri")


def replaced(text: str, by: Iterable[tuple[Lexeme, str]], start: int = 0) -> str:
    """The text from ``start`` on, with lexemes replaced."""
    out, end = [], start
    for lexeme, new in by:
        out += [text[end : lexeme.start], new]
        end = lexeme.end
    return "".join([*out, text[end:]])


def error_at(text: str, offset: int, message: str, near: str | None = None) -> SubscriptionError:
    return SubscriptionError(message, language="sparql", place=Place.at(text, offset), nearest=near)

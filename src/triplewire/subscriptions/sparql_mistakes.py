"""What is wrong with a query that cannot be parsed, told at the place where a reader would mend it.

rdflib's parser says only that it failed. This looks for the usual mistakes one by one, and failing that for the place
up to which Oxigraph's parser came.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from pyoxigraph import Store

from triplewire.errors import SubscriptionError, nearest
from triplewire.subscriptions.functions import FUNCTIONS, LAZY_FUNCTIONS
from triplewire.subscriptions.oxigraph import OWN
from triplewire.subscriptions.sparql_text import Lexeme, place

_FORMS = ("ASK", "SELECT", "CONSTRUCT")
_CLOSING = {"(": ")", "{": "}", "[": "]"}
_KEYWORDS = (
    "SELECT ASK CONSTRUCT WHERE PREFIX BASE DISTINCT REDUCED OPTIONAL UNION MINUS FILTER BIND VALUES UNDEF EXISTS NOT "
    "IN AS GROUP ORDER BY HAVING LIMIT OFFSET ASC DESC COUNT SUM MIN MAX AVG SAMPLE GROUP_CONCAT SEPARATOR"
).split()
_CALLS = {name.upper() for name in {**FUNCTIONS, **OWN, **LAZY_FUNCTIONS} if ":" not in name} | {"URI", "ISURI"}
_TERMS = ("iri", "name", "number", "string", "blank")
_WORDS = ("a", "true", "false")
_SIGNS = {"and": "&&", "or": "||", "not": "!"}
_POSITION = re.compile(r"error at (\d+):(\d+)")

Finding = tuple[Lexeme | None, str, Sequence[str]]


def mistake(text: str, body: list[Lexeme], query: str) -> SubscriptionError:
    """The error of a query whose lexemes after the prologue are ``body``; ``query`` is the text with its prefixes."""
    for look in (_no_form, _open_text, _brackets, _strange_word, _half_filter, _short_triple):
        found = look(body)
        if found is not None:
            at, message, expected = found
            return _error(text, at, message, expected)
    return _error(text, _farthest(text, body, query), "", ())


def _error(text: str, at: Lexeme | None, message: str, expected: Sequence[str]) -> SubscriptionError:
    what = f"found {at.text[:20]!r}" if at else "the text ends here"
    where = place(text, at.start if at else len(text.rstrip()))
    return SubscriptionError(
        f"{what}{f': {message}' if message else ''}.", language="sparql", place=where, expected=expected
    )


def _no_form(body: list[Lexeme]) -> Finding | None:
    if not body:
        return None, "", _FORMS
    if body[0].text.upper() in _FORMS:
        return None
    near = nearest(body[0].text.upper(), [*_FORMS, "PREFIX"])
    return body[0], f"did you mean {near}?"[:-1] if near else "", _FORMS


def _open_text(body: list[Lexeme]) -> Finding | None:
    quote = next((lexeme for lexeme in body if lexeme.kind == "other" and lexeme.text in "'\""), None)
    return (quote, "the text is not closed on its line", ()) if quote else None


def _brackets(body: list[Lexeme]) -> Finding | None:
    opened: list[Lexeme] = []
    for lexeme in body:
        if lexeme.kind != "other":
            continue
        if lexeme.text in _CLOSING:
            opened.append(lexeme)
        elif lexeme.text in _CLOSING.values():
            if not opened:
                return lexeme, "it closes nothing", ()
            wanted = _CLOSING[opened.pop().text]
            if wanted != lexeme.text:
                return lexeme, "", (repr(wanted),)
    return (None, f"a {opened[-1].text!r} is not closed", (repr(_CLOSING[opened[-1].text]),)) if opened else None


def _strange_word(body: list[Lexeme]) -> Finding | None:
    """A bare word that SPARQL does not have."""
    for lexeme, following in pairwise([*body, Lexeme("end", "", 0)]):
        word = lexeme.text
        if lexeme.kind != "word" or word[0] in "?$" or word in _WORDS or word.upper() in {*_KEYWORDS, *_CALLS}:
            continue
        if word.lower() in _SIGNS:
            return lexeme, f"SPARQL writes {_SIGNS[word.lower()]}", ()
        called = following.text == "("
        near = nearest(word.upper(), _CALLS if called else [*_KEYWORDS, *_CALLS])
        kind = "function" if called else "keyword"
        hint = f", did you mean {near}" if near else "; a variable begins with ?, a name has a prefix or stands in <>"
        return lexeme, f"SPARQL has no such {kind}{hint}", ()
    return None


def _half_filter(body: list[Lexeme]) -> Finding | None:
    """A condition without its parentheses, or an operator without its second operand."""
    for lexeme, following in pairwise(body):
        word = lexeme.text.upper()
        is_call = (
            following.text == "("
            or following.text.upper() in {*_CALLS, "NOT", "EXISTS"}
            or following.kind in ("iri", "name")
        )
        if word in ("FILTER", "BIND", "HAVING") and lexeme.kind == "word" and not is_call:
            return following, f"what follows {word} stands in parentheses", ("'('",)
        if lexeme.kind == "other" and lexeme.text in "<>=+&|" and following.text in (")", "}"):
            return following, "an operand is missing", ("a variable", "a constant", "a function", "'('")
    return None


def _short_triple(body: list[Lexeme]) -> Finding | None:
    """A triple that ends before its object."""
    depth, parts = 0, 0
    for lexeme, following in pairwise(body):
        if lexeme.text in ("{", ".", "}"):
            parts = 0
        elif lexeme.text == ";":
            parts = 1
        elif lexeme.text == "," and depth == 0:
            parts = 2
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(lexeme.text, 0)
        is_term = (
            lexeme.kind in ("iri", "name", "number", "string", "blank") or lexeme.text[0] in "?$" or lexeme.text == "a"
        )
        if depth == 0 and is_term:
            parts += 1
        elif lexeme.kind == "word" or lexeme.text in "/|^*+!)]":
            parts = 9
        if depth == 0 and following.text in ("}", ".") and parts in (1, 2):
            expected = ("a property", "an object")[parts - 1 :]
            return following, "the triple is not complete", expected
    return None


def _farthest(text: str, body: list[Lexeme], query: str) -> Lexeme | None:
    """The lexeme at which Oxigraph's parser stops."""
    try:
        Store().query(query)
    except (SyntaxError, ValueError, RuntimeError) as error:
        found = _POSITION.search(str(error))
        if found:
            lines = query.split("\n")
            offset = sum(len(line) + 1 for line in lines[: int(found[1]) - 1]) + int(found[2]) - 1
            offset -= len(query) - len(text)
            before = [lexeme for lexeme in body if lexeme.start < offset]
            return before[-1] if before and offset < len(text.rstrip()) else None
    return None

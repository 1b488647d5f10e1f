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
    for look in (_no_form, _open_text, _brackets, _strange_word, _head, _half_filter, _triple):
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


def refusal(text: str, body: Sequence[Lexeme], reason: str) -> SubscriptionError:
    """The error of a query that can be parsed, and that Oxigraph refuses for a reason that is not of its grammar."""
    found = _blank_in_two_groups(body) or _not_grouped(body) or _taken(body)
    if found is not None:
        at, message, expected = found
        return _error(text, at, message, expected)
    return SubscriptionError(f"Oxigraph refuses the query: {reason[:200]}", language="sparql")


def _blank_in_two_groups(body: Sequence[Lexeme]) -> Finding | None:
    opened, groups = 0, [0]
    seen: dict[str, int] = {}
    for lexeme in body:
        if lexeme.text == "{":
            opened += 1
            groups.append(opened)
        elif lexeme.text == "}" and len(groups) > 1:
            groups.pop()
        elif lexeme.kind == "blank" and seen.setdefault(lexeme.text, groups[-1]) != groups[-1]:
            return lexeme, "a blank node belongs to one group; use a variable to speak of it in another", ()
    return None


def _not_grouped(body: Sequence[Lexeme]) -> Finding | None:
    words = [lexeme.text.upper() for lexeme in body]
    if "GROUP" not in words or "{" not in words:
        return None
    keys = {lexeme.text for lexeme in body[words.index("GROUP") :]}
    depth = 0
    for lexeme in body[: words.index("{")]:
        depth += {"(": 1, ")": -1}.get(lexeme.text, 0)
        if depth == 0 and lexeme.text[0] in "?$" and lexeme.text not in keys:
            return lexeme, "it is neither grouped by nor counted", ("a variable of GROUP BY", "an aggregate")
    return None


def _taken(body: Sequence[Lexeme]) -> Finding | None:
    for n, (lexeme, following) in enumerate(pairwise(body)):
        before = {one.text for one in body[:n]} if lexeme.text.upper() == "AS" else set()
        if following.text in before:
            return following, "the variable has a value already", ("a new variable",)
    return None


def _no_form(body: list[Lexeme]) -> Finding | None:
    if not body:
        return None, "", _FORMS
    if body[0].text.upper() in _FORMS:
        return None
    if body[0].text.upper() == "PREFIX":
        return body[min(1, len(body) - 1)], "a prefix is declared as PREFIX ex: <http://…>", ()
    near = nearest(body[0].text.upper(), [*_FORMS, "PREFIX"])
    return body[0], f"perhaps {near} was meant" if near else "", _FORMS


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


def _head(body: list[Lexeme]) -> Finding | None:
    """A comma between variables, or a WHERE without its group."""
    for lexeme, following in pairwise(body):
        if lexeme.text == "{":
            return None
        if following.text == "," and lexeme.text[0] in "?$" and body[0].text.upper() == "SELECT":
            return following, "variables stand side by side", ("a variable", "'{'")
        if lexeme.text.upper() == "WHERE" and following.text != "{":
            return following, "", ("'{'",)
    return None


def _triple(body: list[Lexeme]) -> Finding | None:
    """A triple that ends before its object, or does not end after it."""
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
        if depth == 0 and is_term and parts == 4:
            return lexeme, "a triple has three parts", ("'.'", "';'", "','", "'}'")
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

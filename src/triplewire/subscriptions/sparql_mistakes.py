"""What is wrong with a query that cannot be read, told at the place where a reader would mend it.

Some mistakes are looked for one by one, because there is more to say of them than where the query leaves the grammar.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from triplewire.errors import Place, SubscriptionError, nearest
from triplewire.subscriptions.sparql_grammar import FUNCTIONS, KEYWORDS, stop
from triplewire.subscriptions.sparql_text import Lexeme, is_variable

_FORMS = ("ASK", "SELECT", "CONSTRUCT")
_CLOSING = {"(": ")", "{": "}", "[": "]"}
_AGGREGATES = ("COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT")
_TERMS = ("iri", "name", "number", "string", "blank")
_SIGNS = {"and": "&&", "or": "||", "not": "!"}

Finding = tuple[Lexeme | None, str, Sequence[str]]


def mistake(text: str, body: list[Lexeme]) -> SubscriptionError:
    """The error of a query that cannot be parsed; ``body`` are its lexemes after the prologue."""
    for look in (_no_form, _open_text, _brackets, _strange_word, _outside_grammar):
        found = look(body)
        if found is not None:
            return _error(text, *found)
    return SubscriptionError("the query cannot be parsed", language="sparql")


def _error(text: str, at: Lexeme | None, message: str, expected: Sequence[str]) -> SubscriptionError:
    what = f"found {at.text[:20]!r}" if at else "the text ends here"
    where = Place.at(text, at.start if at else len(text.rstrip()))
    return SubscriptionError(
        f"{what}{f': {message}' if message else ''}.", language="sparql", place=where, expected=expected
    )


def refusal(text: str, body: Sequence[Lexeme], reason: str) -> SubscriptionError:
    """The error of a query that can be parsed, and that Oxigraph refuses for a reason that is not of its grammar."""
    for look in (_blank_in_two_groups, _not_grouped, _taken, _shown_twice, _short_row, _own_function):
        found = look(body)
        if found is not None:
            return _error(text, *found)
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
    head = list(_head(body))
    if "GROUP" not in words and not any(lexeme.text.upper() in _AGGREGATES for lexeme, _ in head):
        return None
    keys = {lexeme.text for lexeme in body[words.index("GROUP") :]} if "GROUP" in words else set()
    for lexeme, depth in head:
        if depth == 0 and is_variable(lexeme) and lexeme.text not in keys:
            return lexeme, "it is neither grouped by nor counted", ("a variable of GROUP BY", "an aggregate")
    return None


def _head(body: Sequence[Lexeme]) -> Iterator[tuple[Lexeme, int]]:
    """What stands before the first group, and in how many parentheses."""
    depth = 0
    for lexeme in body:
        if lexeme.text == "{":
            return
        depth += {"(": 1, ")": -1}.get(lexeme.text, 0)
        yield lexeme, depth


def _taken(body: Sequence[Lexeme]) -> Finding | None:
    for n, (lexeme, following) in enumerate(pairwise(body)):
        before = {one.text for one in body[:n]} if lexeme.text.upper() == "AS" else set()
        if following.text in before:
            return following, "the variable has a value already", ("a new variable",)
    return None


def _shown_twice(body: Sequence[Lexeme]) -> Finding | None:
    shown: set[str] = set()
    for lexeme, depth in _head(body):
        if depth == 0 and is_variable(lexeme):
            if lexeme.text in shown:
                return lexeme, "the variable is shown already", ("another variable",)
            shown.add(lexeme.text)
    return None


def _short_row(body: Sequence[Lexeme]) -> Finding | None:
    """A row of VALUES that has more or fewer values than there are variables."""
    for n, lexeme in enumerate(body):
        if lexeme.text.upper() != "VALUES" or n + 1 == len(body) or body[n + 1].text != "(":
            continue
        width, values = None, 0
        for one in body[n + 2 :]:
            if one.text == "}":
                break
            if one.text == "(":
                values = 0
            elif one.text == ")" and width is None:
                width = values
            elif one.text == ")" and values != width:
                return one, f"the row has {values} of {width} values", ("a value for each variable, or UNDEF",)
            elif one.kind not in ("other", "tag"):
                values += 1
    return None


def _own_function(body: Sequence[Lexeme]) -> Finding | None:
    for before, lexeme, following in zip(body, body[1:], body[2:], strict=False):
        is_property = before.kind in _TERMS or is_variable(before)
        if lexeme.kind in ("iri", "name") and following.text == "(" and not is_property:
            return lexeme, "there is no such function", ("a function of SPARQL 1.1", "a cast such as xsd:integer")
    return None


def _no_form(body: list[Lexeme]) -> Finding | None:
    if not body:
        return None, "", _FORMS
    if body[0].text.upper() in _FORMS:
        return None
    if body[0].text.upper() in ("PREFIX", "BASE"):
        form = "a prefix is declared as PREFIX ex: <http://…>, a base as BASE <http://…>"
        return body[min(1, len(body) - 1)], form, ()
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
        if lexeme.kind != "word" or is_variable(lexeme) or word == "a" or word.upper() in {*KEYWORDS, *FUNCTIONS}:
            continue
        if word.lower() in _SIGNS:
            return lexeme, f"SPARQL writes {_SIGNS[word.lower()]}", ()
        called = following.text == "("
        near = nearest(word.upper(), FUNCTIONS if called else [*KEYWORDS, *FUNCTIONS])
        kind = "function" if called else "keyword"
        hint = f", did you mean {near}" if near else "; a variable begins with ?, a name has a prefix or stands in <>"
        return lexeme, f"SPARQL has no such {kind}{hint}", ()
    return None


def _outside_grammar(body: list[Lexeme]) -> Finding | None:
    found = stop(body)
    if found is None:
        return None
    before = next((lexeme for lexeme in reversed(body) if found.at and lexeme.end <= found.at.start), None)
    hint = ""
    if before and found.at and before.text == found.at.text == "=":
        hint = "SPARQL compares with a single ="
    elif before and before.text.upper() in ("FILTER", "BIND", "HAVING"):
        hint = f"what follows {before.text.upper()} stands in parentheses"
    return found.at, hint, found.expected

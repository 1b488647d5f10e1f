"""``sparql``: ASK, SELECT or CONSTRUCT on the closed event.

The whole query is the residual of an empty pattern, checked by Oxigraph. rdflib's parser looks it over first, so that
what a single event cannot need is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from pyoxigraph import Store
from pyparsing import ParseBaseException, ParseResults
from rdflib import URIRef
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.plugins.sparql.parserutils import CompValue

from triplewire.concepts.model import ConceptModel
from triplewire.errors import Place, SubscriptionError, nearest
from triplewire.rdf.terms import TW, WELL_KNOWN_PREFIXES
from triplewire.subscriptions.functions import BadRegexError, compiled
from triplewire.subscriptions.grammar import LONGEST_TEXT
from triplewire.subscriptions.pattern import Residual

_TOKEN = re.compile(
    r"""
    (?P<comment>\#[^\n]*)
  | (?P<string>'''(?:(?:'|'')?(?:[^'\\]|\\.))*''' | \"\"\"(?:(?:"|"")?(?:[^"\\]|\\.))*\"\"\"
      | '(?:[^'\\\n]|\\.)*' | "(?:[^"\\\n]|\\.)*")
  | (?P<iri><[^\x00-\x20<>"{}|^`\\]*>)
  | (?P<blank>_:[\w.\-]+)
  | (?P<name>[^\W\d_][\w.\-]*:(?:[\w:%](?:[\w.:%\-]*[\w:%\-])?)? | :(?:[\w:%](?:[\w.:%\-]*[\w:%\-])?)?)
  | (?P<word>[?$]?\w+)
  | (?P<other>\S)
    """,
    re.VERBOSE | re.DOTALL,
)
MOST_WORDS = 1_000
"""The parser needs about a millisecond a word."""

_FORMS = {"AskQuery": "ASK", "SelectQuery": "SELECT", "ConstructQuery": "CONSTRUCT"}
_REFUSED = {
    "SERVICE": "SERVICE would ask another machine",
    "GRAPH": "GRAPH asks for named graphs, and an event's graph is the union of its own",
    "FROM": "FROM names another data set, and there is only the event",
    "DESCRIBE": "DESCRIBE leaves open what it returns",
    "LOAD": "updates change data, and an event is never changed",
}
_RESTLESS = ("NOW", "RAND", "UUID", "STRUUID", "BNODE")
_UPDATES = ("LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "INSERT", "DELETE", "WITH")


class _Lexeme(NamedTuple):
    kind: str
    text: str
    start: int


def parse_sparql(text: str, prefixes: Mapping[str, str], model: ConceptModel) -> Residual:
    """The residual that a query is, its prefixes declared and its names those that the model knows things by."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # parsers differ in where a line, and so a comment, ends
    if len(text) > LONGEST_TEXT:
        raise SubscriptionError(
            f"the query has {len(text)} characters; at most {LONGEST_TEXT} are read", language="sparql"
        )
    lexemes = list(_lexemes(text))
    if len(lexemes) > MOST_WORDS:
        message = f"the query has {len(lexemes)} words and signs; at most {MOST_WORDS} are read"
        raise SubscriptionError(message, language="sparql")
    _refuse(text, lexemes)
    known = WELL_KNOWN_PREFIXES | dict(prefixes)
    parsed = _parsed(text, known)
    form: Any = _FORMS[parsed.name]
    _check_regexes(parsed)
    declared = known | _declared(lexemes)
    _check_prefixes(text, lexemes, declared)
    names = {term.value: str(name) for term, name in model.names.items()}
    vertices = set(_iris_of_vertices(parsed, declared)) if names else set()
    needs_home = any(_iri(lexeme, declared) == TW.home.value for lexeme in lexemes)
    renamed = {iri: name for iri, name in names.items() if iri in vertices} | {TW.home.value: str(TW.home)}
    body = _replaced(text, lexemes, declared, renamed)
    if form == "CONSTRUCT":
        body = _as_select(body)
    query = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in known.items()) + body
    _try(query)
    return Residual(query, form, needs_home)


def replace_home(query: str, home: str) -> str:
    """A residual's query with the home vertex under its own IRI."""
    return _replaced(query, list(_lexemes(query)), {}, {TW.home.value: home})


def _parsed(text: str, prefixes: Mapping[str, str]) -> CompValue:
    head = "".join(f"PREFIX {name}: <{iri}> " for name, iri in prefixes.items())
    try:
        found: CompValue = parseQuery(head + text)[1]
        return found
    except ParseBaseException as error:
        line, column = error.lineno, error.column - (len(head) if error.lineno == 1 else 0)
        place = Place.of(text, line, max(column, 1))
        rest = place.text[place.column - 1 :][:20]
        message = f"found {rest!r}." if rest else "the text ends here."
        raise SubscriptionError(f"{message} {error.msg}.", language="sparql", place=place) from None
    except RecursionError:
        raise SubscriptionError("the query is nested too deeply", language="sparql") from None
    except Exception as error:
        raise SubscriptionError(f"{error}", language="sparql") from None


def _children(node: Any) -> Iterable[Any]:
    if isinstance(node, dict):
        return node.values()
    return node if isinstance(node, list | ParseResults) else ()


def _iris_of_vertices(node: Any, prefixes: Mapping[str, str]) -> Iterator[str]:
    """The IRIs that a query names anywhere but in the place of a property."""
    if isinstance(node, URIRef):
        yield str(node)
    elif isinstance(node, CompValue) and node.name == "pname":
        yield prefixes.get(node.prefix or "", "") + str(node.localname or "")
    elif not (isinstance(node, CompValue) and node.name == "PathAlternative"):
        for child in _children(node):
            yield from _iris_of_vertices(child, prefixes)


def _constant(node: Any) -> str | None:
    """The text that an expression is, if it is nothing else."""
    while isinstance(node, CompValue) and set(node) == {"expr"}:
        node = node.expr
    return str(node.string) if isinstance(node, CompValue) and node.name == "literal" else None


def _check_regexes(node: Any) -> None:
    """Refuse at once a constant regular expression that RE2 refuses: it would be an error on every event."""
    if isinstance(node, CompValue) and node.name in ("Builtin_REGEX", "Builtin_REPLACE"):
        rule, flags = _constant(node.pattern), _constant(node.flags) if node.flags else ""
        if rule is not None and flags is not None:
            try:
                compiled(rule, flags)
            except BadRegexError as error:
                raise SubscriptionError(f"{error}.", language="sparql") from None
    for child in _children(node):
        _check_regexes(child)


def _lexemes(text: str) -> Iterator[_Lexeme]:
    for found in _TOKEN.finditer(text):
        yield _Lexeme(found.lastgroup or "other", found.group(), found.start())


def _refuse(text: str, lexemes: list[_Lexeme]) -> None:
    """Refuse by name what has no meaning for a single event."""
    words = [lexeme for lexeme in lexemes if lexeme.kind == "word"]
    for lexeme in words:
        word = lexeme.text.upper()
        if word in _REFUSED and word != "LOAD":
            raise _at(text, lexeme.start, f"{_REFUSED[word]}.")
    for lexeme, following in pairwise(lexemes):
        if lexeme.text.upper() in _RESTLESS and following.text == "(":
            raise _at(
                text, lexeme.start, f"{lexeme.text.upper()} would answer otherwise each time the event is matched."
            )
    body = [lexeme for lexeme in words if lexeme.text.upper() not in ("PREFIX", "BASE")]
    if body and body[0].text.upper() in _UPDATES:
        raise _at(text, body[0].start, f"{body[0].text.upper()}: {_REFUSED['LOAD']}.")


def _declared(lexemes: list[_Lexeme]) -> dict[str, str]:
    triples = zip(lexemes, lexemes[1:], lexemes[2:], strict=False)
    return {n.text[:-1]: i.text[1:-1] for p, n, i in triples if p.text.upper() == "PREFIX" and i.kind == "iri"}


def _check_prefixes(text: str, lexemes: list[_Lexeme], prefixes: Mapping[str, str]) -> None:
    for lexeme in lexemes:
        prefix = lexeme.text.partition(":")[0]
        if lexeme.kind == "name" and prefix not in prefixes:
            near = nearest(prefix, prefixes)
            raise _at(text, lexeme.start, f"the prefix '{prefix}:' is not declared.", near and f"{near}:")


def _replaced(text: str, lexemes: list[_Lexeme], prefixes: Mapping[str, str], by: Mapping[str, str]) -> str:
    """The text with IRIs, written out or prefixed, replaced; what stands in texts and comments is left alone."""
    out, end = [], 0
    for lexeme in lexemes:
        iri = _iri(lexeme, prefixes)
        if iri is not None and iri in by:
            out += [text[end : lexeme.start], by[iri]]
            end = lexeme.start + len(lexeme.text)
    return "".join([*out, text[end:]])


def _iri(lexeme: _Lexeme, prefixes: Mapping[str, str]) -> str | None:
    if lexeme.kind == "iri":
        return lexeme.text[1:-1]
    if lexeme.kind == "name":
        prefix, _, local = lexeme.text.partition(":")
        return prefixes[prefix] + local if prefix in prefixes else None
    return None


def _as_select(text: str) -> str:
    """A CONSTRUCT query as the SELECT query whose solutions it is made from."""
    lexemes = list(_lexemes(text))
    start = next(i for i, lexeme in enumerate(lexemes) if lexeme.text.upper() == "CONSTRUCT")
    end = start + 1
    if lexemes[end].text == "{":
        depth = 0
        while True:
            depth += {"{": 1, "}": -1}.get(lexemes[end].text, 0)
            end += 1
            if depth == 0:
                break
    return f"{text[: lexemes[start].start]}SELECT * {text[lexemes[end].start :]}"


def _try(query: str) -> None:
    """Let Oxigraph, which will run the query, see it now."""
    try:
        Store().query(query)
    except (SyntaxError, ValueError, RuntimeError) as error:
        raise SubscriptionError(f"Oxigraph refuses the query: {error}", language="sparql") from None


def _at(text: str, offset: int, message: str, near: str | None = None) -> SubscriptionError:
    line = text.count("\n", 0, offset) + 1
    column = offset - (text.rfind("\n", 0, offset) + 1) + 1
    return SubscriptionError(message, language="sparql", place=Place.of(text, line, column), nearest=near)

"""``sparql``: ASK, SELECT or CONSTRUCT on the closed event.

A query is compiled into alternatives as far as conjunctive patterns can say it. What they cannot say is left to
Oxigraph: as a residual where they do not decide whether there is a solution, as the subscription's answer where they
decide it, but do not tell it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple, cast
from typing import Literal as Choice

from pyoxigraph import Literal, NamedNode, Store

from triplewire.concepts.model import EVERY_RESOURCE
from triplewire.errors import SubscriptionError
from triplewire.rdf.terms import RDF, RDFS, TW, WELL_KNOWN_PREFIXES
from triplewire.subscriptions.functions import BadRegexError, compiled
from triplewire.subscriptions.grammar import LONGEST_TEXT
from triplewire.subscriptions.pattern import HOME, Alternative, Arc, ClassConstraint, Pattern, Residual, Variable
from triplewire.subscriptions.sparql_graph import GraphPatterns
from triplewire.subscriptions.sparql_joins import Joined
from triplewire.subscriptions.sparql_mistakes import refusal
from triplewire.subscriptions.sparql_text import error_at, lexemes, refuse
from triplewire.subscriptions.sparql_tree import Query, read
from triplewire.subscriptions.sparql_ways import Strength, Way

MOST_WORDS = 1_000
"""The parser needs about a millisecond a word."""

MOST_TRIPLES = 64
"""Oxigraph takes the fourth power of their number to plan a query, and does so for each event."""

_FORMS = {"AskQuery": "ASK", "SelectQuery": "SELECT", "ConstructQuery": "CONSTRUCT"}
_NEEDED = {"none": Strength.DECIDING, "distinct": Strength.TELLING, "counted": Strength.COUNTING}


class Meaning(NamedTuple):
    """What a query asks and tells, in the terms of a subscription."""

    alternatives: tuple[Alternative, ...]
    bindings: Choice["distinct", "counted", "none"]
    answer: Residual | None
    warnings: tuple[str, ...]


def parse_sparql(text: str, prefixes: Mapping[str, str]) -> Meaning:
    """The meaning of a query. The same text with the same prefixes is compiled once."""
    return _meaning(text, tuple(sorted(prefixes.items())))


@lru_cache(maxsize=4096)
def _meaning(text: str, prefixes: tuple[tuple[str, str], ...]) -> Meaning:
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # parsers differ in where a line, and so a comment, ends
    if len(text) > LONGEST_TEXT:
        raise SubscriptionError(
            f"the query has {len(text)} characters; at most {LONGEST_TEXT} are read", language="sparql"
        )
    if half := re.search("[\ud800-\udfff]", text):
        raise error_at(text, half.start(), "half a character stands here.")
    found = lexemes(text)
    if len(found) > MOST_WORDS:
        message = f"the query has {len(found)} words and signs; at most {MOST_WORDS} are read"
        raise SubscriptionError(message, language="sparql")
    refuse(text, found)
    query = read(text, found, WELL_KNOWN_PREFIXES | dict(prefixes))
    triples = query.shape.triples + sum(lexeme.text == "/" for lexeme in query.lexemes)
    if triples > MOST_TRIPLES:
        message = f"the query has {triples} triples and steps of paths; at most {MOST_TRIPLES} are read"
        raise SubscriptionError(message, language="sparql")
    _check_regexes(query)
    try:
        return _compiled(query)
    except RecursionError:
        raise SubscriptionError("the query is nested too deeply", language="sparql") from None


def _compiled(query: Query) -> Meaning:
    form: Any = _FORMS[query.tree.name]
    body = _body(query)
    names = tuple(sorted({_iri(query, number) for number in query.shape.vertices} - {TW.home}, key=str))
    patterns = GraphPatterns(query)
    whole = Residual(body, form, patterns.names_home, names)
    _try(query, body)
    ways = patterns.limited(patterns.select(query.tree), query.tree)
    bindings: Any = "none" if form != "SELECT" else "distinct" if query.tree.modifier else "counted"
    shown = patterns.shown(query.tree, ways) if form == "SELECT" else []
    if form == "CONSTRUCT":
        residual = Residual(_as_select(body), form, patterns.names_home, names)
    else:
        residual = whole
    decided = ways.strength >= Strength.DECIDING
    tells = ways.strength >= _NEEDED[bindings] and form != "CONSTRUCT"
    found = [_pattern(way, patterns.names_home) for way in ways.ways] or [Pattern(filters=(Literal(False),))]
    if decided:
        answers = [_answer(way, shown) if tells else () for way in ways.ways] or [()]
        alternatives = [Alternative(p, None, answer) for p, answer in zip(found, answers, strict=True)]
    else:
        alternatives = [Alternative(p, residual, ()) for p in dict.fromkeys(found)]
    needs_answer = form == "CONSTRUCT" or (decided and not tells)
    warnings = tuple(f"a filter uses {variable}, which nothing binds where it stands" for variable in patterns.unbound)
    return Meaning(tuple(alternatives), bindings, whole if needs_answer else None, warnings)


@lru_cache(maxsize=4096)
def joined(query: str) -> Joined:
    """What a residual's query has to join."""
    read_ = read(query, lexemes(query), WELL_KNOWN_PREFIXES)
    return GraphPatterns(read_).joined(read_.tree)


def _answer(way: Way, shown: list[Variable]) -> tuple[tuple[Variable, Any], ...]:
    return tuple((name, way.known.get(name, name)) for name in shown if name in way.bound)


def _pattern(way: Way, names_home: bool) -> Pattern:
    """The pattern of a way. A query that names the home vertex asks for one in each of its ways."""
    typed = {arc for arc in way.arcs if _is_typing(arc)}
    subjects = {arc.subject for arc in way.arcs if arc not in typed}
    told = {arc for arc in typed if not isinstance(arc.subject, Variable) or arc.subject in subjects}
    classes = [*way.classes, *(ClassConstraint(arc.subject, arc.object) for arc in way.arcs if arc in told)]  # type: ignore[arg-type]
    pattern = Pattern(
        tuple(dict.fromkeys(arc for arc in way.arcs if arc not in told)),
        tuple(dict.fromkeys(classes)),
        filters=tuple(dict.fromkeys(way.filters)),
    )
    if names_home and not pattern.needs_home:
        home = (*pattern.classes, ClassConstraint(HOME, RDFS.Resource))
        return Pattern(pattern.arcs, home, filters=pattern.filters)
    return pattern


def _is_typing(arc: Arc) -> bool:
    """Whether an arc says what a class constraint says of all but literals, which are never a subject."""
    return arc.property == RDF.type and isinstance(arc.object, NamedNode) and arc.object not in EVERY_RESOURCE


def _iri(query: Query, number: int) -> NamedNode:
    return cast(NamedNode, query.constants[number][1])


def _body(query: Query) -> str:
    """The query with its names written out; vertices in angle brackets, and no property in the same way as a vertex."""
    vertices = {_iri(query, number).value for number in query.shape.vertices}
    numbers = {lexeme.start: number for number, (lexeme, _) in enumerate(query.constants)}
    out, end = [], query.lexemes[0].start if query.lexemes else 0
    for lexeme in query.lexemes:
        if lexeme.start > end:
            out.append(" ")
        end = lexeme.end
        term = query.constants[numbers[lexeme.start]][1] if lexeme.start in numbers else None
        if not isinstance(term, NamedNode):
            out.append(lexeme.text)
        elif numbers[lexeme.start] not in query.shape.vertices and term.value in vertices:
            out.append(f"<\\u{ord(term.value[0]):04x}{term.value[1:]}>")
        else:
            out.append(str(term))
    return "".join(out)


def _as_select(text: str) -> str:
    """A CONSTRUCT query as the SELECT query whose solutions it is made from."""
    found = lexemes(text)
    end = 1
    if found[end].text == "{":
        depth = 0
        while True:
            depth += {"{": 1, "}": -1}.get(found[end].text, 0)
            end += 1
            if depth == 0:
                break
    return f"SELECT * {text[found[end].start :]}"


def _check_regexes(query: Query) -> None:
    """Refuse at once a constant regular expression that RE2 refuses: it would be an error on every event."""
    for number, flags in query.shape.rules:
        lexeme, rule = query.constants[number]
        try:
            compiled(rule.value, query.constants[flags][1].value if flags is not None else "")
        except BadRegexError as error:
            raise error_at(query.text, lexeme.start, f"{error}.") from None


def _try(query: Query, body: str) -> None:
    """Let Oxigraph, which may have to run the query, see it now."""
    try:
        Store().query(body)
    except (SyntaxError, ValueError, RuntimeError) as error:
        raise refusal(query.text, query.lexemes, str(error)) from None

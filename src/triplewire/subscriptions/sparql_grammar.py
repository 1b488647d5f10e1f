"""Where a query leaves SPARQL 1.1's grammar, and what could have stood there.

The parser that reads queries says only that it failed. This one says where, and reads nothing else.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from lark import Lark, Token, UnexpectedToken

from triplewire.subscriptions.sparql_text import Lexeme, is_variable

_ONE = (
    "STR LANG DATATYPE IRI URI ABS CEIL FLOOR ROUND STRLEN UCASE LCASE ENCODE_FOR_URI YEAR MONTH DAY HOURS MINUTES "
    "SECONDS TIMEZONE TZ MD5 SHA1 SHA256 SHA384 SHA512 ISIRI ISURI ISBLANK ISLITERAL ISNUMERIC"
)
_TWO = "LANGMATCHES CONTAINS STRSTARTS STRENDS STRBEFORE STRAFTER STRLANG STRDT SAMETERM"
FUNCTIONS = {
    **dict.fromkeys(_ONE.split(), "ONE"),
    **dict.fromkeys(_TWO.split(), "TWO"),
    **dict.fromkeys(("REGEX", "SUBSTR"), "TWO_OR_THREE"),
    **dict.fromkeys(("CONCAT", "COALESCE"), "MANY"),
    **dict.fromkeys(("SUM", "MIN", "MAX", "AVG", "SAMPLE"), "AGGREGATE"),
    **{name: name for name in ("BOUND", "IF", "REPLACE", "COUNT", "GROUP_CONCAT")},
}
_GRAMMAR = """
start: "ASK" _where _modifiers | _subselect | "CONSTRUCT" (_template _where | "WHERE" _template) _modifiers
_subselect: "SELECT" ("DISTINCT" | "REDUCED")? (_column+ | "*") _where _modifiers
_column: VAR | "(" _expression "AS" VAR ")"
_where: "WHERE"? _group
_template: "{" _triples? "}"
_modifiers: ("GROUP" "BY" _key+)? ("HAVING" _condition+)? ("ORDER" "BY" _order+)? _limits? _values?
_key: VAR | _builtin | _call | "(" _expression ("AS" VAR)? ")"
_condition: "(" _expression ")" | _builtin | _call
_order: VAR | _condition | ("ASC" | "DESC") "(" _expression ")"
_limits: _limit _offset? | _offset _limit?
_limit: "LIMIT" NUMBER
_offset: "OFFSET" NUMBER
_values: "VALUES" (VAR "{" _value* "}" | "(" VAR* ")" "{" ("(" _value* ")")* "}")
_value: _iri | _literal | SIGNED | "UNDEF"

_group: "{" (_subselect | _triples? (_part "."? _triples?)*) "}"
_part: _group ("UNION" _group)* | "OPTIONAL" _group | "MINUS" _group | "FILTER" _condition
     | "BIND" "(" _expression "AS" VAR ")" | _values
_triples: _block ("." _triples?)?
_block: _term _properties | _node _properties?
_properties: _verb _objects (";" (_verb _objects)?)*
_verb: VAR | _path
_objects: _object ("," _object)*
_object: _term | _node
_term: VAR | _iri | _literal | SIGNED | BLANK | "[" "]" | "(" ")"
_node: "[" _properties "]" | "(" _object+ ")"

_path: _sequence ("|" _sequence)*
_sequence: _step ("/" _step)*
_step: "^"? _element ("?" | "*" | "+")?
_element: _iri | "a" | "(" _path ")" | "!" (_one | "(" (_one ("|" _one)*)? ")")
_one: "^"? (_iri | "a")

_expression: _all ("||" _all)*
_all: _relation ("&&" _relation)*
_relation: _sum (("=" | "!=" | "<" | ">" | "<=" | ">=") _sum | "NOT"? "IN" _list)?
_sum: _product (("+" | "-") _product | SIGNED (("*" | "/") _unary)*)*
_product: _unary (("*" | "/") _unary)*
_unary: ("!" | "+" | "-")? _primary
_primary: "(" _expression ")" | _builtin | _iri | _call | _literal | SIGNED | VAR
_call: _iri "(" ("DISTINCT"? _expression ("," _expression)*)? ")"
_list: "(" (_expression ("," _expression)*)? ")"
_builtin: ONE "(" _expression ")" | TWO "(" _expression "," _expression ")"
        | TWO_OR_THREE "(" _expression "," _expression ("," _expression)? ")"
        | IF "(" _expression "," _expression "," _expression ")"
        | REPLACE "(" _expression "," _expression "," _expression ("," _expression)? ")"
        | MANY _list | BOUND "(" VAR ")" | "NOT"? "EXISTS" _group
        | COUNT "(" "DISTINCT"? ("*" | _expression) ")" | AGGREGATE "(" "DISTINCT"? _expression ")"
        | GROUP_CONCAT "(" "DISTINCT"? _expression (";" "SEPARATOR" "=" STRING)? ")"
_iri: IRIREF | PNAME
_literal: STRING (LANGTAG | "^^" _iri)? | NUMBER | "TRUE" | "FALSE"

%declare VAR IRIREF PNAME BLANK STRING LANGTAG NUMBER SIGNED
%declare ONE TWO TWO_OR_THREE MANY AGGREGATE BOUND IF REPLACE COUNT GROUP_CONCAT
"""
KEYWORDS = frozenset(re.findall(r'"([A-Z]+)"', _GRAMMAR))
_KINDS = {"iri": "IRIREF", "name": "PNAME", "blank": "BLANK", "string": "STRING", "tag": "LANGTAG", "number": "NUMBER"}
_DOUBLE = ("&&", "||", "!=", "<=", ">=", "^^")
_NAMED = {
    **dict.fromkeys(FUNCTIONS.values(), "a function"),
    **dict.fromkeys(("IRIREF", "PNAME"), "a name"),
    **dict.fromkeys(("STRING", "SIGNED"), "a literal"),
    "VAR": "a variable",
    "BLANK": "a blank node",
    "LANGTAG": "a language tag",
    "NUMBER": "a number",
    "$END": "the end of the text",
}
_OPERATORS = frozenset(map(repr, ("=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "&&", "||"))) | {"IN", "NOT"}
_STEPS = frozenset(map(repr, "*+/?|"))
_LITERALS = frozenset(("TRUE", "FALSE", "a number"))
_VALUES = _LITERALS | {"a variable", "a name", "a function", "EXISTS", "NOT", *map(repr, "(!+-")}


class Stop(NamedTuple):
    """The first lexeme that cannot stand where it stands, None for the end of the text, and what could."""

    at: Lexeme | None
    expected: tuple[str, ...]


@cache
def _parser() -> tuple[Lark, dict[str, str]]:
    """The parser, and the names that it gave to keywords and signs."""
    parser = Lark(_GRAMMAR, parser="lalr")
    return parser, {terminal.pattern.value: terminal.name for terminal in parser.terminals if terminal.pattern}


def stop(body: list[Lexeme]) -> Stop | None:
    """Where the lexemes after a query's prologue leave the grammar; None if they do not."""
    parser, names = _parser()
    tokens = [Token(kind, lexeme) for lexeme, kind in _tokens(body, names)]
    fed = _fed(parser, tokens)
    if fed is None:
        return None
    state = parser.parse_interactive()
    for token in tokens[:fed]:
        state.feed_token(token)
    words = {name: word if word.isalpha() and word != "a" else repr(word) for word, name in names.items()}
    expected = {_NAMED.get(name) or words[name] for name in state.accepts()}  # type: ignore[no-untyped-call]
    return Stop(tokens[fed].value if fed < len(tokens) else None, tuple(sorted(_folded(expected))))


def _fed(parser: Lark, tokens: list[Token]) -> int | None:
    """How many tokens the parser takes; None if that is all."""
    state = parser.parse_interactive()
    for number, token in enumerate([*tokens, Token("$END", "")]):
        try:
            state.feed_token(token)
        except UnexpectedToken:
            return number
    return None


def _tokens(body: list[Lexeme], names: dict[str, str]) -> list[tuple[Lexeme, str]]:
    """The lexemes with the kinds that the grammar knows; two that make one sign, or a sign and its number, are one."""
    found: list[tuple[Lexeme, str]] = []
    for lexeme in body:
        last = found[-1][0] if found else None
        if last and last.kind == "other" and last.end == lexeme.start:
            if last.text + lexeme.text in _DOUBLE:
                found[-1] = (Lexeme("other", last.text + lexeme.text, last.start), names[last.text + lexeme.text])
                continue
            if last.text in "+-" and lexeme.kind == "number":
                found[-1] = (Lexeme("number", last.text + lexeme.text, last.start), "SIGNED")
                continue
        found.append((lexeme, _kind(lexeme, names)))
    return found


def _kind(lexeme: Lexeme, names: dict[str, str]) -> str:
    if is_variable(lexeme):
        return "VAR"
    if lexeme.kind in _KINDS:
        return _KINDS[lexeme.kind]
    word = lexeme.text if lexeme.text == "a" else lexeme.text.upper()
    return FUNCTIONS.get(word) or names.get(word, "STRANGE")


def _folded(words: set[str]) -> set[str]:
    """One word for the many ways in which a value can begin, or an expression or path go on."""
    if {"a variable", "a literal", "a function"} <= words:
        return words - _VALUES - {"a literal"} | {"a value"}
    if "'&&'" in words:
        return words - _OPERATORS - {"a literal"} | {"an operator"}
    if "'?'" in words:
        words = words - _STEPS | {"a path operator"}
    return words - _LITERALS if "a literal" in words else words

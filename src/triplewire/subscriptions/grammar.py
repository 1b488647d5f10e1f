"""What our two grammars, ``ops`` and ``filter``, have in common: terms, operators, and how a syntax error is told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from lark import Lark, Token, Tree, UnexpectedInput, UnexpectedToken
from pyoxigraph import Literal, NamedNode

from triplewire.errors import Place, SubscriptionError, nearest
from triplewire.rdf.terms import WELL_KNOWN_PREFIXES, XSD
from triplewire.subscriptions.functions import FUNCTIONS, LAZY_FUNCTIONS, BadRegexError, compiled
from triplewire.subscriptions.pattern import Call, Expression
from triplewire.subscriptions.skeleton import Skeleton

LONGEST_TEXT = 65_536
DEEPEST_EXPRESSION = 64

TERMINALS = r"""
IRIREF: /<[^\x00-\x20<>"{}|^`\\]*>/
STRING: /"(?:[^"\\\n\r]|\\.)*"/ | /'(?:[^'\\\n\r]|\\.)*'/
LANGTAG: /@[A-Za-z]+(-[A-Za-z0-9]+)*/
NUMBER: /([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?/
BOOLEAN.3: /(true|false)\b/
AND.3: /and\b/i | "&&"
OR.3: /or\b/i | "||"
NOT.3: /not\b/i
IN.3: /in\b/i
COMPARE: "<=" | ">=" | "!=" | "<" | ">" | "="
SIMILAR: "~"
COMMENT: /#[^\n]*/
%ignore COMMENT
%ignore /[ \t\r\n]+/

literal: STRING -> string
       | STRING LANGTAG -> tagged
       | STRING "^^" iri -> typed
       | NUMBER -> number
       | BOOLEAN -> truth
iri: IRIREF -> full_iri
   | PNAME -> short_iri
"""

_WORDS = {
    "IRIREF": "an IRI in angle brackets",
    "PNAME": "a prefixed name",
    "STRING": "a text in quotes",
    "LANGTAG": "a language tag",
    "NUMBER": "a number",
    "BOOLEAN": "true or false",
    "AND": "'and'",
    "OR": "'or'",
    "NOT": "'not'",
    "IN": "'in'",
    "EXISTS": "'exists'",
    "MATCHES": "a comparison",
    "COMPARE": "a comparison",
    "SIMILAR": "'~'",
    "AT": "'@'",
    "VARIABLE": "a variable",
    "HOME": "_:H",
    "BLANK": "_:H",
    "NAME": "a name",
    "SIGN": "a sign",
    "LPAR": "'('",
    "RPAR": "')'",
    "COMMA": "','",
    "DOT": "'.'",
    "PLUS": "an arithmetic operator",
    "MINUS": "an arithmetic operator",
    "STAR": "an arithmetic operator",
    "SLASH": "an arithmetic operator",
    "BANG": "'not'",
    "$END": "the end of the text",
}
_VALUE_WORDS = {_WORDS[name] for name in ("IRIREF", "PNAME", "STRING", "NUMBER", "BOOLEAN", "VARIABLE", "HOME")}
_VALUE_WORDS |= {_WORDS[name] for name in ("NAME", "SIGN", "MINUS", "LPAR")}
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)")

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


@cache
def parser(grammar: str) -> Lark:
    return Lark(grammar + TERMINALS, parser="lalr", maybe_placeholders=False)


def parse(language: str, grammar: str, text: str, build: TermBuilder) -> Any:
    """Parse a text and build its meaning; whatever goes wrong is a ``SubscriptionError`` that tells where."""
    check_length(language, text)
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise SubscriptionError("the text has half a surrogate pair in it", language=language)
    try:
        build.skeleton = Skeleton(text)
        tree = build.skeleton.tree(parser(grammar))
        if tree is None:
            build.skeleton = Skeleton("")
            tree = parser(grammar).parse(text)
        return build.built(tree)
    except UnexpectedInput as error:
        raise _unexpected(language, text, error) from None
    except ValueError as error:
        raise SubscriptionError(f"{error}.", language=language) from None
    except RecursionError:
        raise SubscriptionError("the text is nested too deeply", language=language) from None


def check_length(language: str, text: str) -> None:
    if len(text) > LONGEST_TEXT:
        raise SubscriptionError(
            f"the text has {len(text)} characters; at most {LONGEST_TEXT} are read", language=language
        )


def parse_json(language: str, text: str) -> object:
    """A pattern that is JSON, from its text."""
    check_length(language, text)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = Place.of(text, error.lineno, error.colno)
        kind, _, expected = error.msg.partition("Expecting ")
        message = (
            f"not JSON: {kind or f'found {text[error.pos]!r}' if error.pos < len(text) else 'the text ends here'}."
        )
        raise SubscriptionError(
            message, language=language, place=place, expected=[expected] if expected else []
        ) from None
    except ValueError as error:  # a number of thousands of digits
        raise SubscriptionError(f"not JSON that can be read: {error}.", language=language) from None
    except RecursionError:
        raise SubscriptionError("the JSON is nested too deeply", language=language) from None


def place_in_json(pattern: object, path: Sequence[str | int]) -> Place:
    """Where in a JSON text the part at a path stands. A pattern that is the value itself is written out on one line."""
    text = pattern if isinstance(pattern, str) else json.dumps(pattern, ensure_ascii=False)
    offset = _after_space(text, 0)
    for step in path:
        offset = _after_space(text, offset + 1)
        position = 0
        while text[offset] not in "]}":
            key: object = position
            if isinstance(step, str):
                key, offset = _DECODER.raw_decode(text, offset)
                offset = _after_space(text, _after_space(text, offset) + 1)
            if key == step:
                break
            offset = _after_space(text, _DECODER.raw_decode(text, offset)[1])
            offset = _after_space(text, offset + (text[offset] == ","))
            position += 1
    return Place.at(text, offset)


def _after_space(text: str, offset: int) -> int:
    found = _SPACE.match(text, offset)
    return found.end() if found else offset


def _unexpected(language: str, text: str, error: UnexpectedInput) -> SubscriptionError:
    token = error.token if isinstance(error, UnexpectedToken) else None
    at_end = token is not None and token.type == "$END"
    if at_end:
        lines = text.rstrip("\n").split("\n")
        place = Place(len(lines), len(lines[-1]) + 1, lines[-1])
        found = "the text ends here"
    else:
        place = Place.of(text, error.line, error.column)
        found = f"found {str(token) if token else text[error.pos_in_stream or 0]!r}"
    names = error.accepts or error.expected if isinstance(error, UnexpectedToken) else error.allowed  # type: ignore[attr-defined]
    expected = sorted(_folded({_WORDS.get(name, name.lower()) for name in names or ()}))
    return SubscriptionError(f"{found}.", language=language, place=place, expected=expected)


def _folded(words: set[str]) -> set[str]:
    """One word for the many ways in which a value can begin."""
    return words - _VALUE_WORDS | {"a value"} if {"a number", "a text in quotes"} <= words else words


class TermBuilder:
    """Builds terms and connectives, and knows where in the text each piece stood."""

    def __init__(self, language: str, text: str, prefixes: Mapping[str, str], threshold: float) -> None:
        self.skeleton = Skeleton("")
        self.usual = Literal(str(threshold), datatype=XSD.decimal)
        self.language = language
        self.text = text
        self.prefixes = WELL_KNOWN_PREFIXES | dict(prefixes)

    def built(self, tree: Tree[Token]) -> Any:
        """What a tree comes to: the method that is called like its rule is given what its branches come to."""
        children = [self.built(child) if isinstance(child, Tree) else child for child in tree.children]
        return getattr(self, tree.data)(children)

    def fail(self, message: str, where: Token, **details: Any) -> SubscriptionError:
        place = Place.at(self.text, self.skeleton.offset(where.start_pos or 0))
        return SubscriptionError(message, language=self.language, place=place, **details)

    def full_iri(self, children: list[Token]) -> NamedNode:
        own = self.skeleton.own(children[0])
        try:
            return NamedNode(own[1:-1])
        except ValueError as error:
            raise self.fail(f"{own} is not an absolute IRI: {error}.", children[0]) from None

    def short_iri(self, children: list[Token]) -> NamedNode:
        own = self.skeleton.own(children[0])
        return expand(own, self.prefixes, lambda message, **hint: self.fail(message, children[0], **hint))

    def string(self, children: list[Token]) -> Literal:
        return Literal(self._unquoted(children[0]))

    def tagged(self, children: list[Token]) -> Literal:
        return Literal(self._unquoted(children[0]), language=children[1][1:])

    def typed(self, children: list[Any]) -> Literal:
        return Literal(self._unquoted(children[0]), datatype=children[1])

    def number(self, children: list[Token]) -> Literal:
        return number(self.skeleton.own(children[0]))

    def truth(self, children: list[Token]) -> Literal:
        return Literal(str(children[0]), datatype=XSD.boolean)

    def signed(self, children: list[Token]) -> Literal:
        value = number(self.skeleton.own(children[1]))
        return Literal(f"{children[0]}{value.value}".removeprefix("+"), datatype=value.datatype)

    def near(self, vertex: Expression, concept: NamedNode, threshold: list[Literal]) -> Call:
        return Call("~", (vertex, concept, *(threshold or [self.usual])))

    def threshold(self, children: list[Token]) -> Literal:
        """What a similarity must be greater than."""
        own = self.skeleton.own(children[-1])
        if not 0 <= float(own) < 1:
            raise self.fail(f"a similarity is between 0 and 1, and never greater than {own}.", children[-1])
        return number(own)

    def disjunction(self, children: list[Any]) -> Expression:
        return Call("or", tuple(children[::2]))

    def conjunction(self, children: list[Any]) -> Expression:
        return Call("and", tuple(children[::2]))

    def negation(self, children: list[Any]) -> Expression:
        return Call("not", (children[-1],))

    def _unquoted(self, token: Token) -> str:
        def character(found: re.Match[str]) -> str:
            code = found.group(1)
            if len(code) > 1:
                point = int(code[1:], 16)
                if point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
                    raise self.fail(f"\\{code} is no character.", token)
                return chr(point)
            if code not in _ESCAPES:
                raise self.fail(f"\\{code} is no escape.", token, expected=[f"\\{e}" for e in _ESCAPES])
            return _ESCAPES[code]

        return _ESCAPE.sub(character, self.skeleton.own(token)[1:-1])


def expand(name: str, prefixes: Mapping[str, str], fail: Callable[..., Exception]) -> NamedNode:
    """The IRI of a prefixed name."""
    prefix, _, local = name.partition(":")
    if prefix not in prefixes:
        near = nearest(prefix, prefixes)
        raise fail(f"the prefix '{prefix}:' is not declared.", nearest=f"{near}:{local}" if near else None)
    try:
        return NamedNode(prefixes[prefix] + local)
    except ValueError as error:
        raise fail(f"{name} is not an absolute IRI: {error}.") from None


def number(text: str) -> Literal:
    """A number as SPARQL writes it: ``4`` an integer, ``4.0`` a decimal, ``4e0`` a double."""
    if "e" in text.lower():
        return Literal(text, datatype=XSD.double)
    return Literal(text, datatype=XSD.decimal if "." in text else XSD.integer)


def call(name: Token, arguments: list[Expression], fail: Callable[..., Exception]) -> Call:
    """A function call, checked: the function is known, the arguments are as many, a constant regex compiles."""
    known = name.lower()
    if known in FUNCTIONS:
        least, most = FUNCTIONS[known].least, FUNCTIONS[known].most
    elif known in LAZY_FUNCTIONS:
        least, most = LAZY_FUNCTIONS[known]
    else:
        raise fail(f"there is no function {name}.", name, nearest=nearest(known, [*FUNCTIONS, *LAZY_FUNCTIONS]))
    if not least <= len(arguments) <= most:
        takes = str(least) if least == most else f"{least} to {most}"
        raise fail(f"{known} takes {takes} arguments, not {len(arguments)}.", name)
    if known in ("regex", "replace"):
        check_regex(arguments[1], arguments[least] if len(arguments) > least else None, name, fail)
    return Call(known, tuple(arguments))


def check_regex(rule: Expression, flags: Expression | None, token: Token, fail: Callable[..., Exception]) -> None:
    """Refuse at once a constant regular expression that RE2 refuses."""
    if isinstance(rule, Literal) and (flags is None or isinstance(flags, Literal)):
        try:
            compiled(rule.value, flags.value if flags else "")
        except BadRegexError as error:
            raise fail(f"{error}.", token) from None


def check_depth(expression: Expression, language: str) -> None:
    if _depth(expression) > DEEPEST_EXPRESSION:
        raise SubscriptionError(f"the filter is nested more than {DEEPEST_EXPRESSION} deep", language=language)


def _depth(expression: Expression) -> int:
    return 1 + max(map(_depth, expression.arguments), default=0) if isinstance(expression, Call) else 1

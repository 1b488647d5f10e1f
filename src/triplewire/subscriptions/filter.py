"""``filter``: a boolean expression over the home vertex's attributes, ``price < 400 and brand = "IBM"``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lark import Token
from pyoxigraph import Literal, NamedNode

from triplewire.concepts.model import ConceptModel
from triplewire.errors import nearest
from triplewire.lift.keys import key_property
from triplewire.subscriptions.grammar import TermBuilder, check_depth, check_regex, parse
from triplewire.subscriptions.pattern import (
    DEFAULT_THRESHOLD,
    HOME,
    VALUE,
    AttributeExists,
    AttributeTest,
    Call,
    Expression,
    Pattern,
)

GRAMMAR = r"""
start: disjunction
?disjunction: conjunction
            | conjunction (OR conjunction)+ -> disjunction
?conjunction: negation
            | negation (AND negation)+ -> conjunction
?negation: (NOT | "!") negation -> negation
         | EXISTS path -> exists
         | "(" disjunction ")"
         | path COMPARE operand -> compare
         | path MATCHES operand -> matches
         | path IN "(" operand ("," operand)* ")" -> within
         | path NOT IN "(" operand ("," operand)* ")" -> without
         | path SIMILAR concept threshold? -> similar
         | SIMILAR concept threshold? -> about
path: step ("." step)*
step: NAME -> name
    | iri
?operand: literal | iri | signed
concept: NAME
       | STRING
       | iri -> named
threshold: AT NUMBER
signed: SIGN NUMBER

PNAME.2: /([A-Za-z][\w\-]*)?:[\w\-%]*/
EXISTS.4: /exists\b/i
MATCHES.4: /(startswith|endswith|contains|matches)\b/i
NAME: /[^\W\d][\w\-]*(?!\w*:)/
SIGN: /[+-]/
AT: "@"
"""

_TESTS = {"startswith": "strstarts", "endswith": "strends", "contains": "contains", "matches": "regex"}


def parse_filter(
    text: str, prefixes: Mapping[str, str], model: ConceptModel, threshold: float = DEFAULT_THRESHOLD
) -> Pattern:
    """The pattern that a boolean expression over attributes says: one filter, no arcs.

    The threshold is that of similarities that give none.
    """
    expression: Expression = parse("filter", GRAMMAR, text, _Builder(text, prefixes, model, threshold))
    check_depth(expression, "filter")
    return Pattern(filters=(expression,))


class _Builder(TermBuilder):
    def __init__(self, text: str, prefixes: Mapping[str, str], model: ConceptModel, threshold: float) -> None:
        super().__init__("filter", text, prefixes, threshold)
        self.model = model

    def start(self, children: list[Expression]) -> Expression:
        return children[0]

    def exists(self, children: list[Any]) -> Expression:
        return AttributeExists(children[-1])

    def compare(self, children: list[Any]) -> Expression:
        path, operator, operand = children
        return AttributeTest(path, Call(str(operator), (VALUE, operand)))

    def matches(self, children: list[Any]) -> Expression:
        path, operator, operand = children
        test = _TESTS[operator.lower()]
        if not isinstance(operand, Literal):
            raise self.fail(f"{operator.lower()} takes a text, not {operand}.", operator)
        if test == "regex":
            check_regex(operand, None, operator, self.fail)
        return AttributeTest(path, Call(test, (VALUE, operand)))

    def within(self, children: list[Any]) -> Expression:
        path, *operands = (child for child in children if not isinstance(child, Token))
        return AttributeTest(path, Call("in", (VALUE, *operands)))

    def without(self, children: list[Any]) -> Expression:
        return Call("not", (self.within(children),))

    def similar(self, children: list[Any]) -> Expression:
        path, _, concept, *threshold = children
        return AttributeTest(path, self.near(VALUE, concept, threshold))

    def about(self, children: list[Any]) -> Expression:
        _, concept, *threshold = children
        return self.near(HOME, concept, threshold)

    def concept(self, children: list[Token]) -> NamedNode:
        """The concept that a word means, or a text in quotes."""
        word = self._unquoted(children[0]) if children[0].type == "STRING" else str(children[0])
        found = self.model.concepts_called(word)
        if len(found) > 1:
            names = ", ".join(map(str, found))
            raise self.fail(f"{word!r} may mean {names}: write one of them in full.", children[0])
        if not found:
            near = nearest(word.casefold(), self.model.words.concepts)
            raise self.fail(f"no concept is called {word!r}.", children[0], nearest=near)
        return found[0]

    def named(self, children: list[NamedNode]) -> NamedNode:
        return children[0]

    def path(self, children: list[NamedNode]) -> tuple[NamedNode, ...]:
        return tuple(children)

    def step(self, children: list[NamedNode]) -> NamedNode:
        return children[0]

    def name(self, children: list[Token]) -> NamedNode:
        """The property that a bare word means: by its label, by the end of its IRI, or under the empty prefix.

        Where no property of the model is called so, or nearly so, it is a key of plain JSON and the like.
        """
        word = children[0]
        found = self.model.words.properties_called(word)
        if len(found) == 1:
            return found[0]
        if len(found) > 1:
            names = ", ".join(map(str, found))
            raise self.fail(f"'{word}' may mean {names}: write one of them in full.", word)
        if "" in self.prefixes:
            return NamedNode(self.prefixes[""] + word)
        if (near := nearest(word.casefold(), self.model.words.properties)) is None:
            return key_property(word)
        raise self.fail(f"no property is called '{word}'.", word, nearest=near)

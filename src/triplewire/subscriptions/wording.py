"""Plain English for terms and expressions: labels, articles, lists, and what each operator says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.model import ConceptModel
from triplewire.rdf.svg import shortened
from triplewire.rdf.terms import XSD, Term
from triplewire.subscriptions.notation import ARITHMETIC
from triplewire.subscriptions.pattern import AttributeExists, AttributeTest, Call, Expression, Home, Variable

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}
_COMPARED = {"<": "below", "<=": "at most", ">": "above", ">=": "at least"}
_VERBS = {"contains": "contain", "strstarts": "start with", "strends": "end in", "regex": "match"}
_KINDS = {"isiri": "an IRI", "isblank": "a blank node", "isliteral": "a literal", "isnumeric": "a number"}
_PARTS = {
    "strlen": "the length of {}",
    "lcase": "{} in lower case",
    "ucase": "{} in upper case",
    "str": "the text of {}",
    "lang": "the language of {}",
    "datatype": "the datatype of {}",
    "abs": "the absolute value of {}",
    "ceil": "{} rounded up",
    "floor": "{} rounded down",
    "round": "{} rounded",
    "year": "the year of {}",
    "month": "the month of {}",
    "day": "the day of {}",
    "hours": "the hours of {}",
    "minutes": "the minutes of {}",
    "seconds": "the seconds of {}",
    "tz": "the time zone of {}",
    "encode_for_uri": "{} encoded for a URI",
    "number": "{}",
    "strbefore": "the part of {} before {}",
    "strafter": "the part of {} after {}",
    "negate": "-{}",
}
_SPELT_WITH_A_VOWEL = "AEFHILMNORSX"  # an MP3, a PC


@dataclass(frozen=True)
class Predicate:
    """What is said of a thing, in three shapes: it *is below 400*, one *below 400*, it *is not below 400*."""

    verb: str
    attribute: str
    negative: str
    negative_attribute: str

    def negated(self) -> Predicate:
        return Predicate(self.negative, self.negative_attribute, self.verb, self.attribute)


def _being(what: str, that: str = "") -> Predicate:
    return Predicate(f"is {what}", f"{that}{what}", f"is not {what}", f"{that}not {what}")


def _doing(verb: str, what: str) -> Predicate:
    head, _, tail = verb.partition(" ")
    rest = f"{tail} {what}".strip()
    third = f"{head}es" if head.endswith("ch") else f"{head}s"
    ing = f"{head}ing"
    return Predicate(f"{third} {rest}", f"{ing} {rest}", f"does not {head} {rest}", f"not {ing} {rest}")


def listed(items: Iterable[str], word: str = "and") -> str:
    """``a, b and c``; with commas before every item where one of them has an *and* or *or* of its own."""
    parts = list(items)
    if len(parts) < 2:
        return "".join(parts)
    comma = "," if any(" and " in part or " or " in part for part in parts[:-1]) else ""
    return f"{', '.join(parts[:-1])}{comma} {word} {parts[-1]}"


def with_article(noun: str) -> str:
    """``a Computer``, ``an E-Book``, ``an MP3``."""
    first = noun.split(" ")[0]
    letters = [sign for sign in first if sign.isalpha()]
    if len(letters) > 1 and all(sign.isupper() for sign in letters):
        return f"an {noun}" if first[0] in _SPELT_WITH_A_VOWEL else f"a {noun}"
    vowel = noun[:1].lower() in "aeiou" and not noun.lower().startswith(("uni", "use", "eu", "one"))
    return f"an {noun}" if vowel else f"a {noun}"


class Wording:
    """The words for a model's terms, and for expressions over them."""

    def __init__(self, model: ConceptModel) -> None:
        self.model = model

    def label(self, term: NamedNode) -> str:
        """What a term is called; its whole IRI if nothing shorter is there."""
        return " ".join(self.model.label(term).split()) or str(term)

    def property(self, property_: NamedNode | Variable) -> str:
        """A property in the middle of a sentence: ``telephone number`` for a label that begins with a capital."""
        if isinstance(property_, Variable):
            return f"property {property_}"
        label = self.label(property_)
        plain = label[:1].isupper() and label[1:2].islower()
        return label[0].lower() + label[1:] if plain else label

    def path(self, path: tuple[NamedNode, ...]) -> str:
        """``seller's name``."""
        return "'s ".join(map(self.property, path))

    def term(self, term: Term | Variable | Home) -> str:
        match term:
            case Variable():
                return str(term)
            case Home():
                return "the event itself"
            case NamedNode():
                return self.label(term)
            case Literal() if term.language:
                return f'"{shortened(term.value)}" in {term.language}'
            case Literal() if term.datatype == XSD.string:
                return f'"{shortened(term.value)}"'
        return shortened(term.value)

    def predicate(self, expression: Expression, about: Variable) -> Predicate | None:
        """What an expression says of one variable, if that can be said without naming it."""
        match expression:
            case Call("sparql", (own,)):
                return self.predicate(own, about)
            case Call("and" | "or" as name, arguments):
                said = [self.predicate(argument, about) for argument in arguments]
                return None if None in said else _joined([one for one in said if one], name)
            case Call("not", (argument,)):
                one = self.predicate(argument, about)
                return one and one.negated()
            case Call("in", (needle, *hay)) if _is(needle, about) and not any(_speaks_of(h, about) for h in hay):
                several = listed(map(self.expression, hay), "or") or "nothing"
                return _being(f"one of {several}" if len(hay) > 1 else several)
            case Call("langmatches", (Call("lang", (needle,)), Literal() as tag)) if _is(needle, about):
                return _being("in any language" if tag.value == "*" else f"in the language {tag.value}")
            case Call(name, (needle,)) if name in _KINDS and _is(needle, about):
                return _being(_KINDS[name], "that is ")
            case Call("regex", (needle, Literal() as rule, *flags)) if _is(needle, about):
                return _doing("match", f"/{shortened(rule.value)}/{self._flags(flags)}")
            case Call("~", (needle, concept, Literal() as threshold)) if _is(needle, about):
                return _being(f"similar to {self.expression(concept)} (above {threshold.value})")
            case Call(name, (needle, other)) if _is(needle, about) and not _speaks_of(other, about):
                return self._compared(name, self.expression(other))
            case Call(name, (other, needle)) if (
                name in _FLIPPED and _is(needle, about) and not _speaks_of(other, about)
            ):
                return self._compared(_FLIPPED[name], self.expression(other))
        return None

    def _compared(self, name: str, other: str) -> Predicate | None:
        if name in _COMPARED:
            return _being(f"{_COMPARED[name]} {other}")
        if name in _VERBS:
            return _doing(_VERBS[name], other)
        same = Predicate(f"is {other}", f"equal to {other}", f"is not {other}", f"other than {other}")
        match name:
            case "=":
                return same
            case "!=":
                return same.negated()
            case "sameterm":
                return _being(f"the very term {other}")
        return None

    def expression(self, expression: Expression) -> str:
        """An expression that comes to a term, or a condition, in words."""
        match expression:
            case Call("sparql", (own,)):
                return self.expression(own)
            case Call("and" | "or" as name, arguments):
                return listed(map(self._nested, arguments), name)
            case Call("not", (argument,)):
                return f"not {self._nested(argument)}"
            case Call("if", (condition, then, otherwise)):
                return f"{self._nested(then)} if {self._nested(condition)}, else {self._nested(otherwise)}"
            case Call("coalesce", arguments):
                return f"the first of {listed(map(self._nested, arguments))} that has a value"
            case Call("bound", (argument,)):
                return f"{self._nested(argument)} has a value"
            case Call("concat", arguments):
                return " followed by ".join(map(self._nested, arguments)) or '""'
            case Call("substr", (text, start, *length)):
                of_length = f" of length {self._nested(length[0])}" if length else ""
                return f"the part of {self._nested(text)} from place {self._nested(start)}{of_length}"
            case Call("replace", (text, rule, by, *_)):
                return f"{self._nested(text)} with /{self._bare(rule)}/ replaced by {self._nested(by)}"
            case Call("langmatches", (tag, range_)):
                return f"{self._nested(tag)} matches {self._nested(range_)}"
            case Call(name, (left, right)) if name in ARITHMETIC:
                return f"{self._nested(left)} {name} {self._nested(right)}"
            case Call(name, (argument,)) if name.startswith("xsd:"):
                return f"{self._nested(argument)} as {with_article(name.removeprefix('xsd:'))}"
            case Call(name, arguments) if name in _PARTS:
                return _PARTS[name].format(*map(self._nested, arguments))
            case Call(name, arguments):
                return self._said(name, arguments)
            case AttributeTest(path, test):
                return f"the {self.path(path)} is such that {self.expression(test)}"
            case AttributeExists(path):
                return f"there is {with_article(self.path(path))}"
            case _:
                return self.term(expression)

    def _said(self, name: str, arguments: tuple[Expression, ...]) -> str:
        """A condition on a term that is no mere variable: *the length of ?x is above 3*."""
        subject = Variable("")
        said = self.predicate(Call(name, (subject, *arguments[1:])), subject) if arguments else None
        if said is None:
            return f"{name}({', '.join(map(self.expression, arguments))})"
        sum_ = isinstance(arguments[0], Call) and arguments[0].name in ARITHMETIC
        return f"{self.expression(arguments[0]) if sum_ else self._nested(arguments[0])} {said.verb}"

    def _nested(self, expression: Expression) -> str:
        text = self.expression(expression)
        several = isinstance(expression, Call) and (len(expression.arguments) > 1 or expression.name == "not")
        return f"({text})" if several else text

    def _bare(self, rule: Expression) -> str:
        return shortened(rule.value) if isinstance(rule, Literal) else self.expression(rule)

    def _flags(self, flags: list[Expression]) -> str:
        return "".join(map(self._bare, flags))


def _is(expression: Expression, variable: Variable) -> bool:
    """Whether an expression is nothing but a variable, perhaps read as a number."""
    return expression == variable or expression == Call("number", (variable,))


def _speaks_of(expression: Expression, variable: Variable) -> bool:
    if isinstance(expression, Call):
        return any(_speaks_of(argument, variable) for argument in expression.arguments)
    return expression == variable


def _joined(predicates: list[Predicate], word: str) -> Predicate:
    """Several things said of one subject. *Is* is said once."""
    other = "or" if word == "and" else "and"
    return Predicate(
        said_once([p.verb for p in predicates], word),
        listed([p.attribute for p in predicates], word),
        said_once([p.negative for p in predicates], other),
        listed([p.negative_attribute for p in predicates], other),
    )


def said_once(verbs: list[str], word: str) -> str:
    """Verbs of one subject, with what they begin with said once: *is below 400 and above 300*."""
    for common in ("is ", "does "):
        if all(verb.startswith(common) for verb in verbs):
            return common + listed([verb.removeprefix(common) for verb in verbs], word)
    return listed(verbs, word)

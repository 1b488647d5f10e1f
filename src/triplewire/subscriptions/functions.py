"""The functions that filters may call: SPARQL 1.1's, over terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import lru_cache
from urllib.parse import quote

import re2
from pyoxigraph import BlankNode, Literal, NamedNode

from triplewire.rdf.terms import XSD, Term
from triplewire.rdf.values import Moment, NoValueError, Number, Rank, Text, number_literal, value


class FilterError(Exception):
    """A filter came to an error, which is not true. Never leaves the evaluation of a filter."""


class BadRegexError(ValueError):
    """A regular expression, or its flags, that RE2 refuses."""


@dataclass(frozen=True)
class Function:
    """A function and how many arguments it takes."""

    apply: Callable[..., Term]
    least: int
    most: int


LONGEST_REGEX = 1_000
MOST_REGEX_MEMORY = 1 << 20
"""RE2's time grows with the size of what it compiles, as well as with the text's."""


def boolean(truth: bool) -> Literal:
    return Literal(truth)


@lru_cache(maxsize=4096)
def compiled(pattern: str, flags: str = "") -> re2._Regexp:
    """A user's regular expression, compiled by RE2 so that no text can make it slow."""
    if len(pattern) > LONGEST_REGEX:
        raise BadRegexError(f"the regular expression has {len(pattern)} characters; at most {LONGEST_REGEX} are read")
    unknown = set(flags) - set("ismq")
    if unknown:
        raise BadRegexError(f"unknown regular expression flag {min(unknown)!r}; known are i, s, m and q")
    options = re2.Options()
    options.case_sensitive = "i" not in flags
    options.dot_nl = "s" in flags
    options.literal = "q" in flags
    options.log_errors = False
    options.max_mem = MOST_REGEX_MEMORY
    source = f"(?m){pattern}" if "m" in flags and "q" not in flags else pattern
    try:
        return re2.compile(source, options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error.args[0]
        raise BadRegexError(f"RE2 refuses the regular expression {pattern!r}: {reason}") from None


def text_of(term: Term) -> Text:
    """The string or language-tagged string that a term is."""
    found = _value(term)
    if not isinstance(found, Text):
        raise FilterError(f"{term} is not a text")
    return found


def plain_text(term: Term) -> str:
    """The string without a language that a term is."""
    text = text_of(term)
    if text.language is not None:
        raise FilterError(f"{term} has a language tag")
    return text.value


def _value(term: Term) -> object:
    try:
        return value(term) if isinstance(term, Literal) else None
    except NoValueError:
        return None


def _literal(text: str, language: str | None = None) -> Literal:
    return Literal(text, language=language) if language else Literal(text)


def _compatible(left: Term, right: Term) -> tuple[Text, Text]:
    """Two texts of which the second has no language, or the first's."""
    a, b = text_of(left), text_of(right)
    if b.language is not None and b.language != a.language:
        raise FilterError(f"{left} and {right} are in different languages")
    return a, b


def _regex(term: Term, pattern: Term, flags: Term | None = None) -> Term:
    text = text_of(term).value
    try:
        rule = compiled(plain_text(pattern), plain_text(flags) if flags else "")
    except BadRegexError as error:
        raise FilterError(str(error)) from None
    return boolean(rule.search(text) is not None)


def _replace(term: Term, pattern: Term, by: Term, flags: Term | None = None) -> Term:
    text = text_of(term)
    try:
        rule = compiled(plain_text(pattern), plain_text(flags) if flags else "")
    except BadRegexError as error:
        raise FilterError(str(error)) from None
    template = plain_text(by)
    if rule.search("") is not None:
        raise FilterError("the pattern of replace matches the empty text")
    return _literal(rule.sub(lambda found: _expand(template, found), text.value), text.language)


def _expand(template: str, found: re2._Match) -> str:
    """A replacement with its ``$1`` … filled in; ``\\$`` and ``\\\\`` stand for themselves."""
    out, i = [], 0
    while i < len(template):
        here, following = template[i], template[i + 1 : i + 2]
        if here == "\\" and following in ("$", "\\"):
            out.append(following)
            i += 2
        elif here == "$" and following.isdigit():
            group = int(following)
            out.append((found.group(group) or "") if group <= found.re.groups else "")
            i += 2
        elif here in "\\$":
            raise FilterError(f"{template!r} is not a replacement: {here} stands alone")
        else:
            out.append(here)
            i += 1
    return "".join(out)


def _contains(left: Term, right: Term) -> Term:
    a, b = _compatible(left, right)
    return boolean(b.value in a.value)


def _starts(left: Term, right: Term) -> Term:
    a, b = _compatible(left, right)
    return boolean(a.value.startswith(b.value))


def _ends(left: Term, right: Term) -> Term:
    a, b = _compatible(left, right)
    return boolean(a.value.endswith(b.value))


def _before(left: Term, right: Term) -> Term:
    a, b = _compatible(left, right)
    head, found, _ = a.value.partition(b.value) if b.value else ("", "", "")
    return _literal(head, a.language) if found or not b.value else _literal("")


def _after(left: Term, right: Term) -> Term:
    a, b = _compatible(left, right)
    _, found, tail = a.value.partition(b.value) if b.value else ("", "", a.value)
    return _literal(tail, a.language) if found or not b.value else _literal("")


def _substr(term: Term, start: Term, length: Term | None = None) -> Term:
    text = text_of(term)
    first = _rounded(start)
    last = first + _rounded(length) if length is not None else len(text.value) + 1
    return _literal("".join(c for i, c in enumerate(text.value, 1) if first <= i < last), text.language)


def _rounded(term: Term) -> int:
    number = _number(term)
    if isinstance(number.value, float) and number.value - number.value != 0:
        raise FilterError(f"{term} is not finite")
    return int((Decimal(number.value) + Decimal("0.5")).to_integral_value(ROUND_FLOOR))


def _concat(*terms: Term) -> Term:
    texts = [text_of(term) for term in terms]
    languages = {text.language for text in texts}
    return _literal("".join(t.value for t in texts), languages.pop() if len(languages) == 1 else None)


def _number(term: Term) -> Number:
    found = _value(term)
    if not isinstance(found, Number):
        raise FilterError(f"{term} is not a number")
    return found


def _rounding(mode: Callable[[Decimal], Decimal]) -> Callable[[Term], Term]:
    """A function that rounds a number and leaves its datatype as it is."""

    def apply(term: Term) -> Term:
        number = _number(term)
        if isinstance(number.value, int) or (isinstance(number.value, float) and number.value - number.value != 0):
            return number_literal(number)
        whole = mode(Decimal(number.value))
        return number_literal(Number(number.rank, float(whole) if number.rank >= Rank.FLOAT else whole))

    return apply


def _abs(term: Term) -> Term:
    number = _number(term)
    return number_literal(number if number.value >= 0 else Number(number.rank, -number.value))


def _str(term: Term) -> Term:
    if isinstance(term, BlankNode):
        raise FilterError("a blank node has no text")
    return Literal(term.value)


def _lang(term: Term) -> Term:
    if not isinstance(term, Literal):
        raise FilterError(f"{term} is not a literal")
    return Literal(term.language or "")


def _lang_matches(tag: Term, range_: Term) -> Term:
    have, want = plain_text(tag).lower(), plain_text(range_).lower()
    return boolean(have != "" if want == "*" else have == want or have.startswith(f"{want}-"))


def _datatype(term: Term) -> Term:
    if not isinstance(term, Literal):
        raise FilterError(f"{term} is not a literal")
    return term.datatype


def _field(index: int) -> Callable[[Term], Term]:
    """A part of a dateTime, date or time, as it is written."""

    def apply(term: Term) -> Term:
        found = _value(term)
        part: int | Decimal | None = found.fields[index] if isinstance(found, Moment) else None
        if part is None:
            raise FilterError(f"{term} has no such part")
        rank = Rank.DECIMAL if isinstance(part, Decimal) else Rank.INTEGER
        return number_literal(Number(rank, part))

    return apply


def _tz(term: Term) -> Term:
    found = _value(term)
    if not isinstance(found, Moment) or found.datatype != XSD.dateTime:
        raise FilterError(f"{term} is not a dateTime")
    if found.zone is None:
        return Literal("")
    sign, minutes = "-" if found.zone < 0 else "+", abs(found.zone)
    return Literal(
        "Z" if found.zone == 0 and term.value.endswith("Z") else f"{sign}{minutes // 60:02}:{minutes % 60:02}"
    )


def _as_number(term: Term) -> Term:
    """A plain string that reads as a number becomes one; anything else stays as it is (G-ToPSS's ``"2001" > 2000``)."""
    if isinstance(term, Literal) and term.datatype == XSD.string:
        for datatype in (XSD.integer, XSD.decimal, XSD.double):
            candidate = Literal(term.value, datatype=datatype)
            if isinstance(_value(candidate), Number):
                return candidate
    return term


FUNCTIONS: dict[str, Function] = {
    "regex": Function(_regex, 2, 3),
    "replace": Function(_replace, 3, 4),
    "contains": Function(_contains, 2, 2),
    "strstarts": Function(_starts, 2, 2),
    "strends": Function(_ends, 2, 2),
    "strbefore": Function(_before, 2, 2),
    "strafter": Function(_after, 2, 2),
    "substr": Function(_substr, 2, 3),
    "concat": Function(_concat, 0, 99),
    "strlen": Function(lambda t: Literal(len(text_of(t).value)), 1, 1),
    "ucase": Function(lambda t: _literal(text_of(t).value.upper(), text_of(t).language), 1, 1),
    "lcase": Function(lambda t: _literal(text_of(t).value.lower(), text_of(t).language), 1, 1),
    "encode_for_uri": Function(lambda t: Literal(quote(text_of(t).value, safe="~")), 1, 1),
    "abs": Function(_abs, 1, 1),
    "ceil": Function(_rounding(lambda d: d.to_integral_value(ROUND_CEILING)), 1, 1),
    "floor": Function(_rounding(lambda d: d.to_integral_value(ROUND_FLOOR)), 1, 1),
    "round": Function(_rounding(lambda d: (d + Decimal("0.5")).to_integral_value(ROUND_FLOOR)), 1, 1),
    "str": Function(_str, 1, 1),
    "lang": Function(_lang, 1, 1),
    "langmatches": Function(_lang_matches, 2, 2),
    "datatype": Function(_datatype, 1, 1),
    "year": Function(_field(0), 1, 1),
    "month": Function(_field(1), 1, 1),
    "day": Function(_field(2), 1, 1),
    "hours": Function(_field(3), 1, 1),
    "minutes": Function(_field(4), 1, 1),
    "seconds": Function(_field(5), 1, 1),
    "tz": Function(_tz, 1, 1),
    "isiri": Function(lambda t: boolean(isinstance(t, NamedNode)), 1, 1),
    "isblank": Function(lambda t: boolean(isinstance(t, BlankNode)), 1, 1),
    "isliteral": Function(lambda t: boolean(isinstance(t, Literal)), 1, 1),
    "isnumeric": Function(lambda t: boolean(isinstance(_value(t), Number)), 1, 1),
    "sameterm": Function(lambda a, b: boolean(a == b), 2, 2),
    "number": Function(_as_number, 1, 1),
}
LAZY_FUNCTIONS: dict[str, tuple[int, int]] = {"if": (3, 3), "coalesce": (1, 99), "bound": (1, 1)}

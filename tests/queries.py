"""Random SPARQL queries over the names of ``tests.worlds``, drawn from a ``random.Random``.

A vertex is written ``@n0@``, so that a query can be said with the names that an event uses: ``said(query, names)``.
"""

from __future__ import annotations

import re
from random import Random

from tests.worlds import CLASSES, EX, LITERALS, NAMES, PROPERTIES
from triplewire.rdf.terms import XSD

VARIABLES = ["?x", "?y", "?z", "?w"]
SIMPLE = [literal for literal in LITERALS if literal.datatype in (XSD.integer, XSD.string, XSD.decimal)]
ONE_TEXT = ["STRLEN", "UCASE", "LCASE", "ENCODE_FOR_URI", "STR", "MD5", "SHA1", "SHA256", "xsd:string", "xsd:integer"]
ONE_TEXT += ["xsd:decimal", "xsd:double", "xsd:float", "xsd:boolean", "LANG", "DATATYPE", "IRI"]
ONE_NUMBER = ["ABS", "CEIL", "FLOOR", "ROUND", "YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS", "TZ", "TIMEZONE"]
TESTS = ["isIRI", "isBlank", "isLiteral", "isNumeric"]
ENGLISH, ANY = '"en"', '"*"'
RULES = ['"^a"', '"B", "i"', '"."', '"c$"']
TWO_TEXTS = ["CONTAINS", "STRSTARTS", "STRENDS"]


def said(query: str, names=None) -> str:
    """A query with the given names in the place of its vertices, or its own."""

    def name(found):
        term = next(t for t in [*NAMES, *CLASSES, *PROPERTIES] if t.value == EX + found[1])
        return str((names or {}).get(term, term))

    return re.sub(r"@(\w+)@", name, query)


def query(rng: Random, simple: bool = False) -> str:
    """A query; a ``simple`` one has only what is compiled altogether."""
    where = group(rng, 0, simple)
    form = rng.random()
    if form < 0.2:
        return f"ASK {where}"
    if form < 0.3:
        return f"CONSTRUCT {{ ?x <{EX}made> ?y }} WHERE {where}"
    distinct = rng.choice(["", "", "DISTINCT "])
    tail = "" if rng.random() < 0.9 else " " + values(rng)
    if rng.random() < 0.4:
        return f"SELECT {distinct}* {where}{tail}"
    shown = rng.sample(VARIABLES, rng.randint(1, 3))
    if not simple and rng.random() < 0.15:
        key = shown[0]
        having = f" HAVING(COUNT(*) > {rng.randint(0, 2)})" if rng.random() < 0.4 else ""
        grouped = f" GROUP BY {key}" if rng.random() < 0.7 else ""
        return f"SELECT {key if grouped else ''} (COUNT(*) AS ?n) {where}{grouped}{having}{tail}"
    if rng.random() < 0.1:
        made = rng.choice([vertex(rng), expression(rng)]) if not simple else vertex(rng)
        return f"SELECT {' '.join(shown)} ({made} AS ?made) {where}{tail}"
    return f"SELECT {distinct}{' '.join(shown)} {where}{tail}"


def group(rng: Random, depth: int, simple: bool) -> str:
    parts = [triples(rng, simple)] if rng.random() < 0.9 else []
    parts += [part(rng, depth, simple) for _ in range(rng.choice([0, 0, 0, 1, 1, 2]) if depth < 2 else 0)]
    if rng.random() < 0.4:
        parts.append(f"FILTER({condition(rng, simple)})")
    rng.shuffle(parts)
    return "{ " + " ".join(parts) + " }"


def part(rng: Random, depth: int, simple: bool) -> str:
    kinds = ["group", "union", "union", "values", "triples", "bindname"]
    if not simple:
        kinds += ["optional", "optional", "minus", "exists", "notexists", "bind", "subselect", "subselect"]
    match rng.choice(kinds):
        case "group":
            return group(rng, depth + 1, simple)
        case "union":
            return " UNION ".join(group(rng, depth + 1, simple) for _ in range(rng.choice([2, 2, 3])))
        case "values":
            return values(rng)
        case "triples":
            return triples(rng, simple)
        case "optional":
            return f"OPTIONAL {group(rng, depth + 1, simple)}"
        case "minus":
            return f"MINUS {group(rng, depth + 1, simple)}"
        case "exists":
            return f"FILTER EXISTS {group(rng, depth + 1, simple)}"
        case "notexists":
            return f"FILTER NOT EXISTS {group(rng, depth + 1, simple)}"
        case "bind":
            return f"BIND({expression(rng)} AS ?b{rng.randint(0, 10**6)})"
        case "bindname":
            return f"BIND({rng.choice([vertex(rng), rng.choice(VARIABLES)])} AS ?b{rng.randint(0, 10**6)})"
        case _:
            return "{ " + subselect(rng, depth, simple) + " }"


def subselect(rng: Random, depth: int, simple: bool) -> str:
    where = group(rng, depth + 1, simple)
    draw = rng.random()
    if draw < 0.15:
        return f"SELECT (COUNT(*) AS ?n{rng.randint(0, 10**6)}) {where}"
    if draw < 0.3:
        return f"SELECT ?x (COUNT(*) AS ?n{rng.randint(0, 10**6)}) {where} GROUP BY ?x"
    return f"SELECT {rng.choice(['', 'DISTINCT '])}{' '.join(rng.sample(VARIABLES, 2))} {where}"


def triples(rng: Random, simple: bool) -> str:
    return " ".join(triple(rng, simple) for _ in range(rng.choice([1, 1, 1, 2, 3])))


def triple(rng: Random, simple: bool) -> str:
    if rng.random() < 0.08:
        typed = rng.choice(["a", "rdf:type"]) + rng.choice(["", "/rdfs:subClassOf*"])
        return f"{subject(rng)} {typed} @{local(rng, CLASSES)}@ ."
    if rng.random() < 0.06:
        return f"[] {path(rng, simple)} [ {path(rng, simple)} {vertex(rng)} ] ."
    return f"{subject(rng)} {predicate(rng, simple)} {vertex(rng)} ."


def predicate(rng: Random, simple: bool) -> str:
    return rng.choice(VARIABLES) if rng.random() < 0.12 else path(rng, simple)


def path(rng: Random, simple: bool) -> str:
    one = rng.choice([*PROPERTIES, *PROPERTIES, "a"])
    draw = rng.random()
    if draw < 0.65:
        return str(one)
    if draw < 0.72:
        return f"^{one}"
    if draw < 0.8:
        return f"{path(rng, simple)}/{path(rng, simple)}"
    if draw < 0.86:
        return f"{rng.choice(['', '^'])}{one}?"
    if draw < 0.9:
        return f"!({'|'.join(map(str, rng.sample(PROPERTIES, rng.randint(1, 2))))})"
    if draw < 0.96:
        return f"({path(rng, simple)}|{path(rng, simple)})" + rng.choice(["", "", "?"])
    return f"({path(rng, simple)}/{path(rng, simple)})?" if simple else f"({path(rng, simple)}){rng.choice('*+')}"


def local(rng: Random, names) -> str:
    return rng.choice(names).value.removeprefix(EX)


def subject(rng: Random) -> str:
    draw = rng.random()
    if draw < 0.83:
        return rng.choice(VARIABLES)
    if draw < 0.87:
        return "tw:home"
    return "_:b" if draw < 0.92 else f"@{local(rng, NAMES)}@"


def vertex(rng: Random) -> str:
    return subject(rng).replace("_:b", "?w") if rng.random() < 0.9 else constant(rng)


def constant(rng: Random) -> str:
    draw = rng.random()
    if draw < 0.5:
        return str(rng.choice(LITERALS))
    return "tw:home" if draw < 0.55 else f"@{local(rng, rng.choice([NAMES, CLASSES]))}@"


def values(rng: Random) -> str:
    shown = rng.sample(VARIABLES, rng.choice([1, 1, 2]))
    rows = [[rng.choice([constant(rng), constant(rng), "UNDEF"]) for _ in shown] for _ in range(rng.randint(1, 3))]
    if len(shown) == 1:
        return f"VALUES {shown[0]} {{ {' '.join(row[0] for row in rows)} }}"
    return f"VALUES ({' '.join(shown)}) {{ {' '.join('(' + ' '.join(row) + ')' for row in rows)} }}"


def expression(rng: Random, depth: int = 0) -> str:
    """An expression that comes to a term."""
    draw = rng.random()
    if depth > 2 or draw < 0.5:
        return rng.choice([rng.choice(VARIABLES), rng.choice(VARIABLES), str(rng.choice(LITERALS)), constant(rng)])
    inner = [expression(rng, depth + 1) for _ in range(3)]
    if draw < 0.6:
        return f"({inner[0]} {rng.choice('+-*/')} {inner[1]})"
    if draw < 0.7:
        return f"{rng.choice(ONE_TEXT)}({inner[0]})"
    if draw < 0.8:
        return f"{rng.choice(ONE_NUMBER)}({inner[0]})"
    text, number = str(rng.choice(SIMPLE)), rng.choice(["1", "2", "1.5", inner[1]])
    return rng.choice(
        [
            f"(-{inner[0]})",
            f"CONCAT({inner[0]}, {inner[1]})",
            f"STRBEFORE({inner[0]}, {text})",
            f"STRAFTER({inner[0]}, {text})",
            f"SUBSTR({inner[0]}, {number})",
            f"SUBSTR({inner[0]}, {number}, 2)",
            f'REPLACE({inner[0]}, "b", "x")',
            f"STRLANG({inner[0]}, {rng.choice([ENGLISH, inner[1]])})",
            f"STRDT({inner[0]}, {rng.choice(['xsd:integer', 'xsd:decimal', inner[1]])})",
            f"COALESCE({inner[0]}, {inner[1]})",
            f"IF({condition(rng, True, depth + 1)}, {inner[0]}, {inner[1]})",
        ]
    )


def condition(rng: Random, simple: bool, depth: int = 0) -> str:
    """An expression that comes to a truth, or to an error."""
    draw = rng.random()
    if depth < 2 and draw > 0.7:
        a, b = condition(rng, simple, depth + 1), condition(rng, simple, depth + 1)
        if not simple and draw > 0.96:
            return f"{rng.choice(['', 'NOT '])}EXISTS {group(rng, 2, simple)}"
        return f"!({a})" if draw > 0.9 else f"({a} {rng.choice(['&&', '||'])} {b})"
    one, other = expression(rng, depth), expression(rng, depth)
    if draw < 0.25:
        return f"{rng.choice(VARIABLES)} {rng.choice(['=', '!=', '<', '<=', '>', '>='])} {rng.choice(LITERALS)}"
    if draw < 0.4:
        return f"{one} {rng.choice(['=', '!=', '<', '<=', '>', '>='])} {other}"
    if draw < 0.48:
        return f"{one} {rng.choice(['IN', 'NOT IN'])} ({', '.join([other, constant(rng)][: rng.randint(0, 2)])})"
    if draw < 0.56:
        return f"{rng.choice(TWO_TEXTS)}({one}, {rng.choice(SIMPLE)})"
    if draw < 0.6:
        return f"REGEX({one}, {rng.choice(RULES)})"
    if draw < 0.66:
        return f"{rng.choice(TESTS)}({one})"
    if draw < 0.68:
        return f"LANGMATCHES(LANG({one}), {rng.choice([ENGLISH, ANY])})"
    return rng.choice([f"BOUND({rng.choice(VARIABLES)})", f"sameTerm({one}, {other})", one])

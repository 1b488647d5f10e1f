"""What a subscription says that is allowed, and yet can hardly be meant: warnings, by the concept model."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import product

from pyoxigraph import Literal, NamedNode

from triplewire.concepts.metastatements import MetaStatement
from triplewire.concepts.model import EVERY_LITERAL, EVERY_RESOURCE, ConceptModel
from triplewire.concepts.spelling import Names
from triplewire.lift.keys import key_of
from triplewire.rdf.terms import RDF, RDFS, XSD
from triplewire.subscriptions.attributes import conjuncts
from triplewire.subscriptions.frozen import Path, of_value, sole_variable
from triplewire.subscriptions.implication import are_possible, have_example, is_true_of
from triplewire.subscriptions.normal import COMPARISONS, FALSE, normal_filters, variables
from triplewire.subscriptions.pattern import (
    VALUE,
    Alternative,
    AttributeExists,
    AttributeTest,
    Call,
    Expression,
    Pattern,
    Scope,
    Variable,
    Vertex,
    speaks_of_home,
)
from triplewire.subscriptions.wording import Wording, listed

_UNIVERSAL = EVERY_RESOURCE | EVERY_LITERAL
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def warnings(alternatives: Iterable[Alternative], model: ConceptModel) -> tuple[str, ...]:
    """What can never match, or not if events keep to the model's meta-statements, and names that the model lacks.

    That one of several alternatives never matches is no reason to warn: of a list of values, a filter leaves some.
    """
    patterns = [alternative.pattern for alternative in alternatives]
    never = [[*_impossible(pattern, model), *_contradictions(pattern, model)] for pattern in patterns]
    unknown = [term for pattern in patterns for term in _unknown_terms(pattern, model)]
    reasons = [reason for one in never for reason in one] if all(never) else []
    return tuple(dict.fromkeys([*reasons, *unknown]))


def _impossible(pattern: Pattern, model: ConceptModel) -> Iterator[str]:
    """Arcs that no event has, or none that keeps to the model's meta-statements."""
    if any(arc.property == RDF.type and arc.scope is Scope.RELATIONS for arc in pattern.arcs):
        yield "a statement pattern on rdf:type never matches: give the class in the meta-statement instead"
    if not model.meta_statements:
        return
    classes = _classes(pattern)
    for arc in pattern.arcs:
        if isinstance(arc.property, NamedNode) and arc.property != RDF.type:
            ends = (classes.get(end, [RDFS.Resource]) for end in (arc.subject, arc.object))
            for subject_class, object_class in product(*ends):
                statement = MetaStatement(subject_class, arc.property, object_class)
                if not model.allows(statement):
                    yield f"no meta-statement of the ontology leaves room for ({', '.join(map(str, statement))})"


def _classes(pattern: Pattern) -> dict[Vertex, list[NamedNode]]:
    """The classes that each vertex must have, however the pattern says it."""
    found: dict[Vertex, list[NamedNode]] = defaultdict(list)
    for constraint in pattern.classes:
        found[constraint.vertex].append(constraint.cls)
    for arc in _typings(pattern):
        found[arc[0]].append(arc[1])
    for is_a in pattern.is_a:
        if is_a.operator in ("<", "<="):
            found[is_a.vertex].append(is_a.cls)
    return found


def _typings(pattern: Pattern) -> Iterator[tuple[Vertex, NamedNode]]:
    for arc in pattern.arcs:
        if arc.property == RDF.type and isinstance(arc.object, NamedNode):
            yield arc.subject, arc.object


def _contradictions(pattern: Pattern, model: ConceptModel) -> Iterator[str]:
    """Filters that no event makes true, by themselves or together."""
    if _are_plainly_possible(list(conjuncts(pattern.filters))):
        return
    words = Wording(model)
    tests: dict[Variable, list[Expression]] = defaultdict(list)
    present: set[Path] = set()
    absent: set[Path] = set()
    for filter_ in pattern.filters:
        for part in normal_filters([filter_], lambda name: _named(name, model), lambda property_: property_):
            match part:
                case AttributeTest(path, test):
                    present.add(path)
                    if not are_possible((test,)):
                        said = words.expression(test).replace(str(VALUE), "it")
                        yield f"no {words.path(path)} is such that {said}"
                case AttributeExists(path):
                    present.add(path)
                case Call("not", (AttributeExists(path),)):
                    absent.add(path)
                case _ if (variable := sole_variable(part)) is not None:
                    tests[variable].append(of_value(part))
                case _ if not speaks_of_home(part) and not any(variables(part)) and not is_true_of(part, FALSE):
                    yield f"this can never be true: {words.expression(filter_)}"
    for variable, asked in tests.items():
        if not are_possible(tuple(asked)):
            said = listed(words.expression(test).replace(str(VALUE), str(variable)) for test in asked)
            yield f"this can never be true: {said}"
    for path in _clashing(present, absent):
        yield f"an event cannot have a {words.path(path)} and have none"


def _are_plainly_possible(parts: list[Expression]) -> bool:
    """Whether one sees without further ado that some event may make all of these true, as a rule it is so."""
    present = {part.path for part in parts if isinstance(part, AttributeTest | AttributeExists)}
    absent = {path for part in parts for path in _paths(part) if isinstance(part, Call) and part.name == "not"}
    compared = [_compared(part) for part in parts]
    asked = [variable for variable in compared if variable is not None]
    return (
        len(asked) == len(set(asked))
        and all(variable or _is_plainly_possible(part) for part, variable in zip(parts, compared, strict=True))
        and not any(_clashing(present, absent))
    )


def _compared(part: Expression) -> Variable | None:
    """The variable that is compared with a plain constant, if that is all."""
    match part:
        case Call(name, (Variable() as variable, Literal() as constant)) if name in COMPARISONS:
            return variable if _is_plain(constant, name) else None
        case _:
            return None


def _is_plainly_possible(part: Expression) -> bool:
    match part:
        case AttributeTest(_, Call(name, (Variable(), Literal() as constant))) if _is_plain(constant, name):
            return True
        case AttributeTest(_, test):
            return have_example((test,))
        case AttributeExists() | Call("not", (AttributeExists(),)):
            return True
        case Call("or", parts):
            return any(map(_is_plainly_possible, parts))
        case _:
            return False


def _is_plain(constant: Literal, comparison: str) -> bool:
    """Whether a comparison is with a plain number, which there is always something above and below, or a text."""
    if constant.datatype == XSD.string:
        return comparison in ("=", "strstarts", "strends", "contains")
    return constant.datatype in (XSD.integer, XSD.decimal) and _NUMBER.fullmatch(constant.value) is not None


def _clashing(present: set[Path], absent: set[Path]) -> Iterator[Path]:
    return (path for path in absent if any(longer[: len(path)] == path for longer in present))


def _named(name: NamedNode, model: ConceptModel) -> NamedNode:
    found = model.names.get(name, name)
    return found if isinstance(found, NamedNode) else name


def _unknown_terms(pattern: Pattern, model: ConceptModel) -> Iterator[str]:
    """A warning for each class, property or concept that the model does not mention."""
    classes = [c.cls for c in pattern.classes] + [cls for _, cls in _typings(pattern)]
    classes += [c.cls for c in pattern.is_a if c.cls not in model.types]
    properties = [arc.property for arc in pattern.arcs if isinstance(arc.property, NamedNode)]
    properties += [step for filter_ in pattern.filters for path in _paths(filter_) for step in path]
    if model.classes:
        yield from _unknown("class", (c for c in classes if not _is_known(c, model)), lambda: model.class_names)
    if model.properties:
        undeclared = (p for p in properties if p not in model.properties and _needs_declaring(p))
        yield from _unknown("property", undeclared, lambda: model.property_names)
    concepts = (c for f in pattern.filters for c in _concepts(f) if c not in model.concept_parents)
    yield from _unknown("concept", concepts, lambda: Names(model.concept_parents))


def _is_known(cls: NamedNode, model: ConceptModel) -> bool:
    return cls in model.classes or cls in _UNIVERSAL or len(model.superclasses(cls)) > 1


def _needs_declaring(property_: NamedNode) -> bool:
    """Whether one expects an ontology to mention a property: RDF's own and the keys of plain JSON it need not."""
    return property_ not in RDF and property_ not in RDFS and key_of(property_) is None


def _paths(expression: Expression) -> Iterator[tuple[NamedNode, ...]]:
    match expression:
        case AttributeTest(path) | AttributeExists(path):
            yield path
        case Call(_, arguments):
            for argument in arguments:
                yield from _paths(argument)


def _concepts(expression: Expression) -> Iterator[NamedNode]:
    """The concepts that an expression asks for similarity to."""
    match expression:
        case Call("~", (_, NamedNode() as concept, _)):
            yield concept
        case AttributeTest(_, test):
            yield from _concepts(test)
        case Call(_, arguments):
            for argument in arguments:
                yield from _concepts(argument)


def _unknown(kind: str, terms: Iterable[NamedNode], names: Callable[[], Names]) -> Iterator[str]:
    for term in dict.fromkeys(terms):
        near = names().nearest(term)
        yield f"the ontology has no {kind} {term}" + (f"; did you mean {near}?" if near else "")

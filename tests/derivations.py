"""Checks chains of derivation against the event and the ontology as they are written, and nothing else."""

from itertools import pairwise

from pyoxigraph import Literal

from triplewire.concepts.datatypes import datatype_tree
from triplewire.concepts.model import EVERY_LITERAL, EVERY_RESOURCE, reachable
from triplewire.rdf.terms import OWL, RDF, RDFS, renamed


def check_chain(chain, end, graph, model, names):
    """Assert that a chain begins with what is stated, goes on by statements of the ontology, and ends as it should."""
    first, *rest = chain
    assert _begins(first, graph, model, names), first
    before = first
    for step in rest:
        assert _follows(step, before.fact, model), (before, step)
        before = step
    assert before.fact == end


def _states(model, statement):
    """Whether a model says so, in so many words."""
    lower, word, upper = statement
    tables = {
        RDFS.subClassOf: [model.class_parents, datatype_tree(), model.same],
        RDFS.subPropertyOf: [model.property_parents],
        OWL.inverseOf: [model.inverses],
        RDFS.domain: [model.domains],
        RDFS.range: [model.ranges],
    }
    if word == OWL.sameAs:
        return upper in reachable(lower, lambda name: model.same.get(name, ()))
    membership = word == RDFS.subPropertyOf and upper == RDFS.member and lower.value.startswith(RDF.base + "_")
    return membership or any(upper in table.get(lower, ()) for table in tables[word])


def _follows(step, before, model):
    """Whether a step's fact follows from the fact before it and the one statement that it goes by."""
    [statement] = step.by
    s, p, o = before
    lower, _, upper = statement
    reached = {
        "subclass": [(s, p, upper)] if p in (RDF.type, RDFS.subClassOf) and o == lower else [],
        "same": [(upper if s == lower else s, p, o), (s, p, upper if o == lower else o)],
        "subproperty": [(s, upper, o)] if p == lower else [],
        "inverse": [(o, upper, s)] if p == lower and not isinstance(o, Literal) else [],
        "domain": [(s, RDF.type, upper)] if p == lower and model.typing == "rdfs" else [],
        "range": [(o, RDF.type, upper)] if p == lower and model.typing == "rdfs" and not isinstance(o, Literal) else [],
    }
    return _states(model, statement) and step.fact in reached[step.rule]


def _begins(step, graph, model, names):
    asserted = {renamed(triple, names) for triple in graph.triples}
    match step.rule:
        case "stated":
            return step.fact in graph.triples
        case "known":
            return step.fact.property == RDF.type and step.fact.object in model.types[step.fact.subject]
        case "datatype":
            return step.fact == (step.fact.subject, RDF.type, step.fact.subject.datatype)
        case "every":
            every = EVERY_LITERAL if isinstance(step.fact.subject, Literal) else EVERY_RESOURCE
            return step.fact.object in every
        case "subclass":
            return step.by == (step.fact,) and _states(model, step.fact)
        case "member":
            *rest, first = step.by
            cells = [step.fact.subject, *(arc.object for arc in rest)]
            linked = [(one, RDF.rest, other) for one, other in pairwise(cells)]
            return rest == linked and first == (cells[-1], RDF.first, step.fact.object) and {*step.by} <= asserted

"""One plain English sentence per subscription."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from tests import worlds
from triplewire.concepts.load import load_model
from triplewire.concepts.model import EVERY_RESOURCE, ConceptModel
from triplewire.rdf.terms import RDF
from triplewire.subscriptions.english import sentence
from triplewire.subscriptions.languages import parse_subscription
from triplewire.subscriptions.pattern import HOME, Alternative, Arc, Call, Interest, Pattern, Subscription, Variable

AUCTION = load_model([Path(__file__).parents[2] / "examples/auction/ontology.ttl"])
PREFIXES = {"": "http://e.org/", "au": "http://example.org/auction#", "units": "http://example.org/units#"}
OFFER = "(_:H, ?1, (au:Selling, au:target, au:Computer)) (_:H, ?2, (au:Selling, au:price, au:MoneyValue))"

EXAMPLES = [
    (
        "ops",
        f"{OFFER} (?2, units:dollar, (au:MoneyValue, au:currency, daml:Thing)) "
        "(?2, ?3, (au:MoneyValue, rdf:value, xsd:decimal), ?3 < 400.00)",
        "Selling events whose target is a Computer and whose price is a Money value whose currency is US dollar and "
        "whose value is a decimal below 400.00.",
    ),
    (
        "ops",
        f'{OFFER} (?1, ?n, (au:Computer, au:title, xsd:string), strstarts(?n, "Len"))'
        "(?2, units:euro, (au:MoneyValue, au:currency, au:Currency))",
        'Selling events whose target is a Computer (whose title is a string starting with "Len") and whose price is '
        "a Money value whose currency is Euro (a Currency).",
    ),
    (
        "ops",
        "(_:H, ?c, (au:Selling, au:target, au:Computer)) (?c, ?d, (au:Computer, au:part, au:HardDisk)) "
        "(?c, ?m, (au:Computer, au:manufacture, au:Company)) (?d, ?m, (au:HardDisk, au:manufacture, au:Company))",
        "Selling events whose target is a Computer whose manufacture is a Company (?m) and whose part is a Hard disk "
        "whose manufacture is ?m.",
    ),
    (
        "ops",
        "(_:H, ?x, (au:Selling, au:target, au:Book)) (_:H, ?y, (au:Selling, au:target, au:Book))",
        "Selling events whose target is a Book (?x) and whose target is a Book (?y), where ?x is not ?y.",
    ),
    (
        "ops",
        "".join(f"(_:H, ?{v}, (au:Selling, au:target, au:Book)) " for v in "xyz"),
        "Selling events whose target is a Book (?x), whose target is a Book (?y) and whose target is a Book (?z), "
        "where ?x, ?y and ?z are all different.",
    ),
    (
        "ops",
        "(_:H, ?a, (rdfs:Resource, :low, xsd:decimal)) (_:H, ?b, (rdfs:Resource, :high, xsd:decimal), ?a * 2 < ?b)",
        "Events whose low is a decimal (?a) and whose high is a decimal (?b), where ?a * 2 is below ?b.",
    ),
    (
        "ops",
        '(_:H, ?t, (rdfs:Resource, :title, xsd:string), contains(lcase(?t), "war") or regex(?t, "^peace", "i"))',
        'Events whose title is a string (?t), where (?t in lower case contains "war") or (?t matches /^peace/i).',
    ),
    (
        "ops",
        "(_:H, ?x, (rdfs:Resource, au:seller, rdfs:Resource)) (?x, _:H, (rdfs:Resource, :sold, rdfs:Resource))",
        "Events whose seller is something whose sold is the event itself.",
    ),
    ("ops", "(_:H, ?x, (rdfs:Resource, au:cellPhoneNumber, rdfs:Resource))", "Events that have a cell phone number."),
    (
        "gtopss",
        [
            ["?x", "rdf:type", "?t", [], [["?t", "<=", ":Publication"]]],
            ["?x", ":year", "?y", [], [["?y", ">", 2000]]],
            ["?x", ":author", '"Arno Jacobsen"'],
        ],
        "Events with something whose type is a kind of Publication, whose year is above 2000 and whose author is "
        '"Arno Jacobsen", exactly as stated.',
    ),
    ("gtopss", [["?x", "?p", "?y"]], "Events with something that has a property ?p, exactly as stated."),
    ("gtopss", [["?x", ":knows", "?x"]], "Events with something (?x) whose knows is ?x, exactly as stated."),
    (
        "gtopss",
        [["_:H", ":about", "?y", [], [["?y", "<", ":Art"], ["?y", "!=", ":Music"]]]],
        "Events whose about is a kind of Art but not Art itself and not directly below Music, exactly as stated.",
    ),
    ("filter", "price < 400", "Events whose price is below 400."),
    (
        "filter",
        'price < 400 and (brand = "IBM" or brand startswith "Len") and not exists discount',
        'Events whose price is below 400, whose brand is "IBM" or starts with "Len", and that have no discount.',
    ),
    ("filter", "not (price >= 400)", "Events whose price is not at least 400."),
    ("filter", 'seller.name = "Eve"', 'Events whose seller\'s name is "Eve".'),
    (
        "filter",
        "price < 400 or exists discount",
        "Events for which either the price is below 400 or there is a discount.",
    ),
    (
        "filter",
        "not (price < 3 and exists discount)",
        "Events for which either the price is not below 3 or there is no discount.",
    ),
    (
        "filter",
        'stars in (4, 5) and brand not in ("A", "B")',
        'Events whose stars is one of 4 or 5, and whose brand is not one of "A" or "B".',
    ),
    ("filter", 'not brand matches "^a+$"', "Events whose brand does not match /^a+$/."),
    ("filter", 'brand endswith "x" and exists au:target', 'Events whose brand ends in "x" and that have a target.'),
    ("interest", {"concepts": ["Computer", "Book"]}, "Events close to Computer and Book (similarity above 0.7)."),
    (
        "interest",
        {"interest": "Digital Product", "type": "Ring tone"},
        "Events close to Digital Product and ring tone (new, under Digital Product) (similarity above 0.7).",
    ),
]


@pytest.mark.parametrize(("language", "pattern", "meaning"), EXAMPLES)
def test_the_sentence_says_what_the_subscription_means(language, pattern, meaning):
    record = {"id": "s", "language": language, "pattern": pattern, "prefixes": PREFIXES}
    told = sentence(parse_subscription(record, AUCTION), AUCTION)
    assert told == meaning


def test_what_a_residual_checks_is_named():
    query = "SELECT ?n { ?x a au:Customer OPTIONAL { ?x au:name ?n } FILTER NOT EXISTS { ?x au:postalAddress ?a } }"
    record = {"id": "s", "language": "sparql", "pattern": query, "prefixes": PREFIXES}
    told = sentence(parse_subscription(record, AUCTION), AUCTION)
    assert told.endswith(" SPARQL check (OPTIONAL, NOT EXISTS).")


def test_alternatives_are_told_as_either_or():
    books, music = (
        Pattern(interests=(Interest((NamedNode(f"http://e.org/{name}"),), 0.5),)) for name in ("Books", "Pop")
    )
    subscription = Subscription("s", (Alternative(books), Alternative(music)))
    assert sentence(subscription, ConceptModel()) == (
        "Either events close to Books (similarity above 0.5), or events close to Pop (similarity above 0.5)."
    )


def test_a_pattern_that_asks_for_nothing_is_every_event():
    assert sentence(Subscription("s", (Alternative(Pattern()),)), ConceptModel()) == "Every event."


def test_an_arc_towards_the_home_vertex_is_told_from_there():
    arc = Arc(Variable("x"), NamedNode("http://e.org/part"), HOME)
    assert sentence(Subscription("s", (Alternative(Pattern(arcs=(arc,))),)), ConceptModel()) == (
        "Events that are the part of something."
    )


def test_a_graph_that_is_too_large_to_be_told_is_summed_up():
    properties = [NamedNode(f"http://e.org/{name}") for name in ("next", "last")]
    arcs = [Arc(HOME if n == 0 else Variable(str(n)), properties[n % 2], Variable(str(n + 1))) for n in range(2000)]
    told = sentence(Subscription("s", (Alternative(Pattern(arcs=tuple(arcs))),)), ConceptModel())
    assert told == "Events with a graph of 2000 arcs, on next and last."


@settings(max_examples=160, deadline=None)
@given(st.randoms(use_true_random=False))
def test_every_subscription_has_one_sentence_that_mentions_its_terms(rng):
    subscription, model = worlds.subscription(rng), worlds.model(rng)
    told = sentence(subscription, model)
    assert told == sentence(subscription, model)
    assert "\n" not in told
    assert told.endswith(".")
    assert told[0] == told[0].upper()
    for pattern in (alternative.pattern for alternative in subscription.alternatives):
        terms = {arc.property for arc in pattern.arcs if arc.property != RDF.type}
        terms |= {c.cls for c in pattern.classes} - EVERY_RESOURCE | {c.cls for c in pattern.is_a}
        for term in terms:
            word = str(term) if isinstance(term, Variable) else model.label(term)
            assert word.lower() in told.lower()


@pytest.mark.parametrize("name", [*worlds.TO_TERM, "coalesce", "negate", "number", "bound", "tz", "encode_for_uri"])
def test_functions_are_told_in_words(name):
    x, y = Variable("x"), Variable("y")
    arcs = tuple(Arc(HOME, NamedNode(f"http://e.org/{v.name}"), v) for v in (x, y))
    pattern = Pattern(arcs=arcs, filters=(Call("<", (Call(name, (x,)), y)),))
    told = sentence(Subscription("s", (Alternative(pattern),)), ConceptModel())
    assert f"{name}(" not in told
    assert told.endswith("is below ?y.")

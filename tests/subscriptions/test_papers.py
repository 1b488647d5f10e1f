"""The papers' examples in every language that can express them: equal patterns, and the same matches.

Equal after ``canonical`` are the texts that mean the same for every event. ``gtopss`` has exact arcs and ``filter``
binds nothing, so that theirs are other patterns; on the papers' events they match like the others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from triplewire.concepts.load import model_of, read_ontology
from triplewire.lift.cloudevents import parse_event
from triplewire.matching import BruteForce
from triplewire.rdf.terms import WELL_KNOWN_PREFIXES
from triplewire.subscriptions.canonical import canonical
from triplewire.subscriptions.languages import parse_subscription
from triplewire.testing import cloud_event

EX = {"ex": "http://example.org/"}
TURTLE = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in (WELL_KNOWN_PREFIXES | EX).items())
HOMOMORPHIC = {"mapping": "homomorphic"}


@dataclass(frozen=True)
class Paper:
    """An example: texts by a name, each a language, a pattern and options; and events, with who is to be matched.

    ``equal`` are the names of texts that must come to one pattern.
    """

    name: str
    texts: dict[str, tuple[str, Any, dict[str, Any]]]
    matching: list[str]
    missing: list[str]
    equal: list[set[str]] = field(default_factory=list)
    ontology: str = ""

    def model(self):
        return model_of(read_ontology(TURTLE + self.ontology, "text/turtle", "paper"))

    def subscription(self, text, model):
        language, pattern, options = self.texts[text]
        record = {"id": text, "language": language, "pattern": pattern, "prefixes": EX}
        return parse_subscription(record | options, model)


AUCTION = """
ex:Computer rdfs:subClassOf ex:Product .
ex:DesktopPC rdfs:subClassOf ex:Computer . ex:NotebookPC rdfs:subClassOf ex:Computer .
ex:telephoneNumber rdfs:subPropertyOf ex:contactInformation . ex:cellPhoneNumber rdfs:subPropertyOf ex:telephoneNumber .
ex:dollar a ex:Currency .
"""
OFFER = """
_:H a ex:Selling ; ex:seller _:wang ; ex:price _:price ; ex:target _:pc .
_:wang a ex:Customer ; ex:name "Jinling Wang" .
_:price a ex:MoneyValue ; ex:currency ex:dollar ; rdf:value {price} . _:pc a ex:{kind} ; ex:manufacture ex:IBM .
"""
PUBLICATION = """
ex:paper17 ex:author "Arno Jacobsen" ; ex:title "Very Fast" ; ex:conference ex:SIGMOD .
ex:SIGMOD ex:year "{year}" ; ex:location "Some Location" .
"""
TAXONOMY = """
ex:Journal rdfs:subClassOf ex:Publication . ex:Proceedings rdfs:subClassOf ex:Publication .
ex:SIGMODPaper rdfs:subClassOf ex:Proceedings . ex:paper17 a ex:SIGMODPaper .
"""
MUSIC = """
ex:Music a owl:Class ; rdfs:label "Music" . ex:Pop rdfs:subClassOf ex:Music ; rdfs:label "Pop" .
ex:Singer rdfs:subClassOf ex:Music ; rdfs:label "Singer" . ex:PopSinger rdfs:subClassOf ex:Singer, ex:Pop .
ex:MichaelJackson a ex:PopSinger ; rdfs:label "Michael Jackson" .
ex:News a owl:Class ; rdfs:label "News" . ex:LocalNews rdfs:subClassOf ex:News ; rdfs:label "Local News" .
"""
DEATH = """
_:H ex:publicationType ex:MichaelJackson ; ex:publicationSubType ex:Pop ;
    ex:publicationContent "Michael Jackson passed away" .
"""
LOCAL = '_:H a ex:LocalNews ; ex:content "The mayor has a new dog" .'

PAPERS = [
    Paper(
        "OPS, Figure 3: computers under 400 dollars",
        ontology=AUCTION,
        texts={
            "the paper's": (
                "ops",
                """(_:H, ?1, (ex:Selling, ex:target, ex:Computer))
                (_:H, ?2, (ex:Selling, ex:price, ex:MoneyValue))
                (?2, ex:dollar, (ex:MoneyValue, ex:currency, daml:Thing))
                (?2, ?3, (ex:MoneyValue, rdf:value, xsd:decimal), ?3 < 400.00)""",
                {},
            ),
            "in another order": (
                "ops",
                """(?money, ?amount, (ex:MoneyValue, rdf:value, xsd:decimal), 400 > ?amount)
                (?money, ex:dollar, (rdfs:Resource, ex:currency, owl:Thing))
                (_:H, ?money, (ex:Selling, ex:price, ex:MoneyValue))
                (_:H, ?pc, (owl:Thing, ex:target, ex:Computer))""",
                {},
            ),
            "any amount": (
                "ops",
                """(_:H, ?1, (ex:Selling, ex:target, ex:Computer)) (_:H, ?1, (ex:Selling, ex:target, owl:Thing))
                (_:H, ?2, (ex:Selling, ex:price, ex:MoneyValue))
                (?2, ex:dollar, (ex:MoneyValue, ex:currency, daml:Thing))
                (?2, ?3, (ex:MoneyValue, rdf:value, rdfs:Resource), ?3 < 400.00)""",
                HOMOMORPHIC,
            ),
            "in SPARQL": (
                "sparql",
                """SELECT DISTINCT ?1 ?2 ?3 {
                  tw:home a ex:Selling ; ex:target ?1 ; ex:price ?2 .
                  ?1 a ex:Computer .
                  ?2 a ex:MoneyValue ; ex:currency ex:dollar ; rdf:value ?3 FILTER(?3 < 400.00)
                }""",
                {},
            ),
            "by the taxonomy": (
                "gtopss",
                [
                    ["_:H", "ex:target", "?1", [], [["?1", "<=", "ex:Computer"]]],
                    ["_:H", "ex:price", "?2", [], [["?2", "<=", "ex:MoneyValue"]]],
                    ["?2", "ex:currency", "ex:dollar"],
                    ["?2", "rdf:value", "?3", [], [["?3", "<", 400]]],
                    ["_:H", "rdf:type", "ex:Selling"],
                ],
                {},
            ),
        },
        equal=[{"the paper's", "in another order"}, {"any amount", "in SPARQL"}],
        matching=[OFFER.format(price="399.99", kind="DesktopPC"), OFFER.format(price=380, kind="NotebookPC")],
        missing=[OFFER.format(price="450.00", kind="DesktopPC"), OFFER.format(price=380, kind="Book")],
    ),
    Paper(
        "OPS, section 3: telephoneNumber = 123456789",
        ontology=AUCTION,
        texts={
            "ops": (
                "ops",
                '(_:H, ?n, (rdfs:Resource, ex:telephoneNumber, rdfs:Resource), ?n = "123456789")',
                HOMOMORPHIC,
            ),
            "ops, the other way round": (
                "ops",
                '(_:H, ?n, (owl:Thing, ex:telephoneNumber, rdfs:Resource), "123456789" = ?n)',
                {"mapping": "homomorphic"},
            ),
            "sparql": ("sparql", 'SELECT DISTINCT ?n { tw:home ex:telephoneNumber ?n FILTER(?n = "123456789") }', {}),
            "filter": ("filter", 'ex:telephoneNumber = "123456789"', {}),
        },
        equal=[{"ops", "ops, the other way round", "sparql"}],
        matching=['_:H ex:telephoneNumber "123456789" .', '_:H ex:cellPhoneNumber "1", "123456789" .'],
        missing=['_:H ex:contactInformation "123456789" .', '_:H ex:cellPhoneNumber "1" .'],
    ),
    Paper(
        "G-ToPSS, Figure 5(a): a paper at SIGMOD after 2000",
        texts={
            "the paper's": (
                "gtopss",
                [
                    ["ex:paper17", "ex:author", "Arno Jacobsen"],
                    ["ex:paper17", "ex:conference", "ex:SIGMOD"],
                    ["ex:SIGMOD", "ex:year", "?z", [], [["?z", ">", 2000]]],
                ],
                {},
            ),
            "in another order": (
                "gtopss",
                [
                    ["ex:SIGMOD", "ex:year", "?year", [], [["?year", ">", 2000]]],
                    ["ex:paper17", "ex:conference", "ex:SIGMOD", [], []],
                    ["ex:paper17", "ex:author", '"Arno Jacobsen"', [], []],
                ],
                {},
            ),
            "in SPARQL": (
                "sparql",
                """SELECT ?z { ex:paper17 ex:author "Arno Jacobsen" ; ex:conference ex:SIGMOD .
                  ex:SIGMOD ex:year ?z FILTER(xsd:integer(?z) > 2000) }""",
                {},
            ),
        },
        equal=[{"the paper's", "in another order"}],
        matching=[PUBLICATION.format(year=2001)],
        missing=[PUBLICATION.format(year=2000), 'ex:paper17 ex:author "Arno Jacobsen" .'],
    ),
    Paper(
        "G-ToPSS, Figures 5(b) and 6: a publication of Arno's after 1999",
        ontology=TAXONOMY,
        texts={
            "the paper's": (
                "gtopss",
                [
                    ["?y", "ex:author", "Arno Jacobsen", [["?y", "<=", "ex:Publication"]]],
                    ["?y", "ex:conference", "ex:SIGMOD"],
                    ["ex:SIGMOD", "ex:year", "?x", [], [["?x", ">", 1999]]],
                ],
                {},
            ),
            "in SPARQL": (
                "sparql",
                """SELECT ?x ?y { ?y a ex:Publication ; ex:author "Arno Jacobsen" ; ex:conference ex:SIGMOD .
                  ex:SIGMOD ex:year ?x FILTER(xsd:integer(?x) > 1999) }""",
                {},
            ),
        },
        matching=[PUBLICATION.format(year=2001), PUBLICATION.format(year=2000)],
        missing=[PUBLICATION.format(year=1999), PUBLICATION.format(year=2001).replace("paper17", "paper18")],
    ),
    Paper(
        "OncePubSub: a conjunction of attributes' predicates",
        texts={
            "filter": ("filter", 'ex:price < 400 and ex:brand = "IBM" and ex:title startswith "Think"', {}),
            "in another order": (
                "filter",
                'ex:title startswith "Think" and (ex:brand = "IBM" and ex:price < 400.0)',
                {},
            ),
            "ops": (
                "ops",
                """(_:H, ?p, (owl:Thing, ex:price, rdfs:Resource), ?p < 400)
                (_:H, ?b, (owl:Thing, ex:brand, rdfs:Resource), ?b = "IBM")
                (_:H, ?t, (owl:Thing, ex:title, rdfs:Resource), strstarts(?t, "Think"))""",
                HOMOMORPHIC,
            ),
            "sparql": (
                "sparql",
                """SELECT DISTINCT ?p ?b ?t { tw:home ex:price ?p ; ex:brand ?b ; ex:title ?t
                  FILTER(?p < 400 && ?b = "IBM" && STRSTARTS(?t, "Think")) }""",
                {},
            ),
            "gtopss": (
                "gtopss",
                [
                    ["_:H", "ex:price", "?p", [], [["?p", "<", 400]]],
                    ["_:H", "ex:brand", "IBM"],
                    ["_:H", "ex:title", "?t", [], [["?t", ">=", "Think"], ["?t", "<", "Thinl"]]],
                ],
                {},
            ),
        },
        equal=[{"filter", "in another order"}, {"ops", "sparql"}],
        matching=['_:H ex:price 380 ; ex:brand "IBM" ; ex:title "ThinkPad" .'],
        missing=[
            '_:H ex:price 400 ; ex:brand "IBM" ; ex:title "ThinkPad" .',
            '_:H ex:brand "IBM" ; ex:title "ThinkPad" .',
            '_:H ex:price 380 ; ex:brand "IBM" ; ex:title "A ThinkPad" .',
        ],
    ),
    Paper(
        "thesis, case 1: Lori, who likes pop music",
        ontology=MUSIC,
        texts={
            "fields": ("interest", {"interest": "Music", "type": "Pop"}, {}),
            "concepts": ("interest", {"concepts": ["pop", "<http://example.org/Music>"]}, {"threshold": 0.7}),
        },
        equal=[{"fields", "concepts"}],
        matching=[DEATH],
        missing=[LOCAL],
    ),
    Paper(
        "thesis, case 1: Kristi, who likes Michael Jackson",
        ontology=MUSIC,
        texts={
            "fields": ("interest", {"interest": "Michael Jackson", "type": "Singer"}, {}),
            "text": ("interest", '{"concepts": ["ex:MichaelJackson", "Singer"]}', {}),
        },
        equal=[{"fields", "text"}],
        matching=[DEATH],
        missing=[LOCAL],
    ),
    Paper(
        "thesis, case 1: Jeff, who likes local news",
        ontology=MUSIC,
        texts={
            "fields": ("interest", {"interest": "News", "type": "Local News"}, {}),
            "concepts": ("interest", {"concepts": ["Local News", "News"]}, {}),
        },
        equal=[{"fields", "concepts"}],
        matching=[LOCAL],
        missing=[DEATH],
    ),
]
papers = pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)


@papers
def test_texts_that_mean_the_same_come_to_one_pattern(paper):
    model = paper.model()
    for names in paper.equal:
        alternatives = [a for name in sorted(names) for a in paper.subscription(name, model).alternatives]
        assert not any(a.residual for a in alternatives)
        assert len({canonical(a.pattern, model)[0] for a in alternatives}) == 1


@papers
def test_every_language_matches_the_papers_events(paper):
    model = paper.model()
    matcher = BruteForce(model)
    for name in paper.texts:
        matcher.add(paper.subscription(name, model))
    for data, matched in [(d, sorted(paper.texts)) for d in paper.matching] + [(d, []) for d in paper.missing]:
        found = matcher.match(parse_event(cloud_event(TURTLE + data)))
        assert [match.subscription for match in found] == matched

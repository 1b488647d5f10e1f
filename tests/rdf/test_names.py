"""Short names: prefixes where known, the ends of IRIs where they are enough, and never one name for two terms."""

from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode

from triplewire.rdf.names import Names, declared_prefixes
from triplewire.rdf.terms import RDF, XSD

EX = "http://example.org/auction#"


def test_prefixes_are_found_where_documents_declare_them():
    turtle = f"@prefix ex: <{EX}> .\nPREFIX u: <urn:u:>\n@prefix : <urn:v:> ."
    assert declared_prefixes(turtle) == {"ex": EX, "u": "urn:u:", "": "urn:v:"}
    assert declared_prefixes(f"""<rdf:RDF xmlns:ex="{EX}" xmlns:u = 'urn:u:'>""") == {"ex": EX, "u": "urn:u:"}
    assert declared_prefixes("nothing of the kind") == {}


def test_a_term_is_called_as_people_write_it():
    price, other = NamedNode(f"{EX}price"), NamedNode("http://elsewhere.org/size")
    names = Names.of([price, other], {"ex": EX})
    assert [names.short(term) for term in (price, other, RDF.type)] == ["ex:price", "size", "rdf:type"]
    assert [names.full(term) for term in (price, other)] == ["ex:price", "<http://elsewhere.org/size>"]
    assert Names.of([price, other, NamedNode(f"{EX}name")], {"ex": EX}, bare=True).short(price) == "price"
    assert names.short(BlankNode("H")) == "_:H"


def test_literals_show_what_is_not_plain():
    names = Names.of(())
    day = Literal("2026-01-31", datatype=XSD.date)
    assert [names.short(term) for term in (Literal("x"), Literal("x", language="en"), Literal(40), day)] == [
        '"x"',
        '"x"@en',
        "40",
        '"2026-01-31"^^xsd:date',
    ]


IRIS = st.builds(
    "".join,
    st.tuples(st.sampled_from(["http://a.org/", "http://a.org/b#", "urn:c:"]), st.sampled_from(["", "x", "y/"])),
)


@given(st.sets(IRIS.map(NamedNode)), st.booleans())
def test_no_two_terms_have_one_name(terms, bare):
    names = Names.of(terms, {"a": "http://a.org/"}, bare=bare)
    assert len({names.short(term) for term in terms}) == len(terms)

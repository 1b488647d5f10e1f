"""JSON, XML and CSV: what becomes of names and values."""

import dataclasses
import json

import pytest

from tests.lift.documents import EXAMPLE, arcs, lifted
from triplewire.errors import EventError
from triplewire.lift.lifting import DEFAULT
from triplewire.lift.names import read_names

OFFER = {"type": "org.example.offer"}


def test_the_members_of_json_are_arcs_and_numbers_stay_as_they_are_written():
    text = '{"price": 380.50, "many": 1e3, "count": 3, "new": true, "none": null, "tags": ["a", ["b"]]'
    text += ', "by": {"a/b c": "x"}}'
    assert arcs("application/json", text) == {
        '_:H <key:price> "380.50"^^<xsd:decimal>',
        '_:H <key:many> "1000"^^<xsd:decimal>',
        '_:H <key:count> "3"^^<xsd:integer>',
        '_:H <key:new> "true"^^<xsd:boolean>',
        '_:H <key:tags> "a"',
        '_:H <key:tags> "b"',
        "_:H <key:by> _:b0",
        '_:b0 <key:a%2Fb%20c> "x"',
    }


def test_numbers_stay_as_they_are_written_through_the_envelope_too():
    line = json.dumps(
        {"specversion": "1.0", "id": "e", "source": "s", "type": "t", "datacontenttype": "application/json"}
    )
    document = line[:-1] + ', "data": {"price": 380.50}}'
    from triplewire.lift.cloudevents import parse_envelope, parse_event

    for text in (document, parse_envelope(document).as_json()):
        [triple] = parse_event(text).graph.triples
        assert triple.object.value == "380.50"


def test_a_mapping_says_what_names_mean():
    data = {"sku": 7, "price": "9.50", "since": "2026-01-31", "seller": "ex:ann", "name": "Tea", "more": 1}
    home = "<http://example.org/offers/7>"
    ex = "http://example.org/auction#"
    expected = {
        f"{home} <rdf:type> <{ex}Selling>",
        f'{home} <{ex}price> "9.50"^^<xsd:decimal>',
        f'{home} <{ex}since> "2026-01-31"^^<xsd:date>',
        f"{home} <{ex}seller> <{ex}ann>",
        f'{home} <http://www.w3.org/2000/01/rdf-schema#label> "Tea"',
        f'{home} <key:more> "1"^^<xsd:integer>',
    }
    assert arcs("application/json", data, EXAMPLE, **OFFER) == expected
    table = "sku,price,since,seller,name\n7,9.50,2026-01-31,ex:ann,Tea\n"
    assert arcs("text/csv", table, EXAMPLE, **OFFER) == {arc for arc in expected if "more" not in arc}
    xml = '<o sku="7"><price>9.50</price><since>2026-01-31</since><seller>ex:ann</seller><name>Tea</name></o>'
    assert arcs("application/xml", xml, EXAMPLE, **OFFER) == {arc for arc in expected if "more" not in arc}
    assert arcs("application/json", data, EXAMPLE, type="x", dataschema="org.example.offer") == expected


def test_a_type_key_names_the_class():
    names = read_names({"type": "kind", "vocabulary": "http://example.org/"})
    lifting = dataclasses.replace(DEFAULT, mappings={"test": names})
    assert arcs("application/json", {"kind": ["Offer", "xsd:string"]}, lifting) == {
        "_:H <rdf:type> <http://example.org/Offer>",
        "_:H <rdf:type> <xsd:string>",
    }


def test_a_context_says_what_keys_mean_and_numbers_stay_plain():
    context = {"price": "http://example.org/p", "day": {"@id": "http://example.org/d", "@type": "xsd:date"}}
    context["xsd"] = "http://www.w3.org/2001/XMLSchema#"
    document = {"price": 380.5, "day": "2026-01-31", "unknown": 1}
    expected = {
        '_:H <http://example.org/p> "380.5"^^<xsd:decimal>',
        '_:H <http://example.org/d> "2026-01-31"^^<xsd:date>',
    }
    assert arcs("application/json", {"@context": context, **document}) == expected
    lifting = dataclasses.replace(DEFAULT, mappings={"test": read_names({"@context": context})})
    assert arcs("application/json", document, lifting) == expected
    assert '"3.805E2"^^<xsd:double>' in str(arcs("application/ld+json", {"@context": context, **document}))


def test_the_tree_of_xml_is_a_graph():
    document = '<offer xmlns:m="http://example.org/money" id="7"><name>Tea</name><name> Chai </name>'
    document += '<m:price cur="EUR">9.50</m:price><empty/>ignored<deep><er>x</er></deep></offer>'
    assert arcs("application/xml", document.replace("ignored", "")) == {
        "_:H <rdf:type> <key:offer>",
        '_:H <key:id> "7"',
        '_:H <key:name> "Tea"',
        '_:H <key:name> "Chai"',
        "_:H <http://example.org/money#price> _:b0",
        '_:b0 <key:cur> "EUR"',
        '_:b0 <rdf:value> "9.50"',
        '_:H <key:empty> ""',
        "_:H <key:deep> _:b1",
        '_:b1 <key:er> "x"',
    }
    assert '_:H <rdf:value> "ignored"' in arcs("application/xml", document)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "windows-1252", "koi8-r"])
def test_xml_is_read_in_the_encoding_that_it_declares(encoding):
    word = "чай" if encoding == "koi8-r" else "thé"
    data = f'<?xml version="1.0" encoding="{encoding}"?>\n<a><b>{word}</b></a>'.encode(encoding)
    assert f'_:H <key:b> "{word}"' in arcs("application/xml", data)
    assert f'_:H <key:b> "{word}"' in arcs("application/xml", f"\ufeff{data.decode(encoding)}")
    rdf = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="urn:a" '
    rdf = f'<?xml version="1.0" encoding="{encoding}"?>{rdf} rdf:value="{word}"/></rdf:RDF>'
    assert arcs("application/rdf+xml", rdf.encode(encoding)) == {f'<urn:a> <rdf:value> "{word}"'}
    assert arcs("application/rdf+xml", rdf) == {f'<urn:a> <rdf:value> "{word}"'}


def test_old_rdf_xml_may_abbreviate_namespaces_by_entities():
    rdf = '<!DOCTYPE r [<!ENTITY x "http://example.org/">]><rdf:RDF xmlns:rdf="&r;"><rdf:Description rdf:about="&x;a" '
    rdf = (rdf + 'rdf:value="v"/></rdf:RDF>').replace("&r;", "http://www.w3.org/1999/02/22-rdf-syntax-ns#")
    assert arcs("application/rdf+xml", rdf) == {'<http://example.org/a> <rdf:value> "v"'}


def test_each_row_of_a_table_is_an_event():
    first, second = lifted("text/csv", 'name,price\r\n"Tea, ""green""",3\r\n\r\nChai,\r\n')
    assert (first.id, second.id) == ("e#1", "e#2")
    assert {t.object.value for t in first.graph.triples} == {'Tea, "green"', "3"}
    assert {t.object.value for t in second.graph.triples} == {"Chai"}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("", "the table is empty"),
        ("a,a\n", "line 1: two columns are called 'a'"),
        ("a,\n1,2", "line 1: column 2 has no name"),
        ("a\n1,2\n", "line 2: 2 cells in a table of 1 columns"),
        ('a\n"x', "not well-formed CSV: line 2"),
        (b"a\n\xff", "not UTF-8: byte 0xff at offset 2"),
    ],
)
def test_what_is_wrong_with_a_table_is_named(data, reason):
    with pytest.raises(EventError, match=reason):
        lifted("text/csv", data)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("price\n1\n", "there is no column 'sku'"),
        ("sku,price,since,seller\n1,cheap,,\n", "line 2, price: 'cheap' is no value of"),
        ("sku,price,since,seller\n1,1,2026-02-30,\n", "line 2, since"),
        ("sku,price,since,seller\n1,1,,no iri\n", "line 2, seller"),
        ("sku,price,since,seller\n1,1,,\n2,2,,\n1,3,,\n", "line 4: row 1 has the key '1' already"),
        ("sku,price,since,seller\n,1,,\n", "line 2: the cell of 'sku', which identifies a row, is empty"),
    ],
)
def test_what_does_not_fit_its_schema_is_named(data, reason):
    with pytest.raises(EventError, match=reason):
        lifted("text/csv", data, EXAMPLE, **OFFER)

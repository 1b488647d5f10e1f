"""Loading ontologies from files."""

import pytest

from triplewire.concepts.difference import diff
from triplewire.concepts.load import load_model, model_of, model_of_documents, read_ontology
from triplewire.concepts.metastatements import MetaStatement
from triplewire.errors import OntologyError
from triplewire.rdf.terms import Vocabulary

EX = Vocabulary("http://example.org/")
SUBCLASS = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"


def test_several_files_make_one_model(tmp_path):
    (tmp_path / "a.ttl").write_text(f"<{EX.A.value}> {SUBCLASS} <{EX.B.value}> .")
    (tmp_path / "b.nt").write_text(f"<{EX.B.value}> {SUBCLASS} <{EX.C.value}> .")
    model = load_model([tmp_path / "a.ttl", tmp_path / "b.nt"])
    assert model.superclasses(EX.A) == {EX.A, EX.B, EX.C}


def test_blank_nodes_of_different_files_are_different(tmp_path):
    (tmp_path / "a.ttl").write_text(f"<{EX.A.value}> {SUBCLASS} _:x .")
    (tmp_path / "b.ttl").write_text(f"_:x {SUBCLASS} <{EX.C.value}> .")
    assert load_model([tmp_path / "a.ttl", tmp_path / "b.ttl"]).superclasses(EX.A) == {EX.A}


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.ttl", "<a", "a.ttl: not well-formed text/turtle"),
        ("a.doc", "", "the suffix should be one of .ttl"),
        ("missing.ttl", None, "missing.ttl: No such file"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_the_reason(tmp_path, name, text, reason):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(OntologyError, match=reason):
        load_model([tmp_path / name])


def model(turtle, **options):
    prefixes = """@prefix ex: <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        @prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix tw: <urn:triplewire:> .
        @prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix schema: <https://schema.org/> .
        @prefix xsd: <http://www.w3.org/2001/XMLSchema#> ."""
    return model_of(read_ontology(prefixes + turtle, "text/turtle", "test"), **options)


def test_a_document_that_cannot_be_read_is_an_error_unless_there_is_someone_to_tell():
    good = {"name": "good.ttl", "media_type": "text/turtle", "text": f"<{EX.A.value}> {SUBCLASS} <{EX.B.value}> ."}
    bad = good | {"name": "bad.ttl", "text": "nonsense"}
    with pytest.raises(OntologyError, match=r"bad\.ttl"):
        model_of_documents([good, bad])
    refused = []
    assert model_of_documents([bad, good], refused.append).superclasses(EX.A) == {EX.A, EX.B}
    assert ["bad.ttl" in str(error) for error in refused] == [True]


def test_a_union_is_above_its_members_and_below_what_is_above_them_all():
    loaded = model(
        """ex:Media owl:equivalentClass [ owl:unionOf (ex:Book ex:Film) ] . ex:Book rdfs:subClassOf ex:Work .
        ex:Film rdfs:subClassOf ex:Work . ex:Mine rdfs:subClassOf [ owl:unionOf (ex:Book ex:Film) ] ."""
    )
    assert loaded.superclasses(EX.Book) == {EX.Book, EX.Media, EX.Work}
    assert loaded.superclasses(EX.Media) == {EX.Media, EX.Work}
    assert loaded.superclasses(EX.Mine) == {EX.Mine, EX.Media, EX.Work}


def test_an_intersection_is_below_its_members_and_above_what_is_below_them_all():
    loaded = model(
        """ex:EBook owl:intersectionOf (ex:Book ex:Digital) .
        ex:PDF rdfs:subClassOf ex:Book, ex:Digital . ex:MP3 rdfs:subClassOf ex:Digital ."""
    )
    assert loaded.superclasses(EX.EBook) == {EX.EBook, EX.Book, EX.Digital}
    assert loaded.superclasses(EX.PDF) == {EX.PDF, EX.EBook, EX.Book, EX.Digital}
    assert EX.EBook not in loaded.superclasses(EX.MP3)


def test_a_cycle_is_an_error_that_names_its_members_in_strict_mode_and_a_warning_otherwise():
    pairs = [("A", "B"), ("B", "C"), ("C", "A"), ("D", "A")]
    cycle = " ".join(f"ex:{lower} rdfs:subClassOf ex:{upper} ." for lower, upper in pairs)
    members = "classes are on a cycle: <http://example.org/A>, <http://example.org/B>, <http://example.org/C>"
    with pytest.raises(OntologyError, match=members):
        model(cycle, strict=True)
    assert members in model(cycle).report.warnings[0]
    with pytest.raises(OntologyError, match="properties are on a cycle"):
        model("ex:p rdfs:subPropertyOf ex:q . ex:q rdfs:subPropertyOf ex:p .", strict=True)


def test_what_is_declared_equivalent_is_no_cycle():
    loaded = model("ex:A owl:equivalentClass ex:B . ex:p owl:equivalentProperty ex:q .", strict=True)
    assert loaded.report.warnings == ()
    assert loaded.is_subclass(EX.A, EX.B)
    assert loaded.is_subclass(EX.B, EX.A)


def test_meta_statements_come_from_domains_includes_restrictions_and_by_hand():
    loaded = model(
        """ex:target rdfs:domain ex:Selling, ex:Lending; rdfs:range ex:Product .
        ex:name a owl:DatatypeProperty; rdfs:domain ex:Person . ex:owner rdfs:range ex:Person .
        ex:about schema:domainIncludes ex:Book, ex:Film; schema:rangeIncludes ex:Topic .
        ex:part rdfs:domain [ owl:unionOf (ex:Car ex:Bike) ]; rdfs:range ex:Part .
        ex:Dog rdfs:subClassOf [ a owl:Restriction; owl:onProperty ex:eats; owl:someValuesFrom ex:Meat ] .
        ex:Cow rdfs:subClassOf [ a owl:Restriction; owl:onProperty ex:eats; owl:allValuesFrom ex:Grass ] .
        [] tw:subjectClass ex:Offer; tw:property ex:price; tw:objectClass xsd:decimal ."""
    )
    found = {tuple(term.value.rpartition("/")[2].rpartition("#")[2] for term in s) for s in loaded.meta_statements}
    assert found == {
        ("Selling", "target", "Product"),
        ("Lending", "target", "Product"),
        ("Person", "name", "Literal"),
        ("Resource", "owner", "Person"),
        ("Book", "about", "Topic"),
        ("Film", "about", "Topic"),
        ("Car", "part", "Part"),
        ("Bike", "part", "Part"),
        ("Dog", "eats", "Meat"),
        ("Cow", "eats", "Grass"),
        ("Offer", "price", "decimal"),
    }


def test_a_meta_statement_is_below_another_if_each_of_its_parts_is():
    loaded = model(
        """ex:Selling rdfs:subClassOf ex:Event . ex:sells rdfs:subPropertyOf ex:involves .
        ex:PC rdfs:subClassOf ex:Product ."""
    )
    below = MetaStatement(EX.Selling, EX.sells, EX.PC)
    assert loaded.is_below(below, MetaStatement(EX.Event, EX.involves, EX.Product))
    assert loaded.is_below(below, below)
    assert not loaded.is_below(MetaStatement(EX.Event, EX.sells, EX.PC), below)


@pytest.mark.parametrize("namespace", ["2001/03/daml+oil", "2000/12/daml+oil", "2000/11/daml-ont"])
def test_daml_is_read_as_the_owl_it_became(namespace):
    text = f"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://www.daml.org/{namespace}#"
        xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xml:base="http://example.org/">
      <Class rdf:about="/Man"><rdfs:subClassOf rdf:resource="/Person"/></Class>
      <Class rdf:about="/Human"><sameClassAs rdf:resource="/Person"/></Class>
      <Class rdf:about="/Person">
        <disjointUnionOf rdf:parseType="daml:collection">
          <Class rdf:about="/Man"/><Class rdf:about="/Woman"/>
        </disjointUnionOf>
        <rdfs:subClassOf>
          <Restriction><onProperty rdf:resource="/parent"/><toClass rdf:resource="/Person"/></Restriction>
        </rdfs:subClassOf>
      </Class>
      <ObjectProperty rdf:about="/child"><inverseOf rdf:resource="/parent"/></ObjectProperty>
      <DatatypeProperty rdf:about="/age"><range rdf:resource="http://www.w3.org/2001/XMLSchema#byte"/></DatatypeProperty>
    </rdf:RDF>"""
    loaded = model_of(read_ontology(text.encode(), "application/rdf+xml", "old.daml"))
    assert loaded.superclasses(EX.Woman) == {EX.Woman, EX.Person, EX.Human}
    assert loaded.superclasses(EX.Man) == {EX.Man, EX.Person, EX.Human}
    assert MetaStatement(EX.Person, EX.parent, EX.Person) in loaded.meta_statements
    assert (EX.parent, True) in loaded.entailed(EX.child)


def test_xml_in_another_encoding_is_read():
    text = """<?xml version='1.0' encoding='ISO-8859-1'?>
    <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
    <rdfs:Class rdf:about="http://example.org/A"><rdfs:label>Gerät</rdfs:label></rdfs:Class></rdf:RDF>"""
    loaded = model_of(read_ontology(text.encode("latin-1"), "application/rdf+xml", "old.rdf"))
    assert loaded.label(EX.A) == "Gerät"


def test_nothing_is_dropped_silently():
    report = model(
        """<http://example.org/o> a owl:Ontology; owl:imports <http://example.org/other> .
        ex:A a owl:Class; rdfs:comment "x"; owl:disjointWith ex:B; ex:note 1 . ex:B rdfs:subClassOf ex:A ."""
    ).report
    assert report.triples == sum(report.used.values()) + sum(report.unused.values()) == 7
    assert report.unused == {
        "http://www.w3.org/2000/01/rdf-schema#comment": 1,
        "http://www.w3.org/2002/07/owl#disjointWith": 1,
        "http://example.org/note": 1,
    }
    assert report.imports == ("http://example.org/other",)


def test_the_hash_depends_on_what_is_said_and_not_on_the_order_or_the_files():
    one = model("ex:A rdfs:subClassOf ex:B . ex:B rdfs:label 'b' .")
    other = model("ex:B rdfs:label 'b' . ex:A rdfs:subClassOf ex:B .")
    assert one.content_hash == other.content_hash
    assert one.content_hash != model("ex:A rdfs:subClassOf ex:C . ex:B rdfs:label 'b' .").content_hash
    assert one.content_hash != model("ex:A rdfs:subClassOf ex:B . ex:B rdfs:label 'b' .", typing="rdfs").content_hash


def test_the_difference_of_two_versions_is_told_in_subsumptions():
    old = model("ex:A rdfs:subClassOf ex:B . ex:B rdfs:subClassOf ex:C . ex:p rdfs:subPropertyOf ex:q .")
    new = model("ex:A rdfs:subClassOf ex:B . ex:p rdfs:subPropertyOf ex:q, ex:r . ex:D a owl:Class .")
    found = diff(old, new)
    assert found.classes_gone == ((EX.A, EX.C), (EX.B, EX.C))
    assert found.classes_appeared == ()
    assert found.properties_appeared == ((EX.p, EX.r),)
    assert found.properties_gone == ()
    assert found
    assert not diff(old, old)


def test_labels_and_the_nearest_term_to_a_misspelt_word():
    loaded = model(
        """ex:Computer a owl:Class; rdfs:label "Rechner"@de, "computer"@en . ex:Notebook rdfs:subClassOf ex:Computer .
        ex:telephoneNumber rdfs:domain ex:Person ."""
    )
    assert loaded.label(EX.Computer) == "computer"
    assert loaded.label(EX.Notebook) == "Notebook"
    assert loaded.nearest("compuetr") == EX.Computer
    assert loaded.nearest("Notebok") == EX.Notebook
    assert loaded.nearest("telefoneNumber") == EX.telephoneNumber
    assert loaded.nearest("zebra") is None


def test_a_document_may_be_called_whatever_a_file_may() -> None:
    for name, base in (("my <new> é.ttl", "file:///my%20%3Cnew%3E%20é.ttl"), ("a%20b.ttl", "file:///a%20b.ttl")):
        [triple] = read_ontology("<#x> a <http://e/C> .", "text/turtle", name)
        assert triple.subject.value == f"{base}#x"

"""Loading ontologies from files."""

import pytest

from triplewire.concepts.load import load_model
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

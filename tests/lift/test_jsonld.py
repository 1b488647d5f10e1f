"""JSON-LD: contexts from the registry alone, and no value lost without a word."""

import dataclasses
import json

import pytest

from tests.lift.documents import DATA, EXAMPLE, arcs, lifted
from triplewire.errors import EventError, UsageError
from triplewire.lift.lifting import DEFAULT, load_lifting, short_address

EX = {"@context": {"name": "http://example.org/name", "part": "http://example.org/part"}}
LIFTING = dataclasses.replace(DEFAULT, contexts={"example.org/c": EX})
HERE = {"@id": "urn:a", "name": "x"}


@pytest.mark.parametrize(
    "context",
    [
        "http://example.org/c",
        "https://example.org/c/",
        "https://example.org/c#",
        ["http://example.org/c"],
        [{}, "http://example.org/c", {"other": "http://example.org/o"}],
        {"@version": 1.1, "@import": "http://example.org/c"},
    ],
)
def test_a_context_is_taken_from_the_registry(context):
    found = arcs("application/ld+json", {"@context": context, **HERE}, LIFTING)
    assert found == {'<urn:a> <http://example.org/name> "x"'}


def test_contexts_are_taken_from_the_registry_wherever_they_stand():
    inner = {"@context": "http://example.org/c", **HERE}
    assert arcs("application/ld+json", {"@id": "urn:b", "http://example.org/p": [inner]}, LIFTING) == {
        "<urn:b> <http://example.org/p> <urn:a>",
        '<urn:a> <http://example.org/name> "x"',
    }
    scoped = {"p": {"@id": "http://example.org/p", "@context": "http://example.org/c"}, "@version": 1.1}
    assert '"x"' in str(arcs("application/ld+json", {"@context": scoped, "p": HERE}, LIFTING))


def test_an_unknown_context_is_named_with_what_to_do():
    with pytest.raises(EventError, match=r"https://example.com/a/b .*contexts/example\.com%2Fa%2Fb\.jsonld"):
        lifted("application/ld+json", {"@context": "https://example.com/a/b", "x": 1})


def test_a_context_that_includes_itself_is_refused():
    lifting = dataclasses.replace(DEFAULT, contexts={"a": {"@context": ["b"]}, "b": {"@context": ["http://a"]}})
    with pytest.raises(EventError, match="includes itself"):
        lifted("application/ld+json", {"@context": "http://a", "x": 1}, lifting)


TERMS = {
    "@vocab": "http://example.org/",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "ref": {"@type": "@id"},
    "label": {"@container": "@language"},
    "text": {"@type": "xsd:string"},
    "day": {"@type": "xsd:date"},
    "id": "@id",
}


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        ({"ref": 7}, "/ref: should be an IRI or an object, not a number"),
        ({"ref": ["urn:a", True]}, "/ref/1: should be an IRI or an object, not a boolean"),
        ({"ref": "a/b"}, "/ref: 'a/b' is a relative reference"),
        ({"id": "a/b"}, "/id: 'a/b' is a relative reference"),
        ({"id": 7}, "/id: an id should be a text, not a number"),
        ({"@type": [7]}, "/@type: a type should be a text"),
        ({"label": "x"}, "/label: should be a map from languages to texts, not a text"),
        ({"label": {"en": 7}}, "/label/en: should be a text, not a number"),
        ({"label": {"not a tag": "x"}}, "'not a tag' is no language tag"),
        ({"text": 7}, "/text: should be a text, not a number"),
        ({"day": {"a": 1}}, "/day: should be a value of xsd:date, not an object"),
        ({"inner": {"ref": {"ref": 7}}}, "/inner/ref/ref: should be an IRI"),
        ({"inner": {"@context": 7}}, "an @context should be an address"),
    ],
)
def test_a_value_that_its_term_rules_out_is_refused_with_its_place(member, reason):
    with pytest.raises(EventError) as refused:
        lifted("application/ld+json", {"@context": TERMS, **member})
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    "member",
    [
        {"ref": ["urn:a", {"id": "urn:b"}, None]},
        {"ref": {"@list": ["urn:a"]}},
        {"label": {"en": ["a", "b"], "zh-Hans": "c", "x-mine": None, "@none": "d"}},
        {"text": {"@value": "a"}, "day": ["2026-01-31", {"@value": "2026-02-01"}]},
        {"@graph": [{"id": "urn:a", "text": "x"}]},
        {"@context": [TERMS, {"@base": "http://example.org/"}], "ref": "a/b"},
    ],
)
def test_a_value_that_its_term_allows_is_read(member):
    assert lifted("application/ld+json", {"@context": TERMS, **member})


def test_settings_come_from_a_folder(tmp_path):
    assert load_lifting(tmp_path / "nowhere") == load_lifting(None) == DEFAULT
    (tmp_path / "contexts").mkdir()
    (tmp_path / "contexts" / "example.org%2Fc.jsonld").write_text(json.dumps(EX))
    (tmp_path / "settings.json").write_text('{"size_limit": 5}')
    found = load_lifting(tmp_path)
    assert (found.contexts, found.size_limit) == ({"example.org/c": EX}, 5)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("settings.json", '{"size": 5}', "'size': 5 is no limit"),
        ("settings.json", '{"size_limit": "big"}', "is no limit"),
        ("settings.json", "{", "not JSON"),
        ("contexts/a.jsonld", "[]", "should hold a JSON object"),
        ("mappings/a.json", "{}", "'for' should name"),
        ("mappings/a.json", '{"for": "t", "propertys": {}}', "a mapping has no 'propertys'"),
        ("mappings/a.json", '{"for": "t", "class": "no iri"}', "a.json: "),
        ("mappings/a.json", '{"for": ["t", "t"]}', "already"),
        ("mappings/a.json", '{"for": "t", "@context": {}, "id": "x"}', "not both"),
    ],
)
def test_what_is_wrong_with_the_settings_is_named(tmp_path, name, text, reason):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    with pytest.raises(UsageError, match=reason):
        load_lifting(tmp_path)


ACTIVITIES = DATA / "activitystreams"
CONTRADICTORY = {"simple0011.json", "simple0012.json"}
"""These have a map of languages as their name, which ``fail/namemap-as-name.json`` says must be refused."""


@pytest.mark.skipif(not ACTIVITIES.is_dir(), reason="the data folder with ActivityStreams documents is not here")
def test_real_activities_load_and_those_that_must_be_refused_are():
    for path in ACTIVITIES.glob("*.json"):
        if path.name not in CONTRADICTORY:
            lifted("application/ld+json", path.read_bytes(), EXAMPLE)
    failing = list((ACTIVITIES / "fail").glob("*.json"))
    assert len(failing) == 20
    for path in failing:
        with pytest.raises(EventError):
            lifted("application/ld+json", path.read_bytes(), EXAMPLE)


@pytest.mark.skipif(not (DATA / "schemaorg").is_dir(), reason="the data folder with schema.org is not here")
def test_schema_orgs_own_context_can_be_registered():
    [path] = (DATA / "schemaorg").rglob("*context*.jsonld")
    lifting = dataclasses.replace(
        DEFAULT, contexts={short_address("https://schema.org/"): json.loads(path.read_text())}
    )
    found = arcs("application/ld+json", {"@context": "https://schema.org", "@type": "Offer", "price": "3"}, lifting)
    assert any("schema.org/price" in arc for arc in found)

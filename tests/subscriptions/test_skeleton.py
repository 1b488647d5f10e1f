"""Texts that share a parse tree are read as if each had been parsed by itself."""

from random import Random

import pytest

from tests.subscriptions.test_bad_texts import MODEL, _texts
from triplewire.errors import SubscriptionError
from triplewire.subscriptions import skeleton
from triplewire.subscriptions.filter import parse_filter
from triplewire.subscriptions.ops import parse_ops

PREFIXES = {"ex": "http://example.org/", "": "http://example.org/"}
WORDS = [
    "7",
    "0.5",
    ".5",
    "12.",
    "1e3",
    "-3",
    '"a"',
    '"long text"',
    "'b'",
    '"\\n"',
    '"\\q"',
    "?1",
    ":7",
    "ex:0",
    "?a-b",
    "?a.b",
]
WORDS += [
    "ex:a",
    "ex:a.b",
    "ex:a.",
    "ex:a-b",
    "ex:a%20b",
    "no:a",
    "and:a",
    "in-a:b",
    "true:a",
    "ex:",
    ":",
    "_:H",
    "_:b",
]
WORDS += [
    "<http://example.org/a>",
    "<a>",
    "<b> ex:c",
    "ex:and",
    "?and",
    "not",
    "é:a",
    "ex:é",
    "@en",
    "ex:a:b",
    "# ex:a\n",
]


def read(language, text):
    """The pattern, or the error with its place."""
    try:
        return parse_ops(text, PREFIXES) if language == "ops" else parse_filter(text, PREFIXES, MODEL)
    except SubscriptionError as error:
        return error.as_dict()


@pytest.mark.parametrize("language", ["ops", "filter"])
def test_a_shared_tree_says_what_the_text_says(language, monkeypatch):
    rng = Random(language)
    texts = [text for text, _ in zip(_texts(language, rng), range(300), strict=False)]
    texts += [
        text.replace(old, rng.choice(WORDS))
        for text in texts
        for old in ("400", "3", '"', "ex:p", "ex:A", "?1", "?2", "price", "<", ")")
        if old in text
    ]
    shared = [read(language, text) for text in texts]
    monkeypatch.setattr(skeleton, "LONGEST_SHARED", -1)
    for text, found in zip(texts, shared, strict=True):
        assert read(language, text) == found, text


def test_texts_that_differ_in_names_and_constants_are_parsed_once():
    skeleton._tree.cache_clear()
    for n in range(20):
        parse_filter(f"ex:price{n} < {n} and ex:brand = '{n}'", PREFIXES, MODEL)
        parse_ops(f'(_:H, ?v{n}, (ex:A{n}, <http://p/{n}>, ex:B), ?v{n} > {n}.5 or ?v{n} = "{n}")', PREFIXES)
    assert skeleton._tree.cache_info().misses == 2

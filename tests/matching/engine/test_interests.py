"""Interests of many subscriptions, scored together: what the formula says of each one alone."""

from dataclasses import replace
from math import fsum
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from triplewire import parse_event
from triplewire.concepts.measures import MEASURES
from triplewire.concepts.model import ConceptModel
from triplewire.concepts.profile import event_profile
from triplewire.concepts.proposed import proposed, word_for
from triplewire.matching import make_matcher
from triplewire.matching.engine.index import Index
from triplewire.matching.engine.interests import Interests
from triplewire.matching.engine.kernels.interests import exact_sums, near_enough
from triplewire.matching.engine.postings import Postings
from triplewire.matching.engine.scorer import Scorer
from triplewire.subscriptions.pattern import HOME, Alternative, Arc, Interest, Pattern, Subscription
from triplewire.testing import cloud_event

CONCEPTS = [NamedNode(f"http://example.org/{i}") for i in range(12)]
LABELS = ["Rose", "Red rose", "Garden", "Red", "Rose garden"]
NEW = [proposed(word) for word in ("Red roses", "Rose garden party", "Tulip", "Garden gnome")]
WORDS = ["a", "red", "rose", "garden", "party", "tulip", "gnome"]
ABOUT = NamedNode("urn:about")
UNKNOWN = NamedNode("http://example.org/unknown")


def world(seed, measure="path"):
    """A model with several parents and, now and then, a cycle; interests, some with a new concept; and a profile."""
    rng = Random(seed)
    broader = {c: frozenset(rng.sample(CONCEPTS, rng.randint(0, 2))) - {c} for c in CONCEPTS}
    labels = {c: (Literal(rng.choice(LABELS)),) for c in rng.sample(CONCEPTS, 4)}
    frequencies = {c: rng.randrange(20) for c in CONCEPTS[:6]}
    model = ConceptModel(broader=broader, labels=labels, measure=measure, frequencies=frequencies)
    interests = []
    for _ in range(rng.randint(1, 12)):
        new = rng.sample(NEW, rng.choice([0, 0, 1, 2]))
        attached = tuple((concept, rng.choice(CONCEPTS)) for concept in new)
        concepts = rng.sample([*CONCEPTS, UNKNOWN], rng.randint(1, 5)) + [new for new, _ in attached]
        interests.append(Interest(tuple(concepts), rng.choice([0.0, 0.5, 0.7, 0.99, 1.0]), attached))
    about = [f"{ABOUT} {concept}" for concept in rng.sample([*CONCEPTS, UNKNOWN, NEW[0]], rng.randint(0, 4))]
    text = " ".join(rng.choice(WORDS) for _ in range(rng.choice([0, 0, 6])))
    return model, interests, parse_event(cloud_event(f'_:H <urn:text> "{text}" ; {" ; ".join(about)} .'))


def plainly(interest, event, model):
    """By the definition: as if the model had the new concepts, too; but the measure ``lin`` does not count them."""
    labels = {new: (Literal(word_for(new)),) for new, _ in interest.attached}
    broader = {new: frozenset({known}) for new, known in interest.attached}
    extended = replace(model, broader=model.broader | broader, labels=model.labels | labels)
    if model.measure == "lin":
        extended.__dict__["similarity"] = model.similarity.extended(interest.attached)
    return extended.similarity.profiles(interest.concepts, event_profile(event.graph, extended))


@pytest.mark.parametrize("measure", MEASURES)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_interests_scored_together_have_the_scores_that_the_formula_gives_to_the_last_bit(measure, seed):
    model, interests, event = world(seed, measure)
    together = Interests.of(enumerate(interests))
    best = Scorer(together, Postings.of(together), model).best(event_profile(event.graph, model), event.graph)
    every = np.arange(len(interests), dtype=np.int32)
    assert together.scores(every, best).tolist() == [plainly(interest, event, model) for interest in interests]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_those_found_are_those_above_their_threshold(seed):
    model, interests, event = world(seed)
    profile = event_profile(event.graph, model)
    together = Interests.of(enumerate(interests))
    found, scores = Scorer(together, Postings.of(together), model).match(profile, event.graph)
    plain = {i: plainly(interest, event, model) for i, interest in enumerate(interests)}
    above = {i: score for i, score in plain.items() if score > interests[i].threshold}
    assert dict(zip(found.tolist(), scores.tolist(), strict=True)) == above


@given(st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_the_kernel_and_its_python_find_what_looking_at_every_interest_finds(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 11, 20)
    concepts = [rng.choice(10, size, replace=False) for size in sizes]
    best, thresholds = rng.random(10), rng.uniform(-0.1, 1, 20)
    rows = [(i, Interest(tuple(CONCEPTS[c] for c in concepts[i]), thresholds[i])) for i in range(20)]
    together = Interests.of(rows)
    best = best[: len(together.concepts)]
    means = np.add.reduceat(best[together.members], together.offsets[:-1]) / sizes
    postings = Postings.of(together)
    found = np.empty(len(together.members), np.int32)
    tables = (*vars(postings).values(), together.offsets, together.members)
    interpreted = found[: near_enough.py_func(best.astype(np.float32), *tables, found)]
    compiled = sorted(postings.candidates(best, together).tolist())
    assert sorted(interpreted.tolist()) == compiled
    assert set(np.flatnonzero(means > thresholds)) <= set(compiled) <= set(np.flatnonzero(means > thresholds - 1e-5))


@given(st.lists(st.lists(st.floats(-1e30, 1e30) | st.sampled_from([1e16, 1.0, -1e16, 1e-16, 0.1]), max_size=8)))
def test_sums_are_rounded_once_compiled_or_not(rows):
    terms, ends = (
        np.array([term for row in rows for term in row]),
        np.cumsum([len(row) for row in rows], dtype=np.int64),
    )
    for kernel in (exact_sums, exact_sums.py_func):
        sums = np.empty(len(rows))
        kernel(terms, ends, np.empty(8), sums)
        assert sums.tolist() == [fsum(row) for row in rows]


def alternatives(rng, interests):
    """Subscriptions of one or several interests; some may match by an arc as well."""
    for number, interest in enumerate(interests):
        chosen = [Alternative(Pattern(interests=(one,))) for one in rng.sample(interests, rng.choice([0, 0, 1]))]
        arc = Alternative(Pattern(arcs=(Arc(HOME, ABOUT, rng.choice(CONCEPTS)),)))
        own = Alternative(Pattern(interests=(interest,)))
        yield Subscription(str(number), (own, *chosen, *([arc] if rng.random() < 0.3 else [])))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_the_engine_tells_the_matches_and_scores_of_brute_force(seed):
    model, interests, event = world(seed)
    matchers = [make_matcher(name, model) for name in ("engine", "brute")]
    subscriptions = list(alternatives(Random(seed), interests))
    for matcher in matchers:
        for subscription in subscriptions:
            matcher.add(subscription)
    matchers[0].merge()
    for matcher in matchers:
        matcher.remove("0")
    for bindings in (False, True):
        engine, brute = ([match.as_line() for match in matcher.match(event, bindings)] for matcher in matchers)
        assert engine == brute


def test_an_index_opened_from_a_folder_has_its_postings_mapped_and_matches_alike(tmp_path):
    model, interests, event = world(7)
    index = Index.build(alternatives(Random(7), interests), model)
    index.save(tmp_path)
    index.close()
    opened = Index.open(tmp_path)
    assert opened.match(event) == index.match(event) != []
    (segment,) = opened._now().segments
    for name, array in vars(segment.tables.postings).items():
        assert isinstance(array.base, np.ndarray), name
        assert not array.flags.writeable, name
        assert np.array_equal(array, getattr(Postings.of(segment.layout.interests), name)), name

"""Who is offered what: friends, with consent, what they nearly wanted; against the definition, said plainly."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from triplewire import parse_event
from triplewire.concepts.load import read_ontology
from triplewire.concepts.model import ConceptModel
from triplewire.concepts.profile import event_profile
from triplewire.matching import make_matcher
from triplewire.matching.suggestions import Suggestion, audience, suggestions
from triplewire.subscriptions.pattern import HOME, Alternative, Arc, Interest, Pattern, Subscription
from triplewire.subscriptions.profiles import Person, holders, people
from triplewire.testing import cloud_event

CONCEPTS = [NamedNode(f"http://example.org/{i}") for i in range(9)]
BROADER = {CONCEPTS[i]: frozenset({CONCEPTS[(i - 1) // 2]}) for i in range(1, 9)}
MODEL = ConceptModel(broader=BROADER)
NAMES = ["ann", "bob", "cyd", "dan", "eve"]
ABOUT = NamedNode("urn:about")


def society(rng):
    """People, some of whom have no profile; and interests, some of them in one exact thing."""
    everybody = [
        Person(name, frozenset(rng.sample(NAMES, rng.randint(0, 4))), rng.random() < 0.6, rng.random() < 0.2)
        for name in rng.sample(NAMES, rng.randint(2, 5))
    ]
    owned = {}
    for number in range(rng.randint(3, 10)):
        pattern = Pattern(interests=(Interest(tuple(rng.sample(CONCEPTS, 2)), rng.choice([0.05, 0.5, 0.6, 0.7, 0.8])),))
        if rng.random() < 0.2:
            pattern = Pattern(arcs=(Arc(HOME, ABOUT, rng.choice(CONCEPTS)),), interests=pattern.interests[:1])
        owned[Subscription(f"s{number}", (Alternative(pattern),))] = rng.choice(NAMES)
    event = parse_event(cloud_event(f"_:H {ABOUT} {rng.choice(CONCEPTS)} ."))
    return everybody, owned, event, rng.choice([0.0, 0.1, 0.25])


def plainly(everybody, owned, event, margin):
    """The definition: for each person, whether and what they are offered."""
    profile = event_profile(event.graph, MODEL)
    [about] = [t.object for t in event.graph.triples]

    def score(subscription):
        [alternative] = subscription.alternatives
        exact = all(arc.object == about for arc in alternative.pattern.arcs)
        return MODEL.similarity.profiles(alternative.pattern.interests[0].concepts, profile) if exact else -1

    def threshold(subscription):
        return subscription.alternatives[0].pattern.interests[0].threshold

    told = {owner for subscription, owner in owned.items() if score(subscription) > threshold(subscription)}
    for name in NAMES:
        own = [subscription for subscription, owner in owned.items() if owner == name]
        near = [one for one in own if max(0, threshold(one) - margin) < score(one) <= threshold(one)]
        if (
            near
            and name not in told
            and not any(person.id == name and person.declines for person in everybody)
            and any(person.shares and person.id in told and name in person.knows for person in everybody)
        ):
            best = min(near, key=lambda one: (-score(one), one.id))
            yield Suggestion(event.id, name, best.id, score(best))


@settings(max_examples=120, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_friends_are_offered_what_the_definition_says(seed):
    everybody, owned, event, margin = society(Random(seed))
    matcher = make_matcher("brute", MODEL)
    for subscription in owned:
        matcher.add(subscription)
    owners = {subscription.id: owner for subscription, owner in owned.items()}
    told = {owners[match.subscription] for match in matcher.match(event)}
    theirs = {name: [one for one, owner in owned.items() if owner == name] for name in NAMES}
    found = list(suggestions(event, audience(told, everybody), theirs, MODEL, margin))
    assert found == list(plainly(everybody, owned, event, margin))


def test_the_draws_have_offers_in_them():
    drawn = [society(Random(seed)) for seed in range(100)]
    assert sum(bool(list(plainly(*one))) for one in drawn) > 5


def test_nobody_is_offered_what_has_nothing_in_common_with_them():
    music = Subscription("s", (Alternative(Pattern(interests=(Interest((CONCEPTS[3],), 0.05),))),))
    event = parse_event(cloud_event(f"_:H {ABOUT} <urn:unheard-of> ."))
    assert list(suggestions(event, ["ann"], {"ann": [music]}, MODEL)) == []


def test_profiles_tell_who_knows_whom_and_who_consents():
    text = """@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
    @prefix tw: <urn:triplewire:> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
    <urn:ann> tw:hasInterest <urn:i> ; foaf:knows <urn:bob>, [], <urn:cyd> ; tw:sharesWithFriends true .
    <urn:bob> foaf:knows <urn:ann> ; tw:sharesWithFriends false ; tw:declinesSuggestions "1"^^xsd:boolean .
    <urn:cyd> a tw:Publisher ."""
    triples = read_ontology(text, "text/turtle", "profiles.ttl")
    assert list(people(triples)) == [
        Person("urn:ann", frozenset({"urn:bob", "urn:cyd"}), shares=True),
        Person("urn:bob", frozenset({"urn:ann"}), declines=True),
        Person("urn:cyd"),
    ]
    assert holders(triples) == {"urn:i": "urn:ann"}

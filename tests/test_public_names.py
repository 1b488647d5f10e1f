"""What users import is a promise: a name is added or taken away on purpose, here."""

import subprocess
import sys

import triplewire
import triplewire.testing


def test_the_public_names_are_these():
    assert sorted(triplewire.__all__) == [
        "ConceptModel",
        "Event",
        "EventError",
        "Explanation",
        "Lifting",
        "Match",
        "Matcher",
        "OntologyError",
        "StoreError",
        "Subscription",
        "SubscriptionError",
        "TriplewireError",
        "UsageError",
        "__version__",
        "explain",
        "load_lifting",
        "load_model",
        "lower",
        "make_matcher",
        "parse_event",
        "parse_events",
        "parse_subscription",
    ]


def test_every_public_name_can_be_imported():
    assert all(getattr(triplewire, name) is not None for name in triplewire.__all__)


def test_importing_the_package_imports_nothing_heavy():
    code = "import sys, triplewire; print([m for m in ('rdflib', 'pyspark', 'numba', 'fastapi') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_testing_helpers_are_these():
    public = [
        name
        for name in vars(triplewire.testing)
        if getattr(vars(triplewire.testing)[name], "__module__", "") == "triplewire.testing"
    ]
    assert sorted(public) == ["cloud_event", "trips"]

"""What each route takes and answers with, in the shapes of things."""

from __future__ import annotations

from triplewire.broker.http.shapes import (
    BATCH,
    DECISION,
    DIFFERENCE,
    EFFECT,
    EXPLAINED,
    JSON,
    MAILED,
    MOMENT,
    NUMBER,
    PATCHED,
    SCOPES,
    SECRET,
    SOME_SCOPES,
    STRUCTURED,
    TEXT,
    TRUTH,
    TWO_VERSIONS,
    Schema,
    named,
    one,
    optional,
    page,
    several,
)
from triplewire.broker.web import examples
from triplewire.rdf.syntax import FORMATS

_EXAMPLE_EVENT = {
    "specversion": "1.0",
    "id": "e1",
    "source": "urn:example",
    "type": "offer",
    "datacontenttype": "text/turtle",
    "data": examples.EVENTS["text/turtle"],
}
_EXAMPLE_SUBSCRIPTION = {
    "language": "ops",
    "pattern": "(_:H, ?1, (ex:Selling, ex:target, ex:Computer))",
    "prefixes": {"ex": "http://example.org/auction#"},
}
_RDF: dict[str, Schema] = {kind: {"schema": {}, "example": text} for kind, text in examples.EVENTS.items()}

BODIES: dict[tuple[str, str], dict[str, Schema]] = {
    ("post", "/v1/events"): {
        STRUCTURED: {"schema": named("CloudEvent"), "example": _EXAMPLE_EVENT},
        BATCH: {"schema": several(named("CloudEvent")), "example": [_EXAMPLE_EVENT]},
        **_RDF,
    },
    ("post", "/v1/subscriptions"): {JSON: {"schema": named("NewSubscription"), "example": _EXAMPLE_SUBSCRIPTION}},
    ("patch", "/v1/subscriptions/{subscription_id}"): {
        "application/merge-patch+json": {
            "schema": {"type": "object", "properties": PATCHED},
            "example": {"prefixes": {"ex": "http://example.org/"}},
        }
    },
    ("patch", "/v1/deliveries/{subscription_id}"): {
        JSON: {
            "schema": {
                "type": "object",
                "properties": {"paused": TRUTH, "position": {**NUMBER, "maximum": (1 << 63) - 1}},
                "minProperties": 1,
                "additionalProperties": False,
            },
            "example": {"paused": True},
        }
    },
    ("post", "/v1/ontologies"): _RDF,
    ("post", "/v1/ontologies/{version}/restore"): {JSON: {"schema": DECISION, "example": {"reason": "ok"}}},
    ("post", "/v1/profiles"): _RDF,
    **{
        ("post", f"/v1/concepts/proposals/{{number}}/{verb}"): {JSON: {"schema": DECISION, "example": {"reason": "ok"}}}
        for verb in ("accept", "reject")
    },
    ("post", "/v1/concepts/proposals/{number}/merge"): {
        JSON: {"schema": one({"into": TEXT}, **DECISION["properties"])}
    },
    ("post", "/v1/hub"): {
        "application/x-www-form-urlencoded": {
            "schema": one({"hub.mode": {"enum": ["subscribe", "unsubscribe"]}, "hub.topic": TEXT, "hub.callback": TEXT})
        }
    },
    ("post", "/v1/sources"): {
        JSON: {
            "schema": one({"url": TEXT}, owner=optional(TEXT)) | {"additionalProperties": False},
            "example": {"url": "https://example.org/news.atom"},
        }
    },
    ("patch", "/v1/sources/{number}"): {
        JSON: {"schema": one({"paused": TRUTH}) | {"additionalProperties": False}, "example": {"paused": True}}
    },
    ("patch", "/v1/dead-letters/{position}"): {
        JSON: {
            "schema": one({"state": {"enum": ["open", "dismissed"]}}) | {"additionalProperties": False},
            "example": {"state": "dismissed"},
        }
    },
    ("post", "/v1/synonyms"): {
        JSON: {"schema": one({"concept": TEXT, "word": TEXT}, language=TEXT, **DECISION["properties"])}
    },
    ("post", "/v1/users"): {JSON: {"schema": one({"name": TEXT}, scopes=SOME_SCOPES), "example": {"name": "ann"}}},
    ("patch", "/v1/users/{name}"): {JSON: {"schema": one({"scopes": SCOPES}) | {"additionalProperties": False}}},
    ("post", "/v1/session"): {
        JSON: {
            "schema": {"anyOf": [one({"name": SECRET, "password": SECRET}), one({"token": SECRET})]},
            "example": {"token": "tw_…"},
        }
    },
    ("post", "/v1/tokens"): {
        JSON: {
            "schema": one({}, name=TEXT, user=optional(TEXT), scopes=SOME_SCOPES, feed=TEXT, expires=optional(MOMENT)),
            "example": {"name": "my laptop"},
        }
    },
}
"""What routes take, by media type."""

ANSWERS: dict[tuple[str, str], Schema] = {
    ("get", "/healthz"): named("Health"),
    ("get", "/readyz"): named("Readiness"),
    ("get", "/v1/activity"): named("Activity"),
    ("post", "/v1/events"): {"anyOf": [named("Receipt"), several(named("Receipt"))]},
    ("post", "/v1/subscriptions"): named("Subscription"),
    ("get", "/v1/subscriptions"): page("Subscription"),
    **{(verb, "/v1/subscriptions/{subscription_id}"): named("Subscription") for verb in ("get", "patch")},
    ("delete", "/v1/subscriptions/{subscription_id}"): one({"id": TEXT, "until": NUMBER}),
    ("get", "/v1/notifications"): page("Notification"),
    ("get", "/v1/standings"): page("Standing"),
    ("get", "/v1/notifications/{number}/less"): named("Less"),
    ("get", "/v1/inbox"): page("Inbox"),
    ("get", "/v1/inbox/unread"): named("Unread"),
    ("post", "/v1/inbox/read"): named("Unread"),
    **{(verb, "/v1/inbox/{number}/read"): named("Unread") for verb in ("put", "delete")},
    ("get", "/v1/events"): page("Logged"),
    ("get", "/v1/notifications/{number}/explanation"): named("Explanation"),
    ("get", "/v1/explanations"): named("Explanation"),
    ("get", "/v1/dead-letters"): page("DeadLetter"),
    **{(verb, "/v1/dead-letters/{position}"): named("DeadLetter") for verb in ("get", "patch")},
    ("get", "/v1/deliveries"): page("Delivery"),
    ("get", "/v1/deliveries/{subscription_id}/omissions"): page("Omission"),
    ("post", "/v1/deliveries/{subscription_id}/redeliver"): named("Delivery"),
    **{(verb, "/v1/deliveries/{subscription_id}"): named("Delivery") for verb in ("get", "patch")},
    ("get", "/v1/endpoints"): page("Endpoint"),
    ("get", "/v1/ontologies"): page("Ontology"),
    ("post", "/v1/ontologies"): named("Ontology"),
    ("get", "/v1/ontologies/{version}"): named("Ontology"),
    ("get", "/v1/concepts"): page("Concept", misspelt=TRUTH, called=several(TEXT)),
    ("post", "/v1/ontologies/{version}/restore"): named("Ontology"),
    ("get", "/v1/ontologies/{version}/difference"): one(TWO_VERSIONS | DIFFERENCE),
    ("get", "/v1/ontologies/{version}/effect"): one(TWO_VERSIONS | EFFECT),
    **{("get", f"/v1/concepts/{place}"): page("Branch") for place in ("children", "way")},
    ("get", "/v1/concepts/details"): named("Term"),
    ("get", "/v1/concepts/proposals"): page("Proposal"),
    **{
        ("post", f"/v1/concepts/proposals/{{number}}/{verb}"): {"anyOf": [named("Proposal"), named("Changes")]}
        for verb in ("accept", "merge")
    },
    ("post", "/v1/concepts/proposals/{number}/reject"): named("Proposal"),
    ("get", "/v1/synonyms"): page("Synonyms"),
    ("post", "/v1/synonyms"): named("Synonyms"),
    ("delete", "/v1/synonyms"): {"anyOf": [named("Synonyms"), named("Changes")]},
    ("post", "/v1/profiles"): one({"people": several(named("Person")), "subscriptions": several(TEXT)}),
    ("get", "/v1/profiles/{person}"): named("Person"),
    ("get", "/v1/suggestions"): page("Suggestion"),
    ("post", "/v1/suggestions/{number}/decline"): one({"person": TEXT, "declines": TRUTH, "since": NUMBER}),
    ("get", "/v1/audit"): page("Change"),
    ("get", "/v1/sources"): page("Source"),
    ("post", "/v1/sources"): named("Source"),
    **{(verb, "/v1/sources/{number}"): named("Source") for verb in ("get", "patch")},
    ("post", "/v1/sources/{number}/read"): named("Source"),
    ("get", "/v1/users"): page("User"),
    ("post", "/v1/users"): named("User"),
    **{(verb, "/v1/users/{name}"): named("User") for verb in ("get", "patch")},
    **{(verb, "/v1/session"): named("Session") for verb in ("get", "post")},
    ("get", "/v1/tokens"): page("Token"),
    ("post", "/v1/tokens"): named("Token"),
    ("delete", "/v1/tokens/{number}"): named("Token"),
}
"""What routes answer with, as JSON."""

OTHERWISE: dict[tuple[str, str], tuple[str, ...]] = {
    ("get", "/metrics"): ("text/plain",),
    ("get", "/v1/feeds/atom/{subscription_id}"): ("application/atom+xml",),
    ("get", "/v1/feeds/json/{subscription_id}"): ("application/feed+json",),
    ("get", "/v1/notifications/stream"): ("text/event-stream",),
    ("get", "/v1/notifications/{number}/event"): tuple(FORMATS),
    ("get", "/v1/notifications/{number}/explanation"): EXPLAINED[1:],
    ("get", "/v1/explanations"): EXPLAINED[1:],
    ("get", "/v1/concepts/picture"): ("image/svg+xml",),
    **{(verb, f"/v1/mailboxes/{noun}"): ("text/html",) for verb in ("get", "post") for noun in MAILED},
}
"""What routes answer with under other media types."""

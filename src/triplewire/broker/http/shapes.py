"""What travels over HTTP, as JSON Schema: the bodies that routes take, and what they answer with."""

from __future__ import annotations

from typing import Any

from triplewire.broker.web import examples
from triplewire.lift.formats import LIFTERS
from triplewire.rdf.syntax import FORMATS
from triplewire.subscriptions.languages import LANGUAGES

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
SECRET: Schema = {"type": "string", "maxLength": 1000}
NUMBER: Schema = {"type": "integer", "minimum": 0}
SCORE: Schema = {"type": "number"}
TRUTH: Schema = {"type": "boolean"}
MOMENT: Schema = {"type": "string", "format": "date-time"}
ANYTHING: Schema = {"type": "object"}
JSON, STRUCTURED, BATCH = "application/json", "application/cloudevents+json", "application/cloudevents-batch+json"
EXPLAINED = (JSON, "image/svg+xml", "text/plain")


def optional(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def several(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def one(required: Schema, **others: Schema) -> Schema:
    """An object with these members at least."""
    return {"type": "object", "properties": required | others, "required": list(required)}


def named(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def page(name: str) -> Schema:
    """A page of a list."""
    return one({"items": several(named(name)), "next": optional(NUMBER)})


BINDINGS = several({"type": "object", "additionalProperties": TEXT})
SCORED = {"event": TEXT, "source": TEXT, "position": NUMBER, "score": SCORE, "says": TEXT}
SCOPES = several(TEXT)
SOME_SCOPES = optional(SCOPES)
MAILED = ("confirmation", "unsubscription")
DECISIONS = ("accept", "merge", "reject")
DELIVERY = one({"channel": TEXT})
RECORD: Schema = {
    "id": {"type": "string", "minLength": 1},
    "language": {"type": "string", "enum": list(LANGUAGES)},
    "pattern": {"type": ["string", "array", "object"]},
    "mapping": {"type": "string", "enum": ["injective", "homomorphic"]},
    "threshold": {"type": "number"},
    "prefixes": {"type": "object", "additionalProperties": TEXT},
    "state": {"type": "string", "enum": ["active", "paused"]},
    "expiresAt": MOMENT,
    "priority": {"type": "integer", "minimum": 0, "maximum": 9},
    "throttling": TEXT,
    "digest": TEXT,
    "duplicates": TEXT,
    "delivery": DELIVERY,
    "owner": TEXT,
}
PLACE = one({"line": NUMBER, "column": NUMBER, "excerpt": TEXT})
LOOKED_AT = one(
    {"id": TEXT, "home": optional(TEXT), "triples": NUMBER, "turtle": optional(TEXT), "svg": optional(TEXT)}
    | {
        "concepts": several(one({"concept": TEXT, "label": TEXT})),
        "proposes": several(one({"word": TEXT, "under": TEXT})),
    }
)
NOTIFIED: Schema = {"event": TEXT, "source": TEXT, "position": NUMBER, "created": TEXT, "cloudevent": ANYTHING}
CIRCUIT = optional(one({"failures": NUMBER}, openUntil=optional(TEXT)))
VERSION = {"version": NUMBER, "since": NUMBER, "author": TEXT, "reason": TEXT, "created": TEXT}
PROPOSED = {"id": NUMBER, "concept": TEXT, "word": TEXT, "under": TEXT, "proposer": TEXT, "origin": TEXT, "state": TEXT}
WORD = one({"word": TEXT}, language=TEXT, author=TEXT, created=TEXT, version=NUMBER)
SOME = one({"count": NUMBER, "items": several(ANYTHING)})
DIFFERENCE = one(
    {kind: one({"appeared": SOME, "gone": SOME}) for kind in ("classes", "properties", "concepts", "words")}
)
EFFECT = one(
    {
        "affected": NUMBER,
        "subscriptions": several(one({"id": TEXT, "owner": TEXT, "gained": NUMBER, "lost": NUMBER})),
        "compared": one({"subscriptions": NUMBER, "complete": TRUTH}),
        "tried": one({"events": NUMBER, "refused": NUMBER, "complete": TRUTH}),
    }
)
DECISION: Schema = {"type": "object", "properties": {"reason": TEXT}}
PATCHED = {name: {"anyOf": [schema, {"type": "null"}]} for name, schema in RECORD.items() if name != "id"}

SCHEMAS: dict[str, Schema] = {
    "Problem": one({"type": TEXT, "title": TEXT, "status": NUMBER, "detail": TEXT}, request=TEXT),
    "Receipt": one({"id": TEXT, "source": TEXT, "position": NUMBER}),
    "CloudEvent": one(
        {
            "specversion": {"type": "string", "const": "1.0"},
            **{name: {"type": "string", "minLength": 1} for name in ("id", "source", "type")},
        },
        datacontenttype={"type": "string", "enum": list(LIFTERS)},
        home=TEXT,
    ),
    "NewSubscription": one({"language": RECORD["language"], "pattern": RECORD["pattern"]}, **RECORD),
    "Subscription": one(
        {"id": TEXT, "language": TEXT, "owner": TEXT, "since": NUMBER, "state": TEXT},
        warnings=several(TEXT),
        lapses=one(
            {
                "count": NUMBER,
                "last": one({"position": NUMBER, **dict.fromkeys(("event", "reason", "created"), TEXT)}),
            }
        ),
    ),
    "Trial": one(
        {
            "dryRun": {"const": True},
            "means": TEXT,
            "picture": TEXT,
            "warnings": several(TEXT),
            **{name: several(TEXT) for name in ("equal_to", "covered_by", "covers")},
            "compared": one({"subscriptions": NUMBER, "complete": TRUTH}),
            "tried": one({"events": NUMBER, "refused": NUMBER, "complete": TRUTH}),
            "matched": NUMBER,
            "samples": several(one({**SCORED, "bindings": BINDINGS}, explanation=optional(TEXT))),
            "missed": optional(one(SCORED, explanation=optional(TEXT))),
            "concepts": optional(several(ANYTHING)),
            "scores": optional(several(one(SCORED))),
        }
    ),
    "Notification": one({"id": NUMBER, "subscription": TEXT, "sequence": NUMBER, "score": SCORE, **NOTIFIED}),
    "Inbox": one({"id": NUMBER, "subscription": TEXT, "score": SCORE, "read": TRUTH, **NOTIFIED}),
    "Unread": one({"unread": NUMBER, "most": NUMBER}),
    "Standing": one(
        {"id": TEXT, "state": TEXT, "means": TEXT, "notifications": NUMBER},
        last=optional(one({"id": NUMBER, "created": TEXT})),
        delivery=optional(ANYTHING),
    ),
    "Less": one(
        {
            "subscription": TEXT,
            "matches": TRUTH,
            "means": TEXT,
            "tag": TEXT,
            "recent": one({"events": NUMBER, "matched": NUMBER, "complete": TRUTH}),
            "ways": several(
                one({"kind": TEXT, "says": TEXT, "patch": ANYTHING, "means": TEXT, "keeps": NUMBER, "drops": NUMBER})
            ),
        }
    ),
    "Logged": one({"position": NUMBER, "id": TEXT, "source": TEXT, "type": TEXT, "received": TEXT}),
    "Suggestion": one({"id": NUMBER, "person": TEXT, "subscription": TEXT, "score": SCORE, **NOTIFIED}),
    "DeadLetter": one(
        {"reason": TEXT, "state": TEXT, **{name: NOTIFIED[name] for name in NOTIFIED if name != "cloudevent"}},
        settled=optional(TEXT),
        republished=optional(NUMBER),
        place=optional(PLACE),
        cloudevent=optional(ANYTHING),
    ),
    "Preview": one(
        {
            "dryRun": {"const": True},
            "count": NUMBER,
            "items": several(
                one(
                    {"id": TEXT, "source": TEXT, "type": TEXT, "position": optional(NUMBER)}
                    | {"refused": optional(one({"reason": TEXT}, **PLACE["properties"]))}
                    | {"warnings": several(TEXT), "count": NUMBER, "events": several(LOOKED_AT)}
                )
            ),
            "trips": optional(
                one(
                    {
                        "matched": several(one({"subscription": TEXT, "events": NUMBER, "score": SCORE})),
                        "compared": one({"subscriptions": NUMBER, "complete": TRUTH}),
                    }
                )
            ),
        }
    ),
    "Explanation": one({"event": TEXT, "subscription": TEXT, "matched": TRUTH, "conditions": several(ANYTHING)}),
    "Delivery": one(
        {"subscription": TEXT, "channel": TEXT, "state": TEXT, "delivered": NUMBER, "pending": NUMBER}, circuit=CIRCUIT
    ),
    "Omission": one({"notification": NUMBER, "kind": TEXT, "reason": TEXT}),
    "Endpoint": one(
        {"url": TEXT, **dict.fromkeys(("subscriptions", "delivered", "undelivered", "pending", "sent"), NUMBER)}
        | {"failing": optional(one({"subscriptions": NUMBER, "since": TEXT, "reason": TEXT}))},
        lastSuccess=optional(TEXT),
        circuit=CIRCUIT,
    ),
    "Ontology": one({**VERSION, "documents": several(one({"name": TEXT, "media_type": TEXT}, text=TEXT))}),
    "Concept": one({"concept": TEXT, "label": TEXT, "words": several(TEXT), "parents": several(TEXT)}),
    "Changes": one({"dryRun": {"const": True}, "difference": DIFFERENCE, "effect": EFFECT}),
    "OntologyTrial": one(
        {
            "dryRun": {"const": True},
            "triples": NUMBER,
            "used": NUMBER,
            "unused": {"type": "object", "additionalProperties": NUMBER},
            **{name: several(TEXT) for name in ("imports", "cycles")},
            "difference": DIFFERENCE,
            "effect": EFFECT,
        }
    ),
    "Term": one(
        {
            "concept": TEXT,
            "label": TEXT,
            "words": several(WORD),
            "definitions": several(one({"text": TEXT, "language": optional(TEXT)})),
            "hierarchies": {"type": "object", "additionalProperties": named("Branch")},
            "statements": several(ANYTHING),
            "subscriptions": one({"count": NUMBER, "complete": TRUTH}),
        }
    ),
    "Branch": one(
        {
            "concept": TEXT,
            "same": several(TEXT),
            "label": TEXT,
            "parents": several(one({"concept": TEXT, "label": TEXT})),
            "children": NUMBER,
        }
    ),
    "Synonyms": one({"concept": TEXT, "words": several(WORD)}),
    "Proposal": one(PROPOSED),
    "Person": one({"id": TEXT, "knows": several(TEXT), "shares": TRUTH, "declines": TRUTH}),
    "User": one({"name": TEXT, "scopes": SCOPES, "created": TEXT}),
    "Session": one({"name": TEXT, "scopes": SCOPES}),
    "Token": one({"user": TEXT, "scopes": SCOPES}, token=TEXT),
    "Change": one({"number": NUMBER}),
    "Source": one(
        {
            "id": NUMBER,
            "url": TEXT,
            "owner": TEXT,
            "state": TEXT,
            "reads": NUMBER,
            "published": NUMBER,
            "known": NUMBER,
        },
        **{name: optional(TEXT) for name in ("lastRead", "lastSuccess", "lastChange", "next")},
        failing=optional(one({"since": TEXT, "reason": TEXT})),
        pause=NUMBER,
    ),
    "Health": one({"status": TEXT}, log=NUMBER, pipeline=NUMBER, lag=NUMBER),
    "Activity": one(
        {
            **dict.fromkeys(("log", "pipeline", "lag", "notifications"), NUMBER),
            "samples": several(
                one({"at": MOMENT, "events_per_second": SCORE, "matches_per_second": SCORE, "lag": NUMBER})
            ),
        }
    ),
    "Readiness": one({"status": TEXT, "reasons": several(TEXT), "store": ANYTHING}, pipeline=ANYTHING, disk=ANYTHING),
}

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
    ("post", "/v1/concepts/proposals/{number}/merge"): {JSON: {"schema": one({"into": TEXT}, reason=TEXT)}},
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
    ("post", "/v1/synonyms"): {JSON: {"schema": one({"concept": TEXT, "word": TEXT}, language=TEXT, reason=TEXT)}},
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
            "schema": one({}, name=TEXT, user=optional(TEXT), scopes=SOME_SCOPES, feed=TEXT),
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
    ("get", "/v1/concepts"): page("Concept"),
    ("post", "/v1/ontologies/{version}/restore"): named("Ontology"),
    ("get", "/v1/ontologies/{version}/difference"): DIFFERENCE,
    ("get", "/v1/ontologies/{version}/effect"): EFFECT,
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

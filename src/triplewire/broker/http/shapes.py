"""What travels over HTTP, as JSON Schema: the things that routes take, and those that they tell of."""

from __future__ import annotations

from typing import Any

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


def page(name: str, **besides: Schema) -> Schema:
    """A page of a list."""
    return one({"items": several(named(name)), "next": optional(NUMBER)}, **besides)


BINDINGS = several({"type": "object", "additionalProperties": TEXT})
SCORED = {"event": TEXT, "source": TEXT, "position": NUMBER, "score": SCORE, "says": TEXT}
SCOPES = several(TEXT)
SOME_SCOPES = optional(SCOPES)
MAILED = ("confirmation", "unsubscription")
DURATION: Schema = {
    "type": ["string", "integer"],
    "minimum": 0,
    "description": "Seconds, or a duration such as PT10M or P1D.",
}
DELIVERY = one(
    {},
    channel={"type": "string", "enum": ["webhook", "email"]},
    **dict.fromkeys(("url", "to", "secret"), TEXT),
    format={"type": "string", "enum": list(FORMATS)},
) | {"additionalProperties": False}
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
    **dict.fromkeys(("throttling", "digest", "duplicates"), DURATION),
    "delivery": DELIVERY,
    "owner": TEXT,
}
NAMED = one({"concept": TEXT, "label": TEXT})
PLACE = one({"line": NUMBER, "column": NUMBER, "excerpt": TEXT})
LOOKED_AT = one(
    {"id": TEXT, "home": optional(TEXT), "triples": NUMBER, "turtle": optional(TEXT), "svg": optional(TEXT)}
    | {
        "concepts": several(NAMED),
        "proposes": several(one({"word": TEXT, "under": TEXT})),
    }
)
CIRCUIT = optional(one({"openUntil": TEXT}))
NOTIFIED: Schema = {
    "event": TEXT,
    "source": TEXT,
    "position": NUMBER,
    "created": TEXT,
    "cloudevent": optional(ANYTHING),
}
NOTIFICATION: Schema = {
    "id": NUMBER,
    "subscription": TEXT,
    "sequence": NUMBER,
    "score": SCORE,
    "bindings": BINDINGS,
    "explanation": TEXT,
    **NOTIFIED,
}
STATUS = one(
    {"subscription": TEXT, "channel": TEXT, "format": TEXT, "state": TEXT}
    | dict.fromkeys(("delivered", "undelivered", "suppressed", "pending", "sent"), NUMBER),
    url=TEXT,
    to=TEXT,
    lastSuccess=optional(TEXT),
    circuit=CIRCUIT,
    failing=optional(one({"since": TEXT, "reason": TEXT, "attempts": NUMBER, "next": optional(TEXT)})),
)
LOOK = one(
    {"events": NUMBER, "refused": NUMBER, "complete": TRUTH, "from": optional(NUMBER), "to": optional(NUMBER)},
    limits=one({"positions": NUMBER, "seconds": SCORE}),
)
STANDS: Schema = {**RECORD, "state": TEXT, "since": NUMBER, "created": TEXT, "own": ANYTHING, "problem": optional(TEXT)}
VERSION = {"version": NUMBER, "since": NUMBER, "author": TEXT, "reason": TEXT, "created": TEXT}
PROPOSED = {"id": NUMBER} | dict.fromkeys(("concept", "word", "under", "proposer", "origin", "created", "state"), TEXT)
WORD = one({"word": TEXT}, language=TEXT, author=TEXT, created=TEXT, version=NUMBER)
SUBSUMPTION = one({"lower": TEXT, "upper": TEXT, "label": TEXT, "under": TEXT})
CALLED = one({"term": TEXT, "label": TEXT, "word": TEXT}, language=TEXT)
PLACED = one({"event": TEXT, "source": TEXT, "position": NUMBER}, score=SCORE, change=TEXT)
TWO_VERSIONS: Schema = {"version": NUMBER, "against": NUMBER}
DIFFERENCE: Schema = {
    kind: one(dict.fromkeys(("appeared", "gone"), one({"count": NUMBER, "items": several(told)})))
    for kind, told in (dict.fromkeys(("classes", "properties", "concepts"), SUBSUMPTION) | {"words": CALLED}).items()
}
EFFECT: Schema = {
    "affected": NUMBER,
    "subscriptions": several(
        one(
            {"id": TEXT, "owner": TEXT, "gained": NUMBER, "lost": NUMBER, "events": several(PLACED)},
            problem=TEXT,
            mended=TEXT,
        )
    ),
    "compared": one(
        {"subscriptions": NUMBER, "complete": TRUTH, "limits": one({"subscriptions": NUMBER, "told": NUMBER})}
    ),
    "tried": LOOK,
}
DECISION = one({}, reason=TEXT, author=optional(TEXT))
PATCHED = {name: {"anyOf": [schema, {"type": "null"}]} for name, schema in RECORD.items() if name != "id"}

SCHEMAS: dict[str, Schema] = {
    "Problem": one(
        {"type": TEXT, "title": TEXT, "status": NUMBER, "detail": TEXT},
        **dict.fromkeys(("request", "language", "excerpt", "nearest"), TEXT),
        line=NUMBER,
        column=NUMBER,
        expected=several(TEXT),
    ),
    "Receipt": one({"id": TEXT, "source": TEXT, "position": NUMBER}),
    "CloudEvent": one(
        {
            "specversion": {"type": "string", "const": "1.0"},
            **{name: {"type": "string", "minLength": 1} for name in ("id", "source", "type")},
        },
        time=TEXT,
        datacontenttype={"type": "string", "enum": list(LIFTERS)},
        data={},
        data_base64=TEXT,
        home=TEXT,
    ),
    "NewSubscription": one({"language": RECORD["language"], "pattern": RECORD["pattern"]}, **RECORD),
    "Subscription": one(
        {"id": TEXT, "language": TEXT, "owner": TEXT, "since": NUMBER, "state": TEXT},
        **STANDS,
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
            "tried": LOOK,
            "matched": NUMBER,
            "samples": several(one({**SCORED, "bindings": BINDINGS}, explanation=optional(TEXT))),
            "missed": optional(one(SCORED, explanation=optional(TEXT))),
            "concepts": optional(several({"anyOf": [NAMED, one({"word": TEXT, "under": TEXT, "underLabel": TEXT})]})),
            "scores": optional(several(one(SCORED))),
        }
    ),
    "Notification": one(NOTIFICATION, rdf=one({"format": TEXT, "text": TEXT})),
    "Inbox": one({**NOTIFICATION, "read": TRUTH}),
    "Unread": one({"unread": NUMBER, "most": NUMBER}, id=NUMBER, read=TRUTH),
    "Standing": one(
        {"id": TEXT, "state": TEXT, "means": TEXT, "notifications": NUMBER},
        **STANDS | {"last": optional(one({"id": NUMBER, "created": TEXT})), "delivery": optional(named("Delivery"))},
    ),
    "Less": one(
        {
            "subscription": TEXT,
            "matches": TRUTH,
            "means": TEXT,
            "tag": TEXT,
            "recent": one({"events": NUMBER, "matched": NUMBER, "complete": TRUTH}),
            "ways": several(
                one(
                    {"kind": TEXT, "says": TEXT, "patch": ANYTHING, "means": TEXT, "keeps": NUMBER, "drops": NUMBER}
                    | {"samples": several(PLACED)}
                )
            ),
        }
    ),
    "Logged": one({"position": NUMBER, "id": TEXT, "source": TEXT, "type": TEXT, "received": TEXT}),
    "Suggestion": one(
        {"id": NUMBER, "kind": TEXT, "person": TEXT, "subscription": TEXT, "score": SCORE, **NOTIFIED},
    ),
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
    "Explanation": one(
        {"event": TEXT, "source": TEXT, "subscription": TEXT, "matched": TRUTH, "score": SCORE, "complete": TRUTH}
        | {"mapping": {"type": "object", "additionalProperties": TEXT}, "conditions": several(ANYTHING)}
        | {"alternatives": NUMBER, "mappings": optional(NUMBER), "missing": NUMBER},
        alternative=optional(NUMBER),
    ),
    "Delivery": STATUS,
    "Omission": one({"notification": NUMBER, "kind": TEXT, "reason": TEXT, "created": TEXT}),
    "Endpoint": one(
        {"url": TEXT, **dict.fromkeys(("subscriptions", "delivered", "undelivered", "pending", "sent"), NUMBER)}
        | {"failing": optional(one({"subscriptions": NUMBER, "since": TEXT, "reason": TEXT}))},
        lastSuccess=optional(TEXT),
        circuit=CIRCUIT,
    ),
    "Ontology": one(
        {**VERSION, "documents": several(one({"name": TEXT, "media_type": TEXT}, text=TEXT))},
        warnings=several(one({"id": TEXT, "reason": TEXT})),
        affected=NUMBER,
    ),
    "Concept": one({"concept": TEXT, "label": TEXT, "words": several(TEXT), "parents": several(TEXT)}),
    "Changes": one({"dryRun": {"const": True}, "difference": one(DIFFERENCE), "effect": one(EFFECT)}),
    "OntologyTrial": one(
        {
            "dryRun": {"const": True},
            "triples": NUMBER,
            "used": NUMBER,
            "unused": {"type": "object", "additionalProperties": NUMBER},
            **{name: several(TEXT) for name in ("imports", "cycles")},
            "terms": {"type": "object", "additionalProperties": NUMBER},
            "difference": one(DIFFERENCE),
            "effect": one(EFFECT),
        }
    ),
    "Term": one(
        {
            "concept": TEXT,
            "label": TEXT,
            "words": several(WORD),
            "definitions": several(one({"text": TEXT, "language": optional(TEXT)})),
            "hierarchies": {"type": "object", "additionalProperties": named("Branch")},
            "statements": several(one(dict.fromkeys(("subject", "property", "object"), NAMED))),
            "all_statements": NUMBER,
            "subscriptions": one({"count": NUMBER, "complete": TRUTH}),
        }
    ),
    "Branch": one(
        {
            "concept": TEXT,
            "same": several(TEXT),
            "label": TEXT,
            "note": TEXT,
            "parents": several(NAMED),
            "children": NUMBER,
        }
    ),
    "Synonyms": one({"concept": TEXT, "words": several(WORD)}, version=NUMBER, since=NUMBER),
    "Proposal": one(PROPOSED, author=TEXT, reason=TEXT, version=optional(NUMBER)),
    "Person": one({"id": TEXT, "knows": several(TEXT), "shares": TRUTH, "declines": TRUTH}),
    "User": one({"name": TEXT, "scopes": SCOPES, "created": TEXT}),
    "Session": one({"name": TEXT, "scopes": SCOPES}),
    "Token": one(
        {"id": NUMBER, "user": TEXT, "name": TEXT, "scopes": SCOPES, "created": TEXT}
        | dict.fromkeys(("used", "expires", "revoked"), optional(TEXT)),
        feed=TEXT,
        token=TEXT,
    ),
    "Change": one({"number": NUMBER, **dict.fromkeys(("created", "who", "kind", "id", "what"), TEXT)}),
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
        created=TEXT,
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
    "Readiness": one(
        {"status": TEXT, "reasons": several(TEXT), "store": one({"writable": TRUTH})},
        pipeline=one({"state": TEXT, "restarts": NUMBER, "position": NUMBER, "lag": NUMBER, "index": optional(TEXT)}),
        disk=one({"free": NUMBER}),
    ),
}

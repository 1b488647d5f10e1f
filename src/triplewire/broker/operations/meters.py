"""What the broker counts of itself since it started, for ``/metrics``."""

from __future__ import annotations

from functools import partial

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics

WAITS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0, 600.0)
ANSWERS = (0.005, 0.025, 0.1, 0.5, 2.5)
"""Few: there is a histogram for each route."""

disable_created_metrics()  # type: ignore[no-untyped-call]  # they would double what is told


class Meters:
    """By channel what was sent, and by route what was asked.

    Waits are those from a notification's being written to its being received, of notifications that are sent singly.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        made = partial(Counter, namespace="triplewire", registry=self.registry)
        timed = partial(Histogram, namespace="triplewire", registry=self.registry)
        self.received = made("delivery_received", "Notifications received by others.", ["channel"])
        self.failed = made("delivery_failed", "Attempts to send that failed.", ["channel"])
        waits = "From a notification's being written to its being received, of those sent singly."
        self.waits = timed("delivery_seconds", waits, ["channel"], buckets=WAITS)
        self.requests = made("requests", "Requests answered.", ["method", "route", "status"])
        answers = "From a request to the first of its answer."
        self.answers = timed("request_seconds", answers, ["method", "route"], buckets=ANSWERS)

"""Subscriptions: how they stand, and what can be done with them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import User

pytestmark = pytest.mark.slow

HOOK = {"channel": "webhook", "url": "http://127.0.0.1:9/", "secret": "whsec_" + "c2VjcmV0" * 4}


def test_subscriptions_are_found_paused_redelivered_and_deleted(
    page: Page, user: User, check: Callable[[Page], None]
) -> None:
    for number in range(40):
        record = {"id": f"standing/{number}", "language": "filter", "pattern": f"notch < {number}"}
        user.client.post("/v1/subscriptions", json=record).raise_for_status()
    sent = {"id": "standing sent", "language": "filter", "pattern": "colour = 'red'", "delivery": HOOK}
    user.client.post("/v1/subscriptions", json=sent).raise_for_status()
    headers = {"Content-Type": "application/cloudevents+json"}
    event = {"specversion": "1.0", "id": "red", "source": "urn:web:standing", "type": "t", "data": {"colour": "red"}}
    event["datacontenttype"] = "application/json"
    user.client.post("/v1/events", json=event, headers=headers).raise_for_status()

    page.goto("/subscriptions")
    rows = page.locator("#subscriptions tr")
    expect(rows).to_have_count(30)
    page.get_by_role("button", name="More subscriptions").click()
    expect(rows).to_have_count(41)
    page.get_by_label("Text").fill("standing/7")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("Events whose notch is below 7.")
    page.get_by_role("button", name="Pause standing/7").click()
    expect(rows.locator(".badge").first).to_have_text("paused")
    page.get_by_role("button", name="Resume standing/7").click()
    expect(rows.locator(".badge").first).to_have_text("active")
    check(page)
    page.get_by_role("button", name="Delete standing/7").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No subscription here.")).to_be_visible()
    assert user.client.get("/v1/subscriptions/standing%2F7").status_code == 404

    page.goto("/subscriptions?text=sent")
    page.get_by_role("link", name="standing sent", exact=True).click()
    expect(page.get_by_role("heading", name="standing sent")).to_be_visible()
    expect(page.locator(".drawing")).to_contain_text("red")
    expect(page.get_by_text("http://127.0.0.1:9/")).to_be_visible()
    check(page)
    page.get_by_role("button", name="Redeliver standing sent").click()
    page.get_by_label("Log position", exact=True).fill("1")
    page.get_by_role("dialog").get_by_role("button", name="Redeliver").click()
    expect(page.locator("#said")).to_contain_text("of standing sent will be sent again")

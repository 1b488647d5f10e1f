"""Dead letters on the page: found, mended and republished, or dismissed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.broker.clients import OFFER, cloudevent, publish, subscription
from tests.web.conftest import User

pytestmark = pytest.mark.slow
PATIENCE = 180_000
"""The pipeline may only be starting."""
BROKEN = OFFER.replace("_:pc .", "\n_:pc oops .")


def test_what_was_refused_is_mended_and_republished(page: Page, user: User, check: Callable[[Page], None]) -> None:
    user.client.post("/v1/subscriptions", json=subscription(id="mended")).raise_for_status()
    publish(user.client, cloudevent("letter-1", source="urn:letters", data=BROKEN)).raise_for_status()
    publish(user.client, cloudevent("letter-2", source="urn:letters", datacontenttype="application/json", data="{"))
    page.goto("/dead-letters")
    cards = page.locator("#letters .card")
    expect(cards).to_have_count(2, timeout=PATIENCE)
    page.get_by_label("Reason, source or id contains").fill("well-formed TEXT/turtle")
    expect(cards).to_have_count(1)
    expect(cards).to_contain_text("letter-1")
    page.get_by_text("The event as it came").click()
    expect(cards.locator("mark")).to_have_text("oops")
    check(page)
    page.get_by_role("link", name="Fix and republish").click()
    expect(page.get_by_role("alert")).to_contain_text("line 2 between columns 6 and 10")
    assert page.get_by_label("Data", exact=True).input_value() == BROKEN
    page.get_by_label("Data", exact=True).fill(OFFER)
    expect(page.locator(".trips")).to_contain_text("mended")
    page.get_by_role("button", name="Republish").click()
    expect(page.locator("#publish output")).to_contain_text("is marked as republished")
    expect(page.locator("#published .told")).to_contain_text("mended was told of it.")
    page.get_by_role("link", name="Back to the dead letters").click()
    expect(cards).to_have_count(1)
    page.get_by_role("button", name="Dismiss").click()
    expect(cards).to_contain_text("dismissed")
    page.get_by_label("State").select_option("republished")
    expect(cards).to_contain_text("Published again at position")
    page.get_by_label("State").select_option("open")
    expect(page.locator("#empty")).to_contain_text("everything is dealt with")
    check(page)

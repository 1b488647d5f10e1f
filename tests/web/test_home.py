"""The first page: what is going on, live, and the tour."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.broker.clients import cloudevent, publish, subscription
from tests.web.conftest import User

pytestmark = pytest.mark.slow


def test_the_tour_subscribes_publishes_and_shows_why_its_notification_came(
    page: Page, user: User, check: Callable[[Page], None]
) -> None:
    page.goto("/")
    tour = page.get_by_role("region", name="See it work")
    tour.get_by_role("button", name="Subscribe").press("Enter")
    expect(tour).to_contain_text("You have the subscription tour-")
    page.keyboard.press("Enter")  # the next button has the focus
    expect(tour).to_contain_text("It is kept at position")
    expect(tour).to_contain_text("You were told after")
    expect(page.locator("#tour-why")).to_contain_text("NotebookPC")
    card = page.locator("#notifications .card", has_text="tour-")
    expect(card).to_contain_text('?sum"299.00"')
    expect(page.locator("[data-stat=lag] .value")).to_have_text("0")
    check(page)
    [record] = user.client.get("/v1/subscriptions").json()["items"]
    assert record["id"].startswith("tour-")
    tour.get_by_role("button", name="Remove").click()
    expect(tour).to_contain_text("The subscription is gone")
    assert user.client.get("/v1/subscriptions").json()["items"] == []
    tour.get_by_role("button", name="Hide the tour").click()
    page.reload()
    expect(page.get_by_role("button", name="Show the tour")).to_be_visible()
    expect(tour).to_be_hidden()


def test_what_others_programs_do_shows_without_reloading(page: Page, user: User) -> None:
    user.client.post("/v1/subscriptions", json=subscription(id="of-home")).raise_for_status()
    page.goto("/")
    publish(user.client, cloudevent("heard")).raise_for_status()
    publish(user.client, cloudevent("refused", data='_:H a "<b>no class</b>')).raise_for_status()
    expect(page.locator("#notifications .card").first).to_contain_text("heard")
    expect(page.locator("#letters .card")).to_have_count(1)
    expect(page.locator("#letters pre")).to_have_text('_:H a "<b>no class</b>')

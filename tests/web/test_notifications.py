"""Notifications: live, read and unread, why one came and another did not, and less of it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.broker.clients import PREFIXES
from tests.web.conftest import User

pytestmark = pytest.mark.slow

OFFER = """@prefix ex: <http://example.org/auction#> .
_:H a ex:Selling ; ex:target _:it ; ex:seller ex:%s . _:it a ex:%s ."""
NAME = "notes-computers"


@pytest.fixture(scope="module")
def subscribed(user: User) -> User:
    """Somebody who is interested in computers."""
    pattern = "SELECT ?it ?who { tw:home ex:target ?it ; ex:seller ?who . ?it a ex:Computer }"
    record = {"id": NAME, "language": "sparql", "pattern": pattern, "prefixes": PREFIXES}
    user.client.post("/v1/subscriptions", json=record)
    return user


def publish(user: User, seller: str, kind: str) -> int:
    headers = {"Content-Type": "text/turtle"}
    answer = user.client.post("/v1/events", content=OFFER % (seller, kind), headers=headers)
    return int(answer.raise_for_status().json()["position"])


def test_what_comes_is_shown_read_explained_and_made_less(
    page: Page, subscribed: User, check: Callable[[Page], None]
) -> None:
    page.goto("/notifications")
    expect(page.get_by_text("Nothing here.")).to_be_visible()
    publish(subscribed, "ann", "NotebookPC")
    publish(subscribed, "bob", "DesktopPC")
    cards = page.locator("#notifications .note")
    expect(cards).to_have_count(2)
    expect(page.locator("#unread")).to_have_text("2 unread")
    check(page)
    cards.first.get_by_role("button", name="Mark as read").click()
    expect(page.locator("#unread")).to_have_text("1 unread")
    page.get_by_label("Unread only").check()
    expect(cards).to_have_count(1)
    publish(subscribed, "eve", "NotebookPC")
    expect(cards).to_have_count(2)
    ann = page.locator("#notifications .note", has_text="ann")
    ann.get_by_role("link", name="Why did").click()
    expect(page.get_by_role("heading", name="Why did I get this?")).to_be_visible()
    expect(page.locator(".drawing")).to_contain_text("NotebookPC ⊑ Computer")
    expect(page.locator("#rdf")).to_contain_text("auction#NotebookPC")
    page.get_by_label("As RDF").select_option("N-Triples")
    expect(page.locator("#rdf")).to_contain_text("22-rdf-syntax-ns#type> <http://example.org/auction#NotebookPC> .")
    page.get_by_role("button", name="Show what could be left out").click()
    way = page.locator(".way", has_text="No NotebookPC (for ?it)")
    expect(way).to_contain_text(re.compile(r"\d+ of \d+ recent matches stay; \d+ would not have come: "))
    way.get_by_role("radio").check()
    check(page)
    page.get_by_role("button", name="Save").click()
    page.get_by_role("dialog").get_by_role("button", name="Change it").click()
    expect(page.locator("#less")).to_contain_text("Done.")
    assert "FILTER NOT EXISTS" in subscribed.client.get(f"/v1/subscriptions/{NAME}").json()["pattern"]


def test_why_something_did_not_come_is_drawn(page: Page, subscribed: User, check: Callable[[Page], None]) -> None:
    position = publish(subscribed, "ann", "EBook")
    page.goto("/notifications")
    page.get_by_role("link", name="Why didn’t I get something?").first.click()
    page.get_by_label("Subscription").fill(NAME)
    page.get_by_label("Log position").fill(str(position))
    page.get_by_role("button", name="Explain").click()
    expect(page.get_by_text("This is what was missing.")).to_be_visible()
    expect(page.locator(".conditions .fails").first).to_contain_text("?it is a ex:Computer")
    expect(page.locator(".drawing")).to_contain_text("✗ Computer")
    check(page)

"""Sources on the page: a feed is added, read, seen to fail, paused and removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.broker.sending import running
from tests.broker.test_sources import Site, atom
from tests.web.conftest import User

pytestmark = pytest.mark.slow


@pytest.fixture
def site() -> Iterator[Site]:
    found = Site()
    with running(found.server):
        yield found


def test_a_feed_is_added_and_its_health_is_told(
    page: Page, user: User, site: Site, allowed: set[int], check: Callable[[Page], None]
) -> None:
    allowed |= {422, 429}
    broken = Site()
    broken.answers = [(500, {}, "")]
    site.answers = [(200, {}, atom(1, 2, 3))]
    page.goto("/sources")
    expect(page.locator("#empty")).to_be_visible()
    address = page.get_by_label("Address of an RSS or Atom feed")
    address.fill("ftp://example.org/")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("alert")).to_be_visible()
    address.fill(site.url)
    page.get_by_role("button", name="Add").click()
    card = page.locator("#sources .card").first
    expect(card).to_contain_text("Healthy")
    expect(card).to_contain_text("3 events, 3 known")
    expect(card.locator("[data-field=next]")).to_contain_text("in ")
    with running(broken.server):
        address.fill(broken.url)
        address.press("Enter")
        failing = page.locator("#sources .card").nth(1)
        expect(failing).to_contain_text("Failing since")
    expect(failing).to_contain_text("500")
    check(page)
    card.get_by_role("button", name="Read now").click()
    expect(page.locator("#said")).to_contain_text("less than a minute ago")
    card.get_by_role("button", name="Pause").click()
    expect(card.locator(".badge")).to_have_text("Paused")
    card.get_by_role("button", name="Go on").click()
    expect(card.locator(".badge")).to_have_text("Healthy")
    for left in (1, 0):
        page.get_by_role("button", name="Remove").first.click()
        page.get_by_role("dialog").get_by_role("button", name="Remove").click()
        expect(page.locator("#sources .card")).to_have_count(left)
    expect(page.locator("#empty")).to_be_visible()
    assert user.client.get("/v1/sources").json()["items"] == []

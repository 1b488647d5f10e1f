"""The first page: what is going on, live."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.slow


def test_the_page_subscribes_publishes_and_shows_the_notification(page: Page, check: Callable[[Page], None]) -> None:
    page.goto("/")
    page.get_by_label("Name (optional)").fill("from-the-page")
    page.get_by_role("button", name="Subscribe").click()
    expect(page.locator("#subscribe output")).to_contain_text("Subscribed as from-the-page")
    page.get_by_role("button", name="Publish").click()
    expect(page.locator("#publish output")).to_contain_text("Accepted at log position")
    card = page.locator("#notifications .card", has_text="from-the-page")
    expect(card).to_have_count(1)
    expect(card).to_contain_text('?sum"299.00"')
    expect(page.get_by_role("status").first).to_contain_text("all matched")
    check(page)


def test_the_page_shows_what_was_refused(page: Page) -> None:
    page.goto("/")
    page.get_by_label("Event", exact=True).fill('_:H a "<b>no class</b>')
    page.get_by_role("button", name="Publish").click()
    expect(page.locator("#letters .card")).to_have_count(1)
    expect(page.locator("#letters pre").first).to_have_text('_:H a "<b>no class</b>')


def test_the_page_shows_an_error_under_its_place(page: Page, allowed: set[int]) -> None:
    allowed.add(422)
    page.goto("/")
    field = page.get_by_label("Pattern")
    field.fill(
        "(_:H, ?pc, (ex:Selling, ex:target, ex:Computer))\n(?pc, ?maker (ex:Computer, ex:manufacture, ex:Company))"
    )
    page.get_by_role("button", name="Subscribe").click()
    error = page.locator("#subscribe-error")
    expect(error).to_contain_text("line 2, column 14")
    assert error.locator("pre").inner_text().splitlines() == [
        "(?pc, ?maker (ex:Computer, ex:manufacture, ex:Company))",
        "             ^",
    ]
    assert field.evaluate("field => field.value.slice(field.selectionStart, field.selectionEnd)") == "("

"""Signing in, and out again."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.web.conftest import User, watched
from tests.web.world import World, opened

pytestmark = pytest.mark.slow

PASSWORD = "correct horse battery"


@pytest.fixture
def visitor(browser, world: World, allowed: set[int]) -> Iterator[BrowserContext]:  # type: ignore[no-untyped-def]
    """The browser of somebody who is not signed in."""
    with watched(browser, world, allowed, None) as context:
        yield context


def test_who_gives_a_password_comes_to_the_page_asked_for_and_can_leave(
    visitor: BrowserContext, world: World, user: User, allowed: set[int], check: Callable[[Page], None]
) -> None:
    with opened(world) as store:
        store.users.set_password(user.name, PASSWORD)
    page = visitor.new_page()
    page.goto("/?from=afar")
    expect(page).to_have_title("Sign in · Triplewire")
    check(page)
    allowed.add(401)
    page.get_by_label("Name").fill(user.name)
    page.locator("#password").fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("there is nobody with this name and password")
    expect(page.locator("#password")).to_be_focused()
    allowed.clear()
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{world.address}/?from=afar")
    [cookie] = visitor.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    expect(page.get_by_role("banner")).to_contain_text(user.name)
    allowed.add(401)  # what the page asks for by itself may come too late
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_title("Sign in · Triplewire")
    assert visitor.cookies() == []
    assert httpx.get(f"{world.address}/v1/session", cookies={cookie["name"]: cookie["value"]}).status_code == 401


def test_who_has_a_token_needs_no_password(visitor: BrowserContext, user: User, allowed: set[int]) -> None:
    page = visitor.new_page()
    page.goto("/")
    page.get_by_role("tab", name="Password").focus()
    page.keyboard.press("ArrowRight")
    page.locator("#token").fill(user.token)
    page.keyboard.press("Enter")
    expect(page.get_by_role("banner")).to_contain_text(user.name)
    allowed.add(401)  # what the page asks for by itself may come too late
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_title("Sign in · Triplewire")
    assert user.client.get("/v1/session").json()["name"] == user.name, "the token itself was revoked"

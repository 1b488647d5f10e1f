"""Subscribing: by interests, by a pattern, and changing what one has."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Request, expect

from tests.broker.clients import PREFIXES, cloudevent, publish
from tests.web.conftest import User

pytestmark = pytest.mark.slow

PHONE = "@prefix ex: <http://example.org/auction#> . _:H a ex:Selling ; ex:target _:p . _:p a ex:MP3 ; ex:title "
WRONG = "(_:H, ?pc, (ex:Selling, ex:target, ex:Computer))\n(?pc, ?maker (ex:Computer, ex:manufacture, ex:Company))"


def tries(page: Page) -> list[Any]:
    """The records that the page tries out, as it does."""
    found: list[Any] = []

    def on_request(request: Request) -> None:
        if "dry-run" in request.url:
            found.append(request.post_data_json)

    page.on("request", on_request)
    return found


def told(user: User, subscription: str) -> list[str]:
    """The events that a subscription was told of."""
    found = user.client.get("/v1/notifications", params={"subscription": subscription}).raise_for_status().json()
    return [one["event"] for one in found["items"]]


def counted(page: Page, where: str) -> int:
    expect(page.locator(where)).to_contain_text(re.compile(r"[\d,]+ of the last [\d,]+ events"))
    return int(page.locator(where).inner_text().split()[0].replace(",", ""))


def test_interests_are_found_by_tree_and_word_and_a_slider_shows_what_is_in(
    page: Page, user: User, check: Callable[[Page], None]
) -> None:
    for id_, kind in (("interest-1", "NotebookPC"), ("interest-2", "Computer"), ("interest-3", "Book")):
        publish(user.client, cloudevent(id_, data=f"_:H a <http://example.org/auction#{kind}> ."))
    asked = tries(page)
    page.goto("/subscribe")
    product = page.get_by_role("treeitem", name="Product")
    product.focus()
    for key in ("ArrowRight", "ArrowRight", "c", "Space"):  # open it, go in, to Computer by its letter, check it
        page.keyboard.press(key)
        if key == "ArrowRight":
            expect(page.get_by_role("treeitem", name="Computer").first).to_be_visible()
    chosen = page.locator("#chosen li")
    expect(chosen).to_have_text(["Computer×"])
    word = page.get_by_role("combobox", name="Find a concept")
    word.fill("hard disks")
    expect(page.locator("#word-said")).to_have_text("hard disks means Hard disk.")
    word.press("Enter")
    expect(page.get_by_role("treeitem", name="Hard disk", selected=True)).to_be_visible()
    word.fill("Palmtop")
    page.get_by_role("option", name="“Palmtop” is new").click()
    expect(chosen).to_have_count(3)
    page.get_by_label("What Palmtop is a kind of").select_option("Computer")
    expect(page.locator("#means")).to_contain_text("palmtop (new, under Computer)")
    slider = page.get_by_label("How near must an event come?")
    before, sent = counted(page, "#nearness-said"), len(asked)
    slider.focus()
    page.keyboard.press("Home")
    assert counted(page, "#nearness-said") > before
    slider.evaluate("slider => { slider.value = 0.99; slider.dispatchEvent(new Event('input', {bubbles: true})); }")
    assert counted(page, "#nearness-said") == 0
    assert len(asked) <= sent + 1  # moving it asks nothing, coming to rest asks once
    expect(page.locator("#border li.out").first).to_be_visible()
    check(page)
    page.get_by_role("button", name="Subscribe").click()
    expect(page.locator("#saved")).to_contain_text("Saved as")
    words = [one["word"] for one in user.client.get("/v1/concepts/proposals").json()["items"]]
    assert "Palmtop" in words


def test_a_pattern_is_mended_understood_tried_and_saved_and_then_it_notifies(
    page: Page, user: User, allowed: set[int], check: Callable[[Page], None]
) -> None:
    allowed.add(422)
    wide = {"id": "any-product", "language": "ops", "prefixes": PREFIXES}
    wide["pattern"] = "(_:H, ?1, (ex:Selling, ex:target, ex:Product))"
    user.client.post("/v1/subscriptions", json=wide).raise_for_status()
    publish(user.client, cloudevent("pattern-1", data=PHONE + '"A song" .'))
    asked = tries(page)
    page.goto("/subscribe")
    page.get_by_role("tab", name="Pattern").click()
    field = page.get_by_role("textbox", name="Pattern")
    field.press_sequentially(WRONG, delay=5)
    problem = page.locator("#pattern-problem")
    expect(problem).to_have_text("Line 2: found '('. Expected ','.")
    assert len(asked) < 10
    mark, bubble = page.locator("#marks mark").bounding_box(), problem.bounding_box()
    assert mark and bubble
    assert 0 <= bubble["y"] - (mark["y"] + mark["height"]) < 12
    assert abs(bubble["x"] - mark["x"]) < 12
    expect(page.locator("#tried")).to_be_hidden()
    field.fill('(_:H, ?it, (ex:Selling, ex:target, ex:MP3))\n(?it, ?t, (ex:MP3, ex:title, xsd:string), ?t = "A song")')
    expect(problem).to_be_hidden()
    expect(page.locator("#means")).to_contain_text("whose target is an MP3")
    expect(page.locator("#drawing svg")).to_contain_text("?it")
    expect(page.locator("#family")).to_contain_text("Already covered by any-product")
    assert counted(page, "#matched") >= 1
    sample = page.locator("#samples summary").first
    sample.click()
    expect(page.locator("#samples pre").first).to_contain_text("ex:target")
    expect(page.locator("#samples img").first).to_have_js_property("complete", True)
    check(page)
    page.locator("#more summary").click()
    page.get_by_label("Name").fill("songs")
    field.press("Control+Enter")
    expect(page.locator("#saved")).to_contain_text("Saved as songs")
    assert asked[-1]["prefixes"] == PREFIXES
    publish(user.client, cloudevent("pattern-2", data=PHONE + '"A song" .'))
    for _ in range(600):
        if told(user, "songs"):
            break
        page.wait_for_timeout(100)
    assert told(user, "songs") == ["pattern-2"]


def test_what_is_wrong_is_told_where_it_is_and_nobodys_change_is_undone_unseen(
    page: Page, user: User, allowed: set[int]
) -> None:
    allowed.update((409, 412, 422))
    record = {"id": "to-edit", "language": "filter", "pattern": "price < 400", "priority": 3}
    record["delivery"] = {"channel": "webhook", "url": "https://127.0.0.1:9/", "secret": f"whsec_{'a' * 40}"}
    user.client.post("/v1/subscriptions", json=record).raise_for_status()
    page.goto("/subscribe?edit=to-edit")
    expect(page.get_by_role("textbox", name="Pattern")).to_have_value("price < 400")
    page.locator("#more summary").click()
    expect(page.get_by_label("Priority")).to_have_value("3")
    page.get_by_label("Webhook address").fill("ftp://example.org/")
    save = page.get_by_role("button", name="Save changes")
    save.click()
    expect(page.locator("#url-problem")).to_contain_text("https")
    page.get_by_label("Webhook address").fill("https://127.0.0.1:9/other")
    page.get_by_label("Make a new secret").check()
    save.click()
    expect(page.locator("#saved code")).to_contain_text("whsec_")
    user.client.patch("/v1/subscriptions/to-edit", json={"digest": "hourly"}).raise_for_status()
    page.get_by_role("textbox", name="Pattern").fill("price < 300")
    page.get_by_label("Priority").select_option("usual")
    save.click()
    expect(page.locator("#refused")).to_contain_text("changed by somebody else")
    page.get_by_role("button", name="Save mine all the same").click()
    expect(page.locator("#saved")).to_be_visible()
    expect(page.locator("#refused")).to_be_hidden()
    found = user.client.get("/v1/subscriptions/to-edit").json()
    assert found["pattern"] == "price < 300"
    assert "priority" not in found
    assert found["delivery"]["url"] == "https://127.0.0.1:9/other"
    page.goto("/subscribe")
    page.get_by_role("tab", name="Pattern").click()
    page.get_by_label("Language").select_option("filter")
    page.get_by_label("Start from an example").select_option("Plain JSON: cheap, and of one of two brands")
    expect(page.locator("#means")).to_contain_text("cost is below 400")
    page.locator("#more summary").click()
    page.get_by_label("Name").fill("to-edit")
    page.get_by_role("button", name="Subscribe").click()
    expect(page.locator("#id-problem")).to_contain_text("to-edit")

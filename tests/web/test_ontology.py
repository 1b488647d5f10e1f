"""The ontology's pages: browse, words, proposals, versions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.broker.clients import AUCTION, cloudevent
from tests.web.conftest import User

pytestmark = pytest.mark.slow

EX = "http://example.org/auction#"
AIRSHIPS = f"\n<{EX}Airship> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <{EX}Vessel> .\n"


def test_a_tree_is_walked_by_keyboard_and_a_term_is_found_by_its_word(
    page: Page, check: Callable[[Page], None]
) -> None:
    page.goto("/ontology")
    page.get_by_label("Show").select_option("classes")
    page.locator("[role=treeitem]", has_text="Product").first.wait_for()
    page.locator("[role=treeitem][tabindex='0']").focus()
    for key in ("p", "r", "o", "ArrowRight"):
        page.keyboard.press(key)
    focused = page.locator("[role=treeitem]:focus")
    expect(focused).to_have_attribute("aria-expanded", "true")
    expect(focused.get_by_role("treeitem").first).to_contain_text("Book")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Book")).to_be_visible()

    page.get_by_label("Search").fill("noteboo")
    page.get_by_role("link", name="Notebook").first.click()
    title = page.locator("#term-title")
    expect(title).to_contain_text("Notebook")
    expect(title).to_be_focused()
    expect(page.locator("#above")).to_contain_text("Computer")
    page.locator("#picture a", has_text="Computer").first.click()
    expect(title).to_have_text("Computer")
    page.go_back()
    expect(title).to_contain_text("Notebook")
    check(page)


def test_a_word_is_added_and_taken_back(page: Page, check: Callable[[Page], None]) -> None:
    page.goto("/ontology/words")
    page.get_by_label("Concept").fill("Hard disk")
    page.get_by_label("Is also called").fill("Winchester drive")
    page.get_by_role("button", name="What would change?").click()
    expect(page.locator("#changes")).to_contain_text("is called “Winchester drive”")
    page.get_by_role("button", name="Add").click()
    row = page.get_by_role("row", name="Winchester drive")
    expect(row).to_contain_text("test_ontology")
    check(page)
    row.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(row).to_have_count(0)


def test_a_proposal_is_looked_at_and_accepted(page: Page, user: User, check: Callable[[Page], None]) -> None:
    record = {"id": "gyros", "language": "interest", "pattern": {"interest": "Computer", "type": "Gyrotron"}}
    user.client.post("/v1/subscriptions", json=record).raise_for_status()
    page.goto("/ontology/proposals")
    card = page.locator(".proposal", has_text="Gyrotron")
    card.get_by_role("button", name="Merge").click()
    expect(card.get_by_role("alert")).to_contain_text("Say into which concept")
    card.get_by_role("button", name="What would change?").click()
    expect(card.locator(".changes")).to_contain_text("Gyrotron is a kind of Computer")
    check(page)
    card.get_by_role("button", name="Accept").click()
    expect(card).to_have_count(0)
    page.get_by_label("Show").select_option("accepted")
    expect(card).to_contain_text("test_ontology has accepted it")


def test_a_version_is_checked_put_and_undone(
    page: Page, user: User, tmp_path: Path, allowed: set[int], check: Callable[[Page], None]
) -> None:
    seen = {"id": "vessels", "language": "sparql", "pattern": f"ASK {{ ?x a <{EX}Vessel> }}"}
    user.client.post("/v1/subscriptions", json=seen).raise_for_status()
    event = cloudevent("airship-1", source="urn:test_ontology", data=f"<urn:x:graf> a <{EX}Airship> .")
    user.client.post(
        "/v1/events", content=json.dumps(event), headers={"Content-Type": "application/cloudevents+json"}
    ).raise_for_status()
    text = (AUCTION / "ontology.ttl").read_text()
    allowed.add(422)
    (tmp_path / "broken.ttl").write_text(text + "\n<urn:x> oops .")
    (tmp_path / "ontology.ttl").write_text(text + AIRSHIPS)

    page.goto("/ontology/versions")
    page.get_by_label("File").set_input_files(tmp_path / "broken.ttl")
    page.get_by_role("button", name="Check it").click()
    expect(page.get_by_role("alert")).to_contain_text(f"line {len(text.splitlines()) + 2}")
    page.get_by_label("File").set_input_files(tmp_path / "ontology.ttl")
    page.get_by_role("button", name="Check it").click()
    report = page.locator("#report")
    expect(report).to_contain_text("Airship is a kind of Vessel")
    expect(report.locator(".affected")).to_contain_text("vessels 1 event more")
    check(page)
    page.get_by_label("Reason").fill("for airships")
    page.get_by_role("button", name="Make it the ontology").click()
    newest = page.locator(".version", has_text="for airships")
    expect(newest).to_contain_text("in force")

    user.client.post("/v1/synonyms", json={"concept": f"{EX}Airship", "word": "Zeppelin"}).raise_for_status()
    page.reload()
    newest.get_by_role("button", name="What if it came back?").click()
    expect(newest).to_contain_text("Airship is called “Zeppelin”")
    newest.get_by_role("button", name="Restore").click()
    page.get_by_role("dialog").get_by_role("button", name="Restore").click()
    expect(page.locator(".version").first).to_contain_text("in force")
    expect(page.locator(".version").first).to_contain_text("as in version")

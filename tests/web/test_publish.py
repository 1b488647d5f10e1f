"""Publishing on the page: what is written is drawn before it is sent, and what came of it is shown."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.broker.clients import OFFER, cloudevent, subscription
from tests.lift.documents import pdf
from tests.web.conftest import User

pytestmark = pytest.mark.slow
PATIENCE = 180_000
"""The pipeline may only be starting."""


def drop(page: Page, name: str, text: str) -> None:
    """Drop a file on the box for data."""
    page.locator("#data").evaluate(
        """(box, [name, text]) => {
            const carried = new DataTransfer();
            carried.items.add(new File([text], name));
            box.dispatchEvent(new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true }));
        }""",
        [name, text],
    )


def test_a_document_is_drawn_mended_and_published_and_the_notification_comes(
    page: Page, user: User, check: Callable[[Page], None]
) -> None:
    user.client.post("/v1/subscriptions", json=subscription(id="publish-page")).raise_for_status()
    page.goto("/publish")
    page.get_by_role("tab", name="A document").click()
    page.get_by_label("Data", exact=True).fill(OFFER.replace("_:pc .", "\n_:pc oops ."))
    error = page.get_by_role("alert")
    expect(error).to_contain_text("line 2 between columns 6 and 10")
    expect(error.locator("pre")).to_contain_text("^")
    page.get_by_role("button", name="Go to the place").click()
    selected = page.locator("#data").evaluate("box => box.value.slice(box.selectionStart).split(' ')[0]")
    assert selected == "oops"
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.locator("#published-box")).to_be_hidden()
    page.get_by_label("Data", exact=True).fill(OFFER)
    expect(error).to_be_hidden()
    expect(page.locator("#preview svg text", has_text="NotebookPC")).to_be_visible()
    expect(page.locator(".trips")).to_contain_text("publish-page")
    expect(page.locator("#format option").first).to_have_text("As detected: Turtle")
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.locator("#publish output")).to_contain_text("Published at position")
    expect(page.locator("#published .told")).to_contain_text("publish-page was told of it.", timeout=PATIENCE)
    check(page)


def test_a_publication_is_made_of_its_fields(page: Page, user: User, check: Callable[[Page], None]) -> None:
    page.goto("/publish")
    page.get_by_label("Type", exact=True).fill("Computer")
    page.get_by_label("Subtype").fill("Pocket abacus")
    page.get_by_label("Content").fill('A "Book" \\ of\nnumbers')
    page.get_by_label("Link").fill("https://example.org/a b")
    expect(page.locator("#preview")).to_contain_text("“Pocket abacus” is new")
    expect(page.locator("#preview .concepts")).to_contain_text("Book")
    expect(page.locator("#preview pre").first).to_contain_text("<https://example.org/a%20b>")
    check(page)
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.locator("#published")).to_contain_text("Matched. None of your subscriptions was tripped.")


NAMED = {
    "rows.csv": ("name,price\nTea,9.50\nMilk,1.20\n", "CSV, an event a row", "2 events."),
    "a.json": ('{"price": 380.50, "brand": "IBM"}', "JSON", "2 triples"),
    "b.json": ('{"@context": {"@vocab": "urn:x:"}, "@type": "Offer", "price": 7}', "JSON-LD", "2 triples"),
    "c.json": (json.dumps(cloudevent("c1")), "CloudEvent", "3 triples"),
    "d.json": (json.dumps([cloudevent("d1"), cloudevent("d2")]), "CloudEvents, a batch", "2 events."),
    "e.txt": (
        json.dumps(cloudevent("e1")) + "\n" + json.dumps(cloudevent("e2")),
        "CloudEvents, one a line",
        "2 events.",
    ),
    "f.xml": ("<offer no='7'><name>Tea</name></offer>", "XML", "3 triples"),
    "g.xml": (
        "<rss version='2.0'><channel><title>N</title><link>http://example.org/</link>"
        "<item><title>Tea</title><link>http://example.org/1</link></item></channel></rss>",
        "RSS, an event an entry",
        "One event.",
    ),
    "h.xml": (
        '<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:f</id><title>N</title><updated>2026-01-01T00:00:00Z</updated>'
        "<entry><id>urn:e</id><title>T</title><updated>2026-01-01T00:00:00Z</updated></entry></feed>",
        "Atom, an event an entry",
        "One event.",
    ),
    "i.xml": (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="urn:e:">'
        '<rdf:Description rdf:about="urn:a"><e:p>1</e:p></rdf:Description></rdf:RDF>',
        "RDF/XML",
        "1 triple,",
    ),
    "j": ("<urn:a> <urn:b> <urn:c> .\n", "N-Triples", "1 triple,"),
    "k": ("<urn:a> <urn:b> <urn:c> <urn:g> .\n", "N-Quads", "1 triple,"),
    "l": ("@prefix e: <urn:e:> .\ne:g { e:a e:b e:c . }\n", "TriG", "1 triple,"),
}


def test_every_format_is_known_by_name_or_content_and_can_be_corrected(page: Page) -> None:
    page.goto("/publish")
    page.get_by_role("tab", name="A document").click()
    for name, (text, format_, said) in NAMED.items():
        drop(page, name, text)
        expect(page.locator("#format option").first).to_have_text(f"As detected: {format_}")
        expect(page.locator("section[aria-labelledby=preview-title]")).to_contain_text(said)
        expect(page.get_by_role("alert")).to_be_hidden()
    file = {"name": "x.pdf", "mimeType": "application/pdf", "buffer": pdf()}
    page.get_by_label("A file").set_input_files(files=[file])  # type: ignore[list-item]
    expect(page.locator("#format option").first).to_have_text("As detected: PDF, its metadata")
    expect(page.locator("#preview svg")).to_be_visible()
    page.get_by_role("button", name="Take it out").click()
    expect(page.locator("#preview svg")).to_have_count(0)
    drop(page, "a.json", '{"@context": {"@vocab": "urn:x:"}, "price": 7.5}')
    expect(page.locator("#preview pre")).to_contain_text("E0")
    page.get_by_label("Format").select_option(label="JSON")
    expect(page.locator("#preview pre")).to_contain_text("7.5 .")

"""Takes the pictures of the web page that `docs/` shows: ``make screenshots``.

A broker of its own is started with the auction, and given something to show on every page.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from tests.broker.clients import AUCTION
from tests.web.conftest import CHROMIUM, FLAGS, PATIENCE
from tests.web.pictures import small
from tests.web.world import World, end, opened, start

IMAGES = Path(__file__).parents[2] / "docs" / "images" / "web"
NEWS = AUCTION.parent / "music-news"
DESK, PHONE = ViewportSize(width=1120, height=840), ViewportSize(width=360, height=740)
TALLEST = 1100
FEED = """<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:example:news</id><title>News</title>
<entry><id>urn:example:news:1</id><title>A concert</title><updated>2026-01-31T12:00:00Z</updated>
<link href="http://example.org/concert"/></entry></feed>"""


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder, _feed() as feed:
        world = start(Path(folder))
        try:
            with httpx.Client(base_url=world.address, timeout=60) as client:
                fill(client, feed)
            take(world)
        finally:
            end(world)


def fill(client: httpx.Client, feed: str) -> None:
    """Something for every page: music beside the auction, people with interests, new words, a feed, webhooks."""
    turtle = {"Content-Type": "text/turtle"}
    ontologies = "".join((folder / "ontology.ttl").read_text() for folder in (AUCTION, NEWS))
    client.post("/v1/ontologies", content=ontologies, headers=turtle).raise_for_status()
    for line in (NEWS / "subscriptions.ndjson").read_text().splitlines():
        client.post("/v1/subscriptions", json=json.loads(line)).raise_for_status()
    words = {"id": "new-sounds", "language": "interest", "pattern": {"interest": "Music", "type": "Power pop"}}
    hook = {"channel": "webhook", "url": feed.replace("/feed", "/hook"), "secret": "whsec_" + "c2VjcmV0" * 4}
    for record in (words, words | {"id": "called-back", "pattern": {"concepts": ["Pop"]}, "delivery": hook}):
        client.post("/v1/subscriptions", json=record).raise_for_status()
    client.post("/v1/sources", json={"url": feed}).raise_for_status()
    events = [line for name in (NEWS, AUCTION) for line in (name / "events.ndjson").read_text().splitlines()]
    for number, line in enumerate(events):
        event = json.loads(line) | {"source": f"http://example.org/round/{number}"}
        client.post(
            "/v1/events", content=json.dumps(event), headers={"Content-Type": "application/cloudevents+json"}
        ).raise_for_status()
    broken = {"specversion": "1.0", "id": "offer-7", "source": "http://example.org/shop", "type": "offer"}
    broken |= {"datacontenttype": "text/turtle", "data": "@prefix ex: <http://example.org/> .\n_:H ex:price 7,50 ."}
    client.post("/v1/events", content=json.dumps(broken), headers={"Content-Type": "application/cloudevents+json"})
    while (health := client.get("/healthz").json())["pipeline"] < health["log"]:
        time.sleep(0.2)


def take(world: World) -> None:
    """A picture of every page, and of some in the dark or on a phone."""
    from triplewire.broker.web.frame import PAGES

    names = {address: address.strip("/") or "home" for address, _ in PAGES}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for address, name in names.items():
            picture(browser, world, address, name)
        picture(browser, world, "/", "home-dark", dark=True)
        picture(browser, world, "/notifications", "notification")
        picture(browser, world, "/notifications/why-not?subscription=s1&position=3", "why-not", dark=True)
        picture(browser, world, "/notifications", "notifications-phone", size=PHONE)
        picture(browser, world, "/subscribe", "subscribe-pattern")
        picture(browser, world, "/ontology/proposals", "ontology-proposals")
        with opened(world) as store:
            store.users.add("ann")
        picture(browser, world, "/sign-in", "sign-in")
        browser.close()


def picture(
    browser: Browser, world: World, address: str, name: str, dark: bool = False, size: ViewportSize = DESK
) -> None:
    scheme = "dark" if dark else "light"
    with browser.new_context(base_url=world.address, viewport=size, color_scheme=scheme, reduced_motion="reduce") as of:
        of.set_default_timeout(PATIENCE)
        page = of.new_page()
        page.goto(address)
        if (shown := SHOWN.get(name)) is not None:
            shown(page)
        page.wait_for_timeout(2500)  # charts and answers come by themselves
        page.evaluate("scrollTo(0, 0)")
        tall = page.evaluate("Math.ceil(document.querySelector('main').getBoundingClientRect().bottom)")
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(tall, TALLEST)}
        taken = page.screenshot(full_page=True, clip=clip)  # type: ignore[arg-type]
        page.goto("about:blank")
        (IMAGES / f"{name}.png").write_bytes(small(page, taken))


def on_tour(page: Page) -> None:
    """The tour, taken to its end."""
    page.get_by_role("button", name="Subscribe", exact=True).click()
    page.get_by_role("button", name="Publish the offer").click()
    page.locator("#tour-why").wait_for()


def written(page: Page) -> None:
    """A publication, to be looked at."""
    fields = {"Type": "Concert", "Subtype": "Garage rock", "Content": "Pink plays the Fargo dome"}
    for label, text in fields.items():
        page.get_by_label(label, exact=True).first.fill(text)
    page.locator("#preview svg").wait_for()


def wished(page: Page) -> None:
    """An interest, and what it would have told of."""
    word = page.get_by_role("combobox", name="Find a concept")
    word.fill("Pop")
    page.get_by_role("option").first.wait_for()
    word.press("Enter")
    page.locator("#tried").wait_for()


def explained(page: Page) -> None:
    """A notification, with why it came."""
    page.locator("#notifications .card", has_text="s1").first.get_by_role("link").first.click()
    page.locator("main svg").first.wait_for()


def patterned(page: Page) -> None:
    """A pattern, understood, drawn and tried."""
    page.get_by_role("tab", name="Pattern").click()
    page.get_by_label("Start from an example").select_option("Computers for less than 400 dollars")
    page.locator("#drawing svg").wait_for()


def chosen(page: Page) -> None:
    """A concept, with what is near it."""
    page.goto("/ontology?concept=http://example.org/news%23Pop")
    page.locator("#picture svg").wait_for()


def weighed(page: Page) -> None:
    """A proposal, and what would come of it."""
    page.get_by_role("button", name="What would change?").first.click()
    page.locator(".changes").wait_for()


SHOWN = {
    "home": on_tour,
    "subscribe": wished,
    "subscribe-pattern": patterned,
    "publish": written,
    "notification": explained,
    "ontology": chosen,
    "ontology-proposals": weighed,
}
"""What is done on a page before its picture is taken."""


@contextmanager
def _feed() -> Iterator[str]:
    """A site of our own, with a feed and a place to be called at."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/atom+xml")
            self.end_headers()
            self.wfile.write(FEED.encode())

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/feed"
    finally:
        server.shutdown()


if __name__ == "__main__":
    main()

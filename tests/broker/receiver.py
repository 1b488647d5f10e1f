"""Somebody else's program that receives webhooks: a process of its own, which knows of us what the standard says.

``python receiver.py FOLDER SECRET…`` prints its port. Each request is a line of ``FOLDER/received``; its path names a
file of ``FOLDER`` with the answers to give in turn, one a line: 204 when there are no more, or where there is no such
file. What it answers with is a status, and further headers.
"""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

FOLDER, SECRETS = Path(sys.argv[1]), sys.argv[2:]
LOCK = threading.Lock()


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with LOCK:
            status, *headers = self._answer()
            line = {"path": self.path, "status": int(status), "good": self._verified(body), "body": json.loads(body)}
            line["headers"] = {name.lower(): value for name, value in self.headers.items()}
            with (FOLDER / "received").open("a") as received:
                received.write(json.dumps(line) + "\n")
        self.send_response(int(status))
        for name, value in (header.split("=") for header in headers):
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _answer(self) -> list[str]:
        plan = FOLDER / self.path.strip("/")
        lines = plan.read_text().splitlines() if plan.is_file() else []
        if not lines:
            return ["204"]
        plan.write_text("\n".join(lines[1:]))
        return lines[0].split()

    def _verified(self, body: bytes) -> list[str]:
        """The secrets under which what came is from whom it should be from."""
        found = []
        for secret in SECRETS:
            try:
                Webhook(secret).verify(body, dict(self.headers.items()))
                found.append(secret)
            except WebhookVerificationError:
                pass
        return found

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    print(server.server_port, flush=True)
    server.serve_forever()

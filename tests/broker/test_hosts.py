"""Where the broker listens, and by which names it lets itself be called."""

from __future__ import annotations

import socket

import httpx
import pytest

from triplewire.broker.serve import hosts_of, listen


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]", "[::1]:8080"])
def test_the_loopback_address_has_these_names(broker: httpx.Client, host: str) -> None:
    assert broker.get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["rebound.example", "localhost.rebound.example:8080", "127.0.0.1.rebound.example", ""])
def test_a_name_that_somebody_had_lead_here_is_refused(broker: httpx.Client, host: str) -> None:
    for path in ("/", "/healthz", "/v1/notifications"):
        answer = broker.get(path, headers={"Host": host})
        assert answer.status_code == 400
        assert "content-security-policy" in answer.headers
    answer = broker.post("/v1/events", content="", headers={"Host": host, "Content-Type": "text/turtle"})
    assert (answer.status_code, "host" in answer.text) == (400, True)


def test_the_name_that_was_asked_for_is_known_and_elsewhere_any() -> None:
    assert {"localhost", "127.0.0.1", "[::1]", "mine", "127.0.1.1"} == set(hosts_of("mine", "127.0.1.1"))
    assert "[::1]" in hosts_of("::1", "::1")
    assert "tw.example.org" in hosts_of("localhost", "127.0.0.1", "https://tw.example.org:8443/")
    assert hosts_of("0.0.0.0", "0.0.0.0") == hosts_of("::", "::") == ("*",)


def test_what_is_sent_in_two_packets_does_not_wait_between_them() -> None:
    """A head and a body, or one message of a stream after another: the wait would be 40 ms."""
    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

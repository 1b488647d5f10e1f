"""By which names the broker lets itself be called."""

from __future__ import annotations

import httpx
import pytest

from triplewire.broker.serve import hosts_of


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
    assert hosts_of("0.0.0.0", "0.0.0.0") == hosts_of("::", "::") == ("*",)

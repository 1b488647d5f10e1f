"""Connections to receivers: used again while they are good, and made to no address but those that may be called."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import h11
import pytest

from tests.broker.test_addresses import INSIDE, OUTSIDE, answering, server
from triplewire.broker.delivery.addresses import Addresses, networks
from triplewire.broker.delivery.connections import MOST_READ, Connections
from triplewire.broker.delivery.retries import no_answer

DONE = b"HTTP/1.1 204 No Content\r\n\r\n"


@asynccontextmanager
async def calling(*turns: Sequence[str]) -> AsyncIterator[Connections]:
    connections = Connections(Addresses(networks([OUTSIDE]), answering(*turns)))
    yield connections
    await connections.close()


@asynccontextmanager
async def saying(*answers: bytes) -> AsyncIterator[tuple[str, list[int]]]:
    """A server that gives the answers in turn, on as many connections as it takes; on which of them, is noted.

    Before an answer of ``b""`` it closes the connection.
    """
    left, used, serving = list(answers), [], set()
    count = iter(range(1, 9))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        own = next(count)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
                used.append(own)
                writer.write(left.pop(0))
                await writer.drain()
                if left and not left[0]:
                    left.pop(0)
                    break
        writer.close()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.create_task(serve(reader, writer)))

    async with await asyncio.start_server(begin, OUTSIDE, 0) as listening:
        yield f"http://hook.example:{listening.sockets[0].getsockname()[1]}/a?b", used
        await asyncio.gather(*serving)
    await asyncio.sleep(0)


def statuses(*answers: bytes, calls: int) -> tuple[list[int], list[int]]:
    """What so many calls give, and the connections that they were made on."""

    async def scenario() -> tuple[list[int], list[int]]:
        async with saying(*answers) as (url, used), calling([OUTSIDE]) as connections:
            return [(await connections.post(url, b"{}", {}))[0] for _ in range(calls)], used

    return asyncio.run(scenario())


def test_a_connection_is_used_again_and_one_that_was_closed_meanwhile_is_replaced() -> None:
    assert statuses(DONE, DONE, calls=2) == ([204, 204], [1, 1])
    assert statuses(DONE, b"", DONE, calls=2) == ([204, 204], [1, 2])


@pytest.mark.parametrize(
    ("answer", "status", "again"),
    [
        (b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, True),
        (b"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n", 500, True),
        (b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", 410, False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n" + b"a" * (MOST_READ + 1), 200, False),
    ],
)
def test_an_answer_is_read_to_its_end_if_that_is_near(answer: bytes, status: int, again: bool) -> None:
    assert statuses(answer, DONE, calls=1)[0] == [status]
    if again:
        assert statuses(answer, DONE, calls=2) == ([status, 204], [1, 1])


@pytest.mark.parametrize(
    ("answer", "said"),
    [(b"SSH-2.0-OpenSSH\r\n\r\n", "no answer: illegal"), (b"", "no connection: the connection was closed")],
)
def test_what_is_no_answer_is_told_as_such(answer: bytes, said: str) -> None:
    with pytest.raises((h11.RemoteProtocolError, ConnectionError)) as error:
        statuses(answer, b"", calls=1)
    assert no_answer(error.value).reason.startswith(said)


@pytest.mark.parametrize("late", [False, True])
def test_what_a_receiver_says_unasked_is_no_answer_to_the_next_request(late: bool) -> None:
    async def scenario() -> list[int]:
        unasked, answered, said = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n", asyncio.Event(), []

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"{}")
            said.append(DONE if late else DONE + unasked)
            writer.write(said[-1])
            await answered.wait()
            writer.write(unasked)
            writer.close()

        async with (
            await asyncio.start_server(serve, OUTSIDE, 0) as listening,
            calling([OUTSIDE], [OUTSIDE]) as connections,
        ):
            url = f"http://hook.example:{listening.sockets[0].getsockname()[1]}/"
            found = [(await connections.post(url, b"{}", {}))[0]]
            answered.set()
            for _ in range(20):
                await asyncio.sleep(0)
            return [*found, (await connections.post(url, b"{}", {}))[0], len(said)]

    assert asyncio.run(scenario()) == [204, 204, 2]


@pytest.mark.parametrize("closed", [False, True])
def test_what_was_answered_is_answered_though_the_answer_never_ends(
    closed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triplewire.broker.delivery.connections.ENDING", 0.05)
    begun = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbegun"
    assert statuses(begun, *([b""] if closed else []), DONE, DONE, calls=2) == ([200, 204], [1, 2])


def test_nothing_is_left_of_a_request_that_nobody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triplewire.broker.delivery.connections.ANSWERING", 0.2)
    body, given_up, came = b"a" * (1 << 25), asyncio.Event(), []

    async def scenario() -> None:
        over = asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await given_up.wait()
            with suppress(ConnectionError):
                while data := await reader.read(1 << 20):
                    came.append(len(data))
            writer.close()
            over.set()

        async with await asyncio.start_server(serve, OUTSIDE, 0) as listening, calling([OUTSIDE]) as connections:
            with pytest.raises(TimeoutError):
                port = listening.sockets[0].getsockname()[1]
                await connections.post(f"http://hook.example:{port}/", body, {})
            given_up.set()
            await over.wait()

    asyncio.run(scenario())
    assert sum(came) < len(body)


def test_a_refusal_is_told_without_the_address_that_a_name_leads_to() -> None:
    async def scenario() -> str:
        async with server(OUTSIDE) as (port, _):
            pass
        async with calling([OUTSIDE]) as connections:
            with pytest.raises(ConnectionError) as error:
                await connections.post(f"http://hook.example:{port}/", b"", {})
            return no_answer(error.value).reason

    assert asyncio.run(scenario()) == "no connection: Connection refused"


def test_a_name_that_leads_inside_is_not_followed_there_nor_is_a_redirect() -> None:
    async def scenario() -> None:
        async with server(INSIDE) as (port, inside):
            moved = f"307 Temporary Redirect\r\nLocation: http://{INSIDE}:{port}/"
            async with (
                server(OUTSIDE, port, moved) as (_, outside),
                calling([INSIDE, OUTSIDE], [INSIDE]) as connections,
            ):
                assert await connections.post(f"http://hook.example:{port}/", b"", {}) == (307, "")
                for host in ("hook.example", INSIDE, f"[::ffff:{INSIDE}]"):
                    with pytest.raises(Exception, match="leads to no public address") as error:
                        await connections.post(f"http://{host}:{port}/", b"", {})
                    assert no_answer(error.value).reason.startswith("no connection: ")
            assert (len(outside), b"Host: hook.example" in outside[0], inside) == (1, True, [])

    asyncio.run(scenario())


def test_a_certificate_is_asked_for_by_the_name() -> None:
    async def scenario() -> None:
        async with server(OUTSIDE) as (port, heard), calling([OUTSIDE]) as connections:
            with pytest.raises(ConnectionError):
                await connections.post(f"https://hook.example:{port}/", b"", {})
            assert b"hook.example" in heard[0]

    asyncio.run(scenario())

"""streams.py: what a server inside prints and logs goes to its console; the hub's own output and log stay the hub's."""

import asyncio
import contextvars
import logging
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tooltray.servers.transports.inmemory.streams import LINE_CHARACTERS, WAITING_LINES, Console, in_context_of, printing_to


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def console() -> tuple[Console, list[bytes]]:
    taken: list[bytes] = []
    return Console(asyncio.get_running_loop(), taken.append), taken


async def test_lines_are_delivered_whole_and_what_has_no_end_at_the_end() -> None:
    own, taken = console()
    for text in ("one\ntw", "o\n", "", "rest"):
        own.write(text)
    await turns()
    assert taken == [b"one", b"two"]
    own.finish()
    assert taken == [b"one", b"two", b"rest"]


async def test_lines_that_are_written_together_are_delivered_together() -> None:
    taken: list[bytes] = []
    deliveries: list[Callable[[], None]] = []
    hub: Any = SimpleNamespace(call_soon_threadsafe=deliveries.append)
    own = Console(hub, taken.append)
    for number in range(2):
        own.write("one\n")
        own.write("two\n")
        assert len(deliveries) == number + 1
        deliveries[-1]()
    assert taken == [b"one", b"two"] * 2


async def test_a_server_that_prints_without_end_is_cut_and_that_is_said() -> None:
    own, taken = console()
    own.write("x" * (3 * LINE_CHARACTERS))
    own.write("\n" + "".join(f"{number}\n" for number in range(2 * WAITING_LINES)))
    await turns()
    assert taken[0] == b"(%d lines left out)" % (WAITING_LINES + 1)
    assert len(taken) == WAITING_LINES + 1


async def test_inside_everything_goes_to_the_console_and_outside_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    own, taken = console()
    before = sys.stdout, sys.stderr, list(logging.getLogger().handlers)
    with printing_to(own):
        print("in")
        print("err", file=sys.stderr)
        sys.stdout.buffer.write(b"bytes\n")
        sys.stdout.buffer.flush()
        sys.stdout.flush()
        logging.getLogger("theirs").warning("%s", "logged")
    print("out")
    await turns()
    assert taken == [b"in", b"err", b"bytes", b"WARNING: theirs: logged"]
    assert capsys.readouterr() == ("out\n", "")
    assert (sys.stdout, sys.stderr, list(logging.getLogger().handlers)) == before


async def test_two_servers_at_once_have_their_own_and_the_hub_goes_on_beside_them(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    (one, first), (two, second) = console(), console()
    with printing_to(one):
        in_context_of(two).run(print, "two")
        print("one")
        task = asyncio.get_running_loop().create_task(asyncio.to_thread(print, "in a thread"), context=in_context_of(two))
        await task

        def of_hub() -> None:
            print("hub", flush=True)
            sys.stdout.buffer.write(b"")
            assert not sys.stdout.isatty()
            logging.getLogger("tooltray").info("hub")

        contextvars.Context().run(of_hub)
    await turns()
    assert (first, second) == ([b"one"], [b"two", b"in a thread"])
    assert capsys.readouterr().out == "hub\n"


async def test_a_program_without_standard_streams_is_no_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    own, taken = console()
    with printing_to(own):
        in_context_of(own).run(print, "x")

        def of_hub() -> None:
            assert sys.stdout is not None
            sys.stdout.write("nowhere")
            sys.stdout.flush()
            assert sys.stdout.buffer is None

        contextvars.Context().run(of_hub)
    await turns()
    assert taken == [b"x"]
    assert sys.stdout is None


async def test_whoever_replaces_a_stream_meanwhile_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    own, _ = console()
    other: Any = object()
    with printing_to(own):
        mine, sys.stdout = sys.stdout, other
    assert sys.stdout is other
    sys.stdout = mine.original

"""`tooltray log`, with a running hub and on the files alone."""

import time
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub, HangUp
from tests.unit.cli.conftest import Tooltray

from tooltray.cli.commands import log_command
from tooltray.foundation.home.home import Home
from tooltray.servers.logs.log_files import ServerLogFiles
from tooltray.servers.logs.log_lines import MARK, OUTPUT, server_line

AT = 1_795_600_000.0


def line(text: str, **fields: Any) -> dict[str, Any]:
    return {"position": "1:0", "at": 0.0, "text": text, **fields}


def page(*lines: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"lines": list(lines), "after": "1:9", **fields}


def keep(home: Home) -> None:
    lines = [(OUTPUT, "INFO up"), (MARK, "error it \x1b[31mended"), (OUTPUT, "ERROR \x1b[31mred"), (OUTPUT, "    in f")]
    text = "".join(server_line(AT + number, *each) for number, each in enumerate(lines))
    ServerLogFiles(home.server_logs).append("files", text.encode())


def test_a_log_is_read_without_a_hub_with_times_and_levels(tooltray: Tooltray, hub_home: Home) -> None:
    keep(hub_home)
    clock = [time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(AT + number)) for number in range(4)]
    assert tooltray("log", "files").out.splitlines() == [
        f"{clock[0]} INFO INFO up",
        f"{clock[1]} ERROR --- error: it ended ---",
        f"{clock[2]} ERROR ERROR red",
        f"{clock[3]} ERROR     in f",
    ]
    assert len(tooltray("log", "files", "--level", "error", "-n", "2").out.splitlines()) == 2
    assert [each["text"] for each in tooltray("log", "files", "--search", "red", "--json").json] == ["ERROR red"]
    assert tooltray("log", "files", "--since", "1m").out == ""
    assert tooltray("log").out == ""


def test_what_is_wrong_with_a_log_is_said(tooltray: Tooltray, hub_home: Home) -> None:
    problem = {"title": "The log is not kept on disk", "message": "No space left on device", "hint": ""}
    with FakeControlHub(hub_home, {"get_log": page(line("x"), problem=problem)}):
        result = tooltray("log", "files")
    assert (result.out, "No space left on device" in result.err) == ("x\n", True)


def test_a_search_in_a_large_log_goes_on_until_it_has_enough(tooltray: Tooltray, hub_home: Home) -> None:
    pages = iter([page(line("c"), before="1:7", isPartial=True), page(before="1:4", isPartial=True), page(line("a"), line("b"))])
    asked: list[str] = []

    def get_log(before: str = "", **params: Any) -> dict[str, Any]:
        asked.append(before)
        return next(pages)

    with FakeControlHub(hub_home, {"get_log": get_log}):
        assert tooltray("log", "--search", "x", "-n", "5").out == "a\nb\nc\n"
    assert asked == ["", "1:7", "1:4"]


@pytest.mark.parametrize(("options", "shown"), [([], "a\nb\n"), (["--json"], None)])
def test_following_prints_new_lines_until_the_hub_ends(
    tooltray: Tooltray, hub_home: Home, options: list[str], shown: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_command, "FOLLOW_EVERY_S", 0.0)
    pages = iter([page(line("a")), page(), page(line("b"))])

    def get_log(**params: Any) -> dict[str, Any]:
        try:
            return next(pages)
        except StopIteration:
            raise HangUp from None

    with FakeControlHub(hub_home, {"get_log": get_log}):
        result = tooltray("log", "files", "--follow", *options)
    assert result.out == shown or '"text": "b"' in result.out.splitlines()[-1]
    assert (result.code, "Tooltray ended" in result.err) == (1, True)


def test_messages_are_recorded_for_as_long_as_one_looks(tooltray: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_command, "FOLLOW_EVERY_S", 0.0)
    sent = line("tools/call query #7", kind="message", direction="out", detail='{"id":7}')
    came = line("tools/call query #7", kind="message", direction="in", detail="{}", ms=8.4)
    pages = iter([page(), page(sent), page(came)])
    recorded: list[float] = []

    def interrupt(seconds: float) -> None:
        if len(recorded) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("tooltray.cli.commands.log_command.time.sleep", interrupt)

    def record(server: str, for_s: float) -> None:
        recorded.append(for_s)

    with FakeControlHub(hub_home, {"get_log": lambda **params: next(pages), "set_protocol_log": record}):
        result = tooltray("log", "files", "--messages")
    assert result.out == '-> tools/call query #7 {"id":7}\n<- tools/call query #7 (8.4 ms) {}\n'
    assert recorded == [600.0, 600.0, 0.0]


def test_messages_need_a_server(tooltray: Tooltray) -> None:
    result = tooltray("log", "--messages")
    assert (result.code, "goes with a SERVER" in result.err) == (2, True)

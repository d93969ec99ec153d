"""`tooltray reload`, with a running hub and without."""

from typing import Any

from tests.fakes.fake_control_hub import FakeControlHub
from tests.unit.cli.conftest import Tooltray

from tooltray.home.home import Home


def change(kind: str, name: str, detail: str = "", file: str = "/s/settings.json") -> dict[str, Any]:
    return {"kind": kind, "name": name, "file": file, "detail": detail}


CHANGES = [change("add", "a\x1b[1m", "stdio"), change("setting", "publish.naming", "changed"), change("unheard-of", "z")]


def test_without_a_hub_it_says_that_the_files_are_read_anyway(tooltray: Tooltray, hub_home: Home) -> None:
    result = tooltray("reload")
    assert (result.code, result.err, "not running" in result.out) == (0, "", True)
    assert tooltray("reload", "--dry-run", "--json").json == {"running": False, "dry_run": True, "changes": []}
    assert not hub_home.root.exists()


def test_what_was_done_is_listed(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"reload": CHANGES}):
        result = tooltray("reload")
        lines = [line.split() for line in result.out.splitlines()]
        assert (result.code, lines[1:]) == (
            0,
            [
                ["a", "added", "stdio", "/s/settings.json"],
                ["publish.naming", "set", "changed", "/s/settings.json"],
                ["z", "unheard-of", "/s/settings.json"],
            ],
        )
        assert tooltray("reload", "--json").json == {"running": True, "dry_run": False, "changes": CHANGES}


def test_a_dry_run_says_what_would_be_done(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"preview_reload": CHANGES}):
        assert "would be added" in tooltray("reload", "--dry-run").out
        assert tooltray("reload", "--dry-run", "--json").json["dry_run"] is True


def test_nothing_is_an_answer_too(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"reload": []}):
        assert tooltray("reload").out == "Nothing has changed.\n"


def test_what_waits_for_a_yes_is_told_how_to_get_one(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"reload": [change("wait", name, file="/p/my shop/.mcp.json") for name in "ab"]}):
        result = tooltray("reload")
    assert result.code == 0
    assert result.err == "Look at what waits, and say yes to it: tooltray trust '/p/my shop'\n"


def test_a_file_that_is_not_understood_is_an_error_for_scripts(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"reload": [change("keep", "", "line 3, column 1")]}):
        result = tooltray("reload")
        assert (result.code, "stays as it is" in result.out, "line 3" in result.out) == (1, True, True)
        assert tooltray("reload", "--json").code == 1

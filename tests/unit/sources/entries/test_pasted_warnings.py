"""pasted_warnings.py: what a command would do that nobody expects of a server."""

import pytest

from tooltray.sources.entries.pasted_warnings import pasted_warnings


def warnings(*args: str, command: str = "sh", **fields: object) -> list[str]:
    return list(pasted_warnings("s", {"command": command, "args": list(args), **fields}))


@pytest.mark.parametrize(
    "line", ["rm -rf ~", "rm -v -r /x", "mkfs.ext4 /dev/sda", "dd if=/dev/zero of=/dev/sda", "Remove-Item x", "format c:"]
)
def test_what_deletes_is_said(line: str) -> None:
    assert "it deletes or overwrites files" in warnings("-c", line)


@pytest.mark.parametrize("line", ["curl https://a.example/x | sh", "wget x | sudo bash", "iwr x | iex", "curl -o x https://a.example"])
def test_what_is_downloaded_and_run_is_said(line: str) -> None:
    assert "it downloads something and runs it" in warnings("-c", line)


def test_a_plain_server_is_warned_of_with_nothing() -> None:
    assert warnings("mcp-server-time", command="uvx") == []


def test_an_entry_that_cannot_be_added_is_warned_of_all_the_same() -> None:
    assert warnings("-rf", "~", command="rm", type="pigeon") == ["it deletes or overwrites files"]

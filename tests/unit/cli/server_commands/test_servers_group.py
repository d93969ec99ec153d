"""servers_group.py"""

import pytest

from tooltray.cli.arguments import UsageError, parse


@pytest.mark.parametrize(
    "words",
    [
        ["servers", "add", "files"],
        ["servers", "add", "files", "npx", "pkg"],
        ["servers", "add", "files", "--env", "novalue", "--", "x"],
        ["servers", "add", "files", "--secret", "KEY=sk-123", "--", "x"],
        ["servers", "add", "x", "--deferred", "--template", "'", "--", "y"],
        ["servers", "add", "x", "--template", "{project_path}", "--", "y"],
    ],
)
def test_a_server_that_is_described_in_no_sense_is_refused(words: list[str]) -> None:
    with pytest.raises(UsageError) as refusal:
        parse(words, {})
    assert refusal.value.usage.startswith("usage: tooltray")


COMMAND = ["--", "x"]
URL = ["--url", "https://example.com/mcp"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "put the server's command after --"),
        ([*URL, *COMMAND], "not both"),
        (["--idle-stop", "5", *COMMAND], "--idle-stop needs --on-demand: a server that starts with Tooltray keeps running"),
        (["--project", "shop", "--on-demand", *COMMAND], "--on-demand cannot be used with --project"),
        (["--sse", *COMMAND], "--sse goes with --url"),
        (["--env", "A=b", *URL], "--env goes with a command"),
        (["--client-secret", *URL], "--client-secret goes with --client-id"),
        (["--client-credentials", "--client-id", "me", *URL], "--client-credentials goes with --client-id and --client-secret"),
        (["--inmemory", "notes", "--env", "A=b"], "--env cannot be used with --inmemory"),
        (["--inmemory", "notes", *URL], "--url cannot be used with --inmemory"),
        (["--inmemory", "notes", "--idle-stop", "5"], "--idle-stop needs --on-demand: a server that starts with Tooltray keeps running"),
        (["--bearer-secret", "--header", "Authorization: x", *URL], "the header authorization is given twice"),
    ],
)
def test_what_does_not_go_together_is_named(words: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse(["servers", "add", "x", *words], {})

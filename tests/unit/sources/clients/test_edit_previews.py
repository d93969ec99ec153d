"""edit_previews.py: differences are short and without secrets."""

import json

import pytest

from tooltray.sources.clients.edit_previews import HIDDEN, MAX_LINE, diff_of, masked_diff

SECRET = "sk-dummy-1234567890"


def _diff(before: str, after: str, *, is_new: bool = False) -> str:
    return diff_of(before, after, "/home/me/mcp.json", is_new=is_new, mask=lambda text: text.replace("known", "***"))


def test_lines_around_what_changes_are_shown_with_their_numbers() -> None:
    lines = [f"line {number}" for number in range(1, 1001)]
    assert _diff("\n".join(lines), "\n".join([*lines[:500], "new", *lines[500:]])).split("\n") == [
        "--- /home/me/mcp.json",
        "+++ /home/me/mcp.json",
        "@@ -498,6 +498,7 @@",
        " line 498",
        " line 499",
        " line 500",
        "+new",
        " line 501",
        " line 502",
        " line 503",
    ]


def test_a_new_file_and_one_that_does_not_change() -> None:
    assert _diff("", "{}\n", is_new=True) == "--- /dev/null\n+++ /home/me/mcp.json\n@@ -0,0 +1 @@\n+{}"
    assert _diff("{}", "{}") == ""


@pytest.mark.parametrize(
    "line",
    [
        f'"env": {{"ANYTHING": "{SECRET}"}}',
        '"API_KEY": "dummy secret"',
        "API_KEY = 'dummy secret' # mine",
        "  API_KEY: dummy secret",
        '- "GITHUB_TOKEN": dummy-secret',
        '# "password": "dummy secret"',
        '"args": ["--api-key", "dummy secret"]',
        '["--token=dummy-secret"]',
        '["-H", "Authorization: dummy secret"]',
        '"url": "https://me:dummy-secret@example.com/mcp"',
        '"url": "https://example.com/mcp?api_key=dummy-secret&x=1"',
        '"a": "known"',
    ],
)
def test_what_looks_secret_is_hidden_everywhere(line: str) -> None:
    shown = _diff(f"{line}\n", f"{line}\nnew\n")
    assert "+new" in shown
    for secret in (SECRET, "dummy", "known"):
        assert secret not in shown


@pytest.mark.parametrize(
    "line",
    [
        '"command": "npx"',
        '"API_KEY": "${API_KEY}"',
        '"API_KEY": "your-key-here"',
        '"password": true',
        '"url": "https://example.com/mcp?x=1"',
        "  API_KEY:",
    ],
)
def test_what_is_no_secret_is_shown(line: str) -> None:
    assert masked_diff(line) == line


def test_a_minified_file_is_shown_around_what_changes() -> None:
    before = json.dumps({"history": ["x" * 50] * 100, "mcpServers": {}, "later": ["y" * 50] * 100})
    after = before.replace('"mcpServers": {}', '"mcpServers": {"tooltray": {}}')
    removed, added = _diff(before, after).split("\n")[3:]
    assert '"tooltray"' in added
    assert len(removed) < MAX_LINE
    assert len(added) < MAX_LINE
    assert added.endswith(HIDDEN)


def test_long_lines_are_cut() -> None:
    lines = _diff("\n".join(["a" * 500, "b", "c" * 500]), "\n".join(["a" * 500, "d" * 500, "e" * 500, "c" * 500])).split("\n")
    assert all(len(line) <= MAX_LINE + 1 for line in lines)
    assert len(_diff("a" * 500, "b").split("\n")[3]) == MAX_LINE + 1


def test_a_key_is_never_hidden_whatever_the_word_before_it_is() -> None:
    text = '+  "token",\n+  "mcpServersOfTheWholeCompany": {\n+    "API_KEY": "dummy-value-1",\n+    "auth" : {}\n+  "password": "x"'
    text += '\n+  "--token",\n+  "dummy-value-1",'
    assert masked_diff(text) == text.replace("dummy-value-1", HIDDEN).replace('"x"', f'"{HIDDEN}"')

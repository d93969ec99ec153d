"""pasted_names.py: what test_pasted.py does not show by whole texts."""

import pytest

from tooltray.sources.entries.pasted_names import guess_name


@pytest.mark.parametrize("words", [["sudo"], [""]])
def test_a_command_that_names_nothing_is_called_server(words: list[str]) -> None:
    assert guess_name(words) == "server"


@pytest.mark.parametrize(("package", "name"), [("@scope/mcp-server-files@1.2", "files"), ("@acme/mcp", "acme"), ("mcp", "mcp")])
def test_a_package_is_called_by_what_it_is_about(package: str, name: str) -> None:
    assert guess_name(["npx", "-y", package]) == name


def test_a_version_behind_two_signs_is_no_variable() -> None:
    assert guess_name(["uvx", "mcp-server-time==1.2"]) == "time"


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["/opt/bin/mcp-files"], "files"),
        (["env", "-i", "/x", "notes.exe"], "notes"),
        (["sudo", "/opt/notes.sh"], "notes"),
        (["python3", "-m"], "python3"),
        (["node", "/srv/notes/dist/index.js"], "notes"),
        (["node", "./index.js"], "index"),
        (["node", "C:\\notes\\main.py"], "notes"),
        (["npx", "-y", "A=b", "${PACKAGE}", "notes"], "notes"),
        (["docker", "run", "--rm", "ghcr.io/acme/notes:1.2"], "notes"),
    ],
)
def test_a_program_is_called_by_the_word_that_tells_most(words: list[str], name: str) -> None:
    assert guess_name(words) == name


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://notes.example.org/mcp", "example"),
        ("https://mcp.notes.com/", "notes"),
        ("https://www.api.mcp", "www"),
        ("http://me:pw@127.0.0.1:8080/mcp", "127"),
        ("http://localhost:8080", "localhost"),
    ],
)
def test_a_url_is_called_by_whose_it_is(url: str, name: str) -> None:
    assert guess_name([url]) == name

"""entries/pasted_names.py: what test_pasted.py does not show by whole texts."""

import pytest

from tooltray.entries.pasted_names import guess_name


@pytest.mark.parametrize("words", [["sudo"], [""]])
def test_a_command_that_names_nothing_is_called_server(words: list[str]) -> None:
    assert guess_name(words) == "server"


@pytest.mark.parametrize(("package", "name"), [("@scope/mcp-server-files@1.2", "files"), ("@acme/mcp", "acme"), ("mcp", "mcp")])
def test_a_package_is_called_by_what_it_is_about(package: str, name: str) -> None:
    assert guess_name(["npx", "-y", package]) == name


def test_a_version_behind_two_signs_is_no_variable() -> None:
    assert guess_name(["uvx", "mcp-server-time==1.2"]) == "time"

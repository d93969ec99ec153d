"""registries/packages.py"""

from typing import Any

import pytest

from tooltray.registries.packages import SDK, command_name, is_downloaded, is_python, package_of, probed_packages
from tooltray.settings.server_config import MCPServerConfig
from tooltray.settings.settings import read_entry


def server(command: str, *args: str, **fields: Any) -> MCPServerConfig:
    return read_entry("s", {"command": command, "args": list(args), **fields})


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("npx", "npx"),
        ("/opt/x/npx", "npx"),
        (r"C:\Program Files\nodejs\npx.cmd", "npx"),
        ("uvx.EXE", "uvx"),
        ("my-npx", "my-npx"),
        ("a", "a"),
    ],
)
def test_a_command_is_known_by_its_bare_name(command: str, name: str) -> None:
    assert command_name(command) == name


def test_only_exact_names_download() -> None:
    assert [is_downloaded(server(each)) for each in ("npx", "uvx", "bunx", "npx2", "mynpx", "node", "/x/npm/server")] == [True] * 3 + [
        False
    ] * 4
    assert [is_python(server(each)) for each in ("uvx", "pip", "npx")] == [True, True, False]
    assert not is_downloaded(read_entry("far", {"url": "https://a.example/"}))
    assert not is_python(read_entry("far", {"url": "https://a.example/"}))


@pytest.mark.parametrize(
    ("args", "package"),
    [
        (["-y", "@scope/name"], "@scope/name"),
        (["name@1.2.3", "--port", "3"], "name"),
        (["--yes", "@scope/name@latest", "/tmp"], "@scope/name"),
        (["-p", "name@1", "bin"], "name"),
        (["--package=@s/n@2", "-c", "x"], "@s/n"),
        (["--registry=https://r.example", "name"], "name"),
        (["--node-options", "--inspect", "name"], ""),
        (["-p"], ""),
        (["-y"], ""),
        ([], ""),
        (["./local"], ""),
        (["."], ""),
        (["github:user/repo"], ""),
        (["user/repo"], ""),
        (["name@npm:other@1"], ""),
        (["https://r.example/a.tgz"], ""),
        (["Name"], ""),
    ],
)
def test_a_package_is_named_where_it_is_plain_to_see(args: list[str], package: str) -> None:
    assert package_of(server("npx", *args)) == package


def test_of_a_server_that_waits_for_a_project_what_it_is_started_with_counts() -> None:
    config = MCPServerConfig(command="npx", args=("a",), startup_args_template=("b", "{project_path}"))
    assert (package_of(config), package_of(config.model_copy(update={"deferred_startup": True}))) == ("a", "b")


def test_only_runners_name_a_package() -> None:
    assert package_of(server("bunx", "name")) == "name"
    assert package_of(server("npm", "exec", "name")) == ""
    assert package_of(server("node", "name")) == ""


def test_a_person_s_packages_are_asked_for_three_at_most() -> None:
    servers = [server("npx", each) for each in ("a", "a", SDK, "b", "c", "d")]
    assert probed_packages(servers, scopes_elsewhere=(), may_name_own=True) == (SDK, "a", "b", "c")


def test_nobody_hears_of_packages_that_come_from_elsewhere_or_of_servers_that_are_off() -> None:
    servers = [server("npx", "@company/secret"), server("npx", "off", disable=True), server("npx", "@open/x")]
    assert probed_packages(servers, scopes_elsewhere={"@company"}, may_name_own=True) == (SDK, "@open/x")
    assert probed_packages(servers, scopes_elsewhere=(), may_name_own=False) == (SDK,)

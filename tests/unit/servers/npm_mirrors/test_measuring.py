"""What is requested of registries, how answers are judged, and what is kept."""

import logging
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.snapshots.hub import RegistryMeasurement
from tooltray.servers.launch.npm_config import MIRROR, NPM, SETTINGS, Answer, Registry
from tooltray.servers.npm_mirrors.measuring import (
    MAX_FILE_BYTES,
    SDK,
    Measured,
    RegistryCache,
    is_downloaded,
    is_older,
    is_python,
    judged,
    measurement,
    package_of,
    probed_packages,
)

GOOD = RegistryMeasurement("https://a.example/", "A", "mirror", "Here", 12.5)
OLD = RegistryMeasurement("https://b.example/", "B", "mirror", "", 2.5, "its copy is old")
SILENT = RegistryMeasurement("https://c.example/", "C", "mirror", "", None, "no answer")
MEASURED = Measured(123.5, (GOOD, OLD, SILENT), ("https://a.example/",), ("https://a.example/",), may_be_mirror=False)


def server(command: str, *args: str, **fields: Any) -> MCPServerConfig:
    return read_entry("s", {"command": command, "args": list(args), **fields})


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


def answer(name: str, ms: float | None = 10.0, *, origin: str = MIRROR, problem: str = "", **latest: str) -> Answer:
    return Answer(
        Registry(f"https://u:p@{name}.example/", name, origin, "Here"), ms, problem, latest or ({} if problem else {"sdk": "1.0.0"})
    )


def names(answers: list[Answer]) -> list[tuple[str, str]]:
    return [(each.registry.name, each.problem) for each in answers]


def test_the_fastest_good_answer_comes_first_and_failures_come_last() -> None:
    answers = [answer("silent", None, problem="no"), answer("slow", 30), answer("quick", 2), answer("npm", 20, origin=NPM)]
    assert names(judged(answers, packages=["sdk"])) == [("quick", ""), ("npm", ""), ("slow", ""), ("silent", "no")]


def test_a_mirror_with_an_old_copy_loses_although_it_is_faster() -> None:
    answers = [answer("old", 1, sdk="1.9.0"), answer("new", 9, sdk="2.0.0"), answer("npm", 20, origin=NPM, sdk="1.10.0")]
    found = judged(answers, packages=["sdk"])
    assert names(found) == [("new", ""), ("npm", ""), ("old", "its copy of sdk is old: 1.9.0, and npm has 1.10.0")]
    assert found[-1].milliseconds == 1


def test_without_npm_s_own_answer_nobody_is_old() -> None:
    answers = [answer("a", 1, sdk="1.0.0"), answer("npm", None, origin=NPM, problem="no")]
    assert names(judged(answers, packages=["sdk"])) == [("a", ""), ("npm", "no")]


def test_a_registry_that_lacks_what_another_has_loses() -> None:
    answers = [answer("lacks", 1, sdk="1.0.0"), answer("has", 9, sdk="1.0.0", mine="1.0.0")]
    assert names(judged(answers, packages=["sdk", "mine"])) == [("has", ""), ("lacks", "it does not have mine")]


def test_a_package_that_nobody_has_is_nobody_s_fault() -> None:
    assert names(judged([answer("a", sdk="1.0.0")], packages=["sdk", "mistyped"])) == [("a", "")]


def test_a_registry_without_any_of_the_packages_is_none() -> None:
    nothing = Answer(Registry("https://x.example/", "x", SETTINGS), 1.0)
    assert names(judged([nothing], packages=["sdk"])) == [("x", "it does not have sdk")]


def test_people_see_a_measurement_without_a_password() -> None:
    assert measurement(answer("a", 5, problem="p")) == RegistryMeasurement("https://a.example/", "a", MIRROR, "Here", 5, "p")


VERSIONS = [
    "0.9.9",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "1.0.10",
    "2.0.0",
]


@given(st.integers(0, len(VERSIONS) - 1), st.integers(0, len(VERSIONS) - 1))
def test_versions_are_in_npm_s_order(first: int, second: int) -> None:
    assert is_older(VERSIONS[first], VERSIONS[second]) == (first < second)


@pytest.mark.parametrize("what", ["", "latest", "1.0", "1.0.0.0"])
def test_of_what_is_no_version_nobody_knows(what: str) -> None:
    assert not is_older(what, "9.9.9")
    assert not is_older("0.0.1", what)


def test_a_build_s_name_does_not_count() -> None:
    assert not is_older("1.0.0+a", "1.0.0+b")
    assert is_older("v1.0.0+a", "1.0.1")


@given(st.text(), st.text())
def test_no_version_of_a_stranger_breaks_it(ours: str, theirs: str) -> None:
    assert not (is_older(ours, theirs) and is_older(theirs, ours))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "registries.json"


def test_what_answered_is_known_after_a_restart_and_what_did_not_is_not(path: Path) -> None:
    RegistryCache(path).save(MEASURED)
    assert RegistryCache(path).known == Measured(123.5, (GOOD, OLD), MEASURED.candidates, MEASURED.python, False)


def test_a_round_succeeds_if_any_registry_can_be_used() -> None:
    assert MEASURED.is_success
    assert not Measured(1.0, (OLD, SILENT)).is_success


def test_at_first_nothing_is_known(path: Path) -> None:
    assert RegistryCache(path).known is None


@pytest.mark.parametrize(
    "content",
    [
        *("", "{", "[]", '{"at": "x"}', '{"at": 1, "measurements": [{"url": 1}]}'),
        *('{"at": 1e300, "measurements": []}', '{"at": -1, "measurements": []}'),
        *('{"x": ' + "[" * 100_000, '{"at": 1, "measurements": []' + " " * MAX_FILE_BYTES + "}"),
    ],
    ids=lambda content: content[:20],
)
def test_a_file_that_cannot_be_read_is_as_good_as_none(path: Path, content: str) -> None:
    path.write_text(content)
    assert RegistryCache(path).known is None


def test_what_is_forgotten_is_gone_also_twice(path: Path) -> None:
    cache = RegistryCache(path)
    cache.save(MEASURED)
    cache.forget()
    cache.forget()
    assert RegistryCache(path).known is None


def test_a_disk_that_refuses_costs_a_measurement_and_no_more(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="tooltray")
    cache = RegistryCache(tmp_path / "nowhere" / "registries.json")
    cache.save(MEASURED)
    assert "could not be saved" in caplog.text
    (tmp_path / "folder").mkdir()
    RegistryCache(tmp_path / "folder").forget()
    assert "could not be deleted" in caplog.text

import base64
import json
import os
import sys
from pathlib import Path

import psutil
import pytest
from tests.end2end.processes import wait_until

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.programs import resource
from tooltray.servers.launch.npm_config import (
    CLOCK_SLACK_S,
    HEAD_BYTES,
    MIRROR,
    NpmConfiguration,
    Registry,
    failed_script,
    fetch_in_words,
    has_password,
    host_of,
    newest_log,
    normalised,
    own_registry,
    progress_variables,
    read_configuration,
    read_mirrors,
)

MINE = "https://mine.example/npm/"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (" https://r.example ", "https://r.example/"),
        ("HTTPS://R.Example/npm//", "https://r.example/npm/"),
        ("http://127.0.0.1:4873", "http://127.0.0.1:4873/"),
        ("https://User:Pass@R.example/a/B", "https://User:Pass@r.example/a/B/"),
        ("https://[::1]:80/", "https://[::1]:80/"),
    ],
)
def test_an_address_has_one_spelling(given: str, kept: str) -> None:
    assert normalised(given) == kept
    assert normalised(kept) == kept


NO_HOSTS = [
    "",
    "r.example",
    "ftp://r.example/",
    "https://",
    "https:///x",
    "https://r.example:port/",
    "https://[::1/",
    "https://r.example:0/",
]
NO_REGISTRIES = [
    "https://r.example/a b",
    "https://r.example/\x1b[2J",
    "https://r.example/?a=b",
    "https://r.example/#a",
    f"https://r/{'x' * 3000}",
]


@pytest.mark.parametrize("given", [*NO_HOSTS, *NO_REGISTRIES])
def test_what_is_no_address_of_a_registry_is_refused(given: str) -> None:
    with pytest.raises(TooltrayError, match="this is not the address of an npm registry"):
        normalised(given)


def test_an_error_repeats_no_password() -> None:
    with pytest.raises(TooltrayError) as caught:
        normalised("https://me:hunter2@r.example/?x")
    assert "hunter2" not in str(caught.value)


def test_nobody_sees_a_password() -> None:
    registry = Registry("https://me:hunter2@r.example/", "R", MIRROR)
    assert registry.shown == "https://r.example/"
    assert "hunter2" not in repr(registry)
    assert (has_password(registry.url), has_password(registry.shown)) == (True, False)
    assert host_of("https://me:hunter2@r.example:8/x/") == "r.example:8"


def test_mirrors_are_read_as_they_stand_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    mirror = {"name": "M", "url": "https://m.example", "region": "Here", "pypi": "https://p.example/simple/"}
    path.write_text(json.dumps({"registries": [mirror]}))
    assert read_mirrors(path) == (Registry("https://m.example/", "M", MIRROR, "Here", "https://p.example/simple/"),)


def test_the_mirrors_that_come_with_tooltray_are_encrypted_named_and_all_different() -> None:
    mirrors = read_mirrors(resource("npm-registries.json"))
    addresses = [address for each in mirrors for address in (each.url, each.pypi) if address]
    assert mirrors
    assert all(address.startswith("https://") and address.endswith("/") for address in addresses)
    assert len(set(addresses)) == len(addresses)
    assert all(each.name and each.region for each in mirrors)


class Npm:
    """A person's folder, and a program called npm."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.environ = {"HOME": str(folder), "PATH": str(self.bin)}
        self.rc = folder / ".npmrc"

    def installed(self, script: str) -> None:
        npm = self.bin / "npm"
        npm.write_text(f"#!{sys.executable}\n{script}")
        npm.chmod(0o755)

    def says(self, registry: str, machine: str = "") -> None:
        """What npm answers, and what the machine's npmrc has."""
        (self.folder / "machine").write_text(machine)
        output = f"registry={registry}\nglobalconfig={self.folder / 'machine'}"
        quiet = "os.environ['npm_config_update_notifier'] == 'false'"
        self.installed(f"import os, sys; assert sys.argv[1:3] == ['config', 'get'] and {quiet}; print({output!r})")

    async def read(self) -> NpmConfiguration:
        return await read_configuration(self.environ, str(self.folder))


@pytest.fixture
def npm(tmp_path: Path) -> Npm:
    return Npm(tmp_path)


@pytest.mark.posix
async def test_npm_s_own_registry_is_asked_of_npm(npm: Npm) -> None:
    npm.says("https://default.example")
    found = await npm.read()
    assert (found.registry, found.is_chosen) == ("https://default.example/", False)


@pytest.mark.posix
async def test_a_registry_of_the_machine_s_npmrc_was_chosen_by_somebody(npm: Npm) -> None:
    npm.says(MINE, machine=f"registry={MINE}\n//mine.example/npm/:_authToken=machine")
    found = await npm.read()
    assert (found.registry, found.is_chosen) == (MINE, True)
    assert found.authorization(MINE) == "Bearer machine"


async def test_what_the_person_s_npmrc_has_needs_no_npm(npm: Npm) -> None:
    npm.rc.write_text(f"; mine\n# too\n[section]\n registry = {MINE} \n@company:registry=https://c.example/\n//c.example/:_authToken=t\n")
    found = await npm.read()
    assert (found.registry, found.is_chosen, found.scopes_elsewhere) == (MINE, True, {"@company"})


async def test_the_environment_goes_before_npmrc(npm: Npm) -> None:
    npm.rc.write_text(f"registry={MINE}")
    npm.environ["NPM_CONFIG_REGISTRY"] = "https://env.example"
    assert (await npm.read()).registry == own_registry(npm.environ) == "https://env.example/"


async def test_npmrc_may_be_elsewhere(npm: Npm) -> None:
    (npm.folder / "other").write_text(f"registry='{MINE}'")
    npm.environ["npm_config_userconfig"] = str(npm.folder / "other")
    assert own_registry(npm.environ) == MINE


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (f'"{MINE}"', MINE),
        ('"half', ""),
        ("https://${HOST}/", "https://h.example/"),
        ("https://h.example/${NONE?}", "https://h.example/"),
        ("https://${NONE}/", "https://${none}/"),
        ("https://h.example/?q", ""),
        ("null", ""),
    ],
)
def test_values_of_npmrc_are_read_as_npm_reads_them(npm: Npm, written: str, read: str) -> None:
    npm.rc.write_text(f"registry={written}\nno pair\n")
    assert own_registry({**npm.environ, "HOST": "h.example"}) == read


async def test_without_npm_and_npmrc_nothing_is_known(npm: Npm) -> None:
    assert await npm.read() == NpmConfiguration()


@pytest.mark.parametrize("script", ["raise SystemExit(1)", "print('welcome!')", "print('registry=undefined')"])
async def test_an_npm_that_says_nothing_useful_is_as_good_as_none(npm: Npm, script: str) -> None:
    npm.installed(script)
    assert (await npm.read()).registry == ""


async def test_an_npm_that_cannot_be_run_is_as_good_as_none(npm: Npm) -> None:
    npm.installed("")
    (npm.bin / "npm").write_text("#!/no/such/interpreter\n")
    assert (await npm.read()).registry == ""


async def test_an_npm_that_hangs_is_ended_with_all_it_started(npm: Npm) -> None:
    npm.environ["MARK_OF_THIS_TEST"] = str(npm.folder)
    child = f"{sys.executable} -c 'import time; time.sleep(600)' &"
    npm.installed(f"import os, time; os.system({child!r}); time.sleep(600)")
    assert (await read_configuration(npm.environ, str(npm.folder), timeout_s=1.0)).registry == ""
    wait_until(lambda: not _marked(str(npm.folder)), "what npm has started to end")


def _marked(mark: str) -> list[int]:
    """The processes that have the mark in their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and process.environ().get("MARK_OF_THIS_TEST") == mark:
                found.append(process.pid)
        except psutil.Error:  # gone, or another person's
            pass
    return found


def test_npm_signs_in_with_the_entry_of_the_longest_path() -> None:
    entries = {"//h.example/:_authToken": "host", "//h.example/a/:_auth": "cGF0aA==", "//p.example:8:username": "me"}
    entries |= {"//p.example:8:_password": base64.b64encode(b"pw").decode(), "//q.example/:username": "me", "//q.example/:_password": "%"}
    configuration = NpmConfiguration(entries=entries)
    assert configuration.authorization("https://h.example/") == "Bearer host"
    assert configuration.authorization("https://h.example/b/c/") == "Bearer host"
    assert configuration.authorization("https://u:p@h.example/a/b/") == "Basic cGF0aA=="
    assert configuration.authorization("https://p.example:8/x/") == f"Basic {base64.b64encode(b'me:pw').decode()}"
    assert configuration.authorization("https://q.example/") == ""
    assert configuration.authorization("https://h.example.evil.example/") == ""


def test_no_token_is_in_a_repr() -> None:
    configuration = NpmConfiguration("https://u:hunter2@h.example/", entries={"//h.example/:_authToken": "hunter2"})
    assert "hunter2" not in repr(configuration)


NOW = 1_800_000_000.0


def written(path: Path, *, package: str = "pkg", at: float = NOW) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'0 verbose cli\n1 verbose argv "exec" "--yes" "--" "{package}"\n')
    os.utime(path, (at, at))
    return str(path)


@pytest.mark.posix
@pytest.mark.parametrize(
    ("place", "variables"),
    [
        (".npm/_logs", {}),
        ("cache/_logs", {"npm_config_cache": "{home}/cache"}),
        ("logs", {"NPM_CONFIG_LOGS_DIR": "{home}/logs"}),
        ("local/npm-cache/_logs", {"LOCALAPPDATA": "{home}/local"}),
    ],
)
def test_the_newest_log_of_this_run_is_found_where_npm_is_told_to_keep_it(tmp_path: Path, place: str, variables: dict[str, str]) -> None:
    env = {"HOME": str(tmp_path)} | {name: value.format(home=tmp_path) for name, value in variables.items()}
    written(tmp_path / place / "older-debug-0.log", at=NOW - 1)
    newest = written(tmp_path / place / "b-debug-0.log", at=NOW + 5)
    written(tmp_path / place / "other-debug-0.log", package="another", at=NOW + 9)
    assert newest_log("/usr/bin/npx", ["-y", "pkg"], env, since=NOW) == newest


def test_npmrc_counts_too(tmp_path: Path) -> None:
    (tmp_path / ".npmrc").write_text("cache = ~/elsewhere\n")
    log = written(tmp_path / "elsewhere" / "_logs" / "a.log")
    assert newest_log("npm", ["exec", "pkg"], {"HOME": str(tmp_path)}, since=NOW) == log


def test_a_log_of_an_earlier_run_is_not_this_ones(tmp_path: Path) -> None:
    log = written(tmp_path / ".npm" / "_logs" / "a.log", at=NOW)
    written(tmp_path / ".npm" / "_logs" / "note.txt")
    for since, found in ((NOW + CLOCK_SLACK_S, log), (NOW + CLOCK_SLACK_S + 1, "")):
        assert newest_log("npx", ["pkg"], {"HOME": str(tmp_path)}, since=since) == found


def test_a_log_that_cannot_be_read_or_names_the_package_too_late_is_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / ".npm" / "_logs"
    late = Path(written(folder / "a.log"))
    late.write_text("x" * HEAD_BYTES + "pkg")
    os.utime(late, (NOW, NOW))
    (folder / "b.log").mkdir()
    os.utime(folder / "b.log", (NOW, NOW))
    assert newest_log("npx", ["pkg"], {"HOME": str(tmp_path)}, since=NOW) == ""


@pytest.mark.parametrize(("command", "args", "env"), [("uvx", ["pkg"], {}), ("npx", ["-y"], {}), ("npx", ["pkg"], {"HOME": ""})])
def test_others_have_none(tmp_path: Path, command: str, args: list[str], env: dict[str, str]) -> None:
    written(tmp_path / ".npm" / "_logs" / "a.log")
    assert newest_log(command, args, {"HOME": str(tmp_path)} | env, since=NOW) == ""


def test_a_folder_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert newest_log("npx", ["pkg"], {"HOME": str(tmp_path)}, since=NOW) == ""


def test_a_script_of_an_installation_that_failed_is_found_at_the_end_of_its_log(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    run = "777 info run puppeteer@23.11.1 postinstall node_modules/puppeteer node install.mjs\n"
    log.write_text(
        "0 verbose cli\n" * 10_000 + run + "778 info run puppeteer@23.11.1 postinstall { code: 1, signal: null }\n789 verbose exit 1\n"
    )
    assert failed_script(str(log)) == "postinstall of puppeteer@23.11.1"
    log.write_text(run + "778 info run puppeteer@23.11.1 postinstall { code: 0, signal: null }\n")
    assert failed_script(str(log)) == ""
    log.write_text("1 info run a@1 install { code: 7, signal: null }\n2 info run b@1 postinstall { code: 1, signal: null }\n")
    assert failed_script(str(log)) == "postinstall of b@1"
    log.write_text("1 info run a@1 install { code: 7, signal: null }\n")
    assert failed_script(str(log)) == "install of a@1"
    assert failed_script(str(tmp_path / "none.log")) == ""


# what npm says of its fetches


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("npm http fetch GET 200 https://r.example/@a%2fb 220ms (cache miss)", "Fetched @a/b"),
        ("npm http fetch GET 200 https://r.example/ajv/-/ajv-8.17.1.tgz 9ms (cache miss)", "Fetched ajv-8.17.1"),
        ("npm http cache https://r.example/zod 3ms (cache hit)", "Fetched zod"),
        ("npm http cache a@https://r.example/a/-/a-2.1.0.tgz 0ms (cache hit)", "Fetched a-2.1.0"),
        (
            "npm http fetch GET https://me:pw@r.example:80/a attempt 1 failed with E1",
            "npm cannot reach r.example:80 (E1), attempt 1",
        ),
        ("npm warn deprecated a@1", ""),
        ("npm http", ""),
    ],
)
def test_a_fetch_is_told_in_words(line: str, words: str) -> None:
    assert fetch_in_words(line) == words


@pytest.mark.parametrize(
    ("command", "environ", "is_asked"),
    [
        ("npx", {}, True),
        ("/usr/bin/npm", {}, True),
        ("uvx", {}, False),
        ("npx", {"NPM_CONFIG_LOGLEVEL": "silent"}, False),
    ],
)
def test_npm_is_asked_to_tell_of_its_fetches_unless_the_user_has_chosen(command: str, environ: dict[str, str], is_asked: bool) -> None:
    assert progress_variables(command, environ) == ({"npm_config_loglevel": "http"} if is_asked else {})

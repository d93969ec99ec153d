"""direct_starts.py: when the program that npx would run is certain, and that npx stays in every other case."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.npm_cache import PACKAGE, SPEC, VERSION, install_node, program, unpack, write_json

from tooltray.servers.launch import direct_starts
from tooltray.servers.launch.direct_starts import NpmSettings, npx_program, read_npm_settings
from tooltray.servers.launch.program_launch import DirectProgram, Launch

pytestmark = pytest.mark.posix  # programs that are scripts, by their mode; tests/windows has PATHEXT and .cmd


class NpmMachine:
    def __init__(self, root: Path) -> None:
        self.home, self.prefix = root / "home", root / "node"
        self.home.mkdir()
        self.bin = install_node(self.prefix)
        self.npm = self.prefix / "lib" / "node_modules" / "npm"

    def read(self, npx: Path | None = None, **environ: str) -> NpmSettings | None:
        environ = {"HOME": str(self.home), **environ}
        return read_npm_settings(environ, npx=str(npx or self.bin / "npx"), node=str(self.bin / "node"))

    def settings(self, *, cache: Path | None = None, prefix: Path | None = None) -> NpmSettings:
        return NpmSettings(self.npm, cache or self.home / ".npm", prefix or self.prefix)


@pytest.fixture
def npm_machine(tmp_path: Path) -> NpmMachine:
    return NpmMachine(tmp_path)


def test_without_settings_the_cache_is_at_home_and_the_rest_beside_node(npm_machine: NpmMachine) -> None:
    assert npm_machine.read() == npm_machine.settings()


def test_settings_that_change_nothing_of_what_is_run_are_passed_over(npm_machine: NpmMachine) -> None:
    (npm_machine.home / ".npmrc").write_text(
        "; mine\n# also\n\n[section]\naudit = false\n//host/:_authToken=secret\n@a:registry=http://x\n=\n"
    )
    (npm_machine.npm / "npmrc").write_text("fund=false\n")
    assert npm_machine.read(npm_config_registry="http://127.0.0.1:1/", NPM_CONFIG_LOGLEVEL="silent") == npm_machine.settings()


@pytest.mark.parametrize("place", ["user", "builtin", "global"])
@pytest.mark.parametrize("line", ["script-shell=/bin/zsh", "node-options = --inspect", "package[]=x", "min-release-age=7"])
def test_a_setting_that_changes_what_is_run_leaves_it_to_npx(npm_machine: NpmMachine, place: str, line: str) -> None:
    home, npm, prefix = npm_machine.home, npm_machine.npm, npm_machine.prefix
    file = {"user": home / ".npmrc", "builtin": npm / "npmrc", "global": prefix / "etc" / "npmrc"}[place]
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"audit=false\n{line}\n")
    assert npm_machine.read() is None


@pytest.mark.parametrize("name", ["npm_config_script_shell", "NPM_CONFIG_NODE_OPTIONS", "npm_config_userconfig", "npm_config_before"])
def test_a_variable_that_changes_what_is_run_leaves_it_to_npx_and_an_empty_one_does_not(npm_machine: NpmMachine, name: str) -> None:
    assert npm_machine.read(**{name: "x"}) is None
    assert npm_machine.read(**{name: ""}) == npm_machine.settings()


def test_the_cache_may_be_elsewhere_and_variables_go_before_files(npm_machine: NpmMachine) -> None:
    (npm_machine.home / ".npmrc").write_text('cache="/from/file"\n')
    assert npm_machine.read() == npm_machine.settings(cache=Path("/from/file"))
    assert npm_machine.read(npm_config_cache="~/c") == npm_machine.settings(cache=npm_machine.home / "c")
    (npm_machine.home / ".npmrc").unlink()
    (npm_machine.prefix / "etc").mkdir()
    (npm_machine.prefix / "etc" / "npmrc").write_text("cache = /from/global\n")
    assert npm_machine.read() == npm_machine.settings(cache=Path("/from/global"))


def test_what_is_installed_for_all_may_be_elsewhere(npm_machine: NpmMachine, tmp_path: Path) -> None:
    assert npm_machine.read(PREFIX="/own") == npm_machine.settings(prefix=Path("/own"))
    (npm_machine.npm / "npmrc").write_text("prefix=/builtin\n")
    assert npm_machine.read() == npm_machine.settings(prefix=Path("/builtin"))
    (npm_machine.home / ".npmrc").write_text("prefix=~/global\n")
    assert npm_machine.read(PREFIX="/own") == npm_machine.settings(prefix=npm_machine.home / "global")


@pytest.mark.parametrize(
    "line", ["cache=${HOME}/c", "prefix=$X", "cache=relative", "prefix=relative", "prefix=/own ; mine", "cache=/c#mine"]
)
def test_a_folder_that_is_not_plain_leaves_it_to_npx(npm_machine: NpmMachine, line: str) -> None:
    (npm_machine.home / ".npmrc").write_text(line)
    assert npm_machine.read() is None


def test_a_stand_in_of_a_version_manager_is_no_npx(npm_machine: NpmMachine, tmp_path: Path) -> None:
    assert npm_machine.read(program(tmp_path / "shims" / "npx")) is None
    assert npm_machine.read(program(tmp_path / "odd" / "bin" / "npx-cli.js")) is None


def test_without_a_home_or_with_another_root_it_is_left_to_npx(npm_machine: NpmMachine) -> None:
    assert npm_machine.read(HOME="") is None
    assert npm_machine.read(DESTDIR="/image") is None


class Machine:
    """A person's machine with Node.js and a package in npm's cache."""

    def __init__(self, root: Path) -> None:
        self.home, self.prefix = root / "home", root / "node"
        self.bin = install_node(self.prefix)
        self.modules = unpack(self.home / ".npm") / "node_modules"
        self.work = root / "work"
        self.work.mkdir()

    def find(self, *args: str, command: str = "npx", cwd: Path | None = None, **environ: str) -> DirectProgram | None:
        env = {"HOME": str(self.home), "PATH": str(self.bin), **environ}
        return npx_program(Launch(command, args or ("-y", SPEC), env, str(cwd or self.work)))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_an_exact_version_that_is_unpacked_is_run_by_node_itself(machine: Machine) -> None:
    found = machine.find("-y", SPEC, "--root", "/data")
    assert found is not None
    assert found.program == str(machine.bin / "node")
    assert found.args == (str(machine.modules / ".bin" / "server-toy"), "--root", "/data")


def test_it_is_told_what_npx_would_tell_it(machine: Machine) -> None:
    found = machine.find()
    assert found is not None
    assert found.env == {
        "PATH": f"{machine.modules}/.bin:{machine.bin}",
        "PWD": str(machine.work),
        "INIT_CWD": str(machine.work),
        "NODE": str(machine.bin / "node"),
        "npm_command": "exec",
        "npm_config_cache": str(machine.home / ".npm"),
        "npm_config_prefix": str(machine.prefix),
        "npm_execpath": str(machine.prefix / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"),
        "npm_lifecycle_event": "npx",
        "npm_lifecycle_script": "server-toy",
        "npm_node_execpath": str(machine.bin / "node"),
    }


def test_a_folder_that_is_a_link_is_told_as_what_it_leads_to(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(machine.work)
    found = machine.find(cwd=tmp_path / "link")
    assert found is not None
    assert found.env["PWD"] == found.env["INIT_CWD"] == str(machine.work)


@pytest.mark.parametrize(("shell", "saved"), [("dash", 2), ("bash", 1), ("missing", 1)])
def test_npm_is_saved_and_a_shell_that_would_wait(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str, saved: int
) -> None:
    (tmp_path / "sh").symlink_to(tmp_path / shell)
    monkeypatch.setattr(direct_starts, "SHELL", str(tmp_path / "sh"))
    found = machine.find()
    assert found is not None
    assert found.saved_processes == saved


@pytest.mark.parametrize("flags", [[], ["-y"], ["--yes"], ["-q", "-y"], ["--"], ["-y", "--"]])
def test_flags_that_change_nothing_may_stand_before_the_package(machine: Machine, flags: list[str]) -> None:
    found = machine.find(*flags, SPEC, "--", "-y")
    assert found is not None
    assert found.args[1:] == ("--", "-y")


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["-y"],
        ["-p", SPEC, "server-toy"],
        [f"--package={SPEC}", "server-toy"],
        ["-c", SPEC],
        ["--node-options=--inspect", SPEC],
        ["--no-install", SPEC],
        ["-y", "--", "-y", SPEC],
    ],
)
def test_any_other_option_of_npx_is_left_to_npx(machine: Machine, args: list[str]) -> None:
    assert machine.find("-y", *args) is None


@pytest.mark.parametrize(
    "spec",
    [
        PACKAGE,
        *(f"{PACKAGE}@{version}" for version in ("latest", "^1.2.3", "1.2", "v1.2.3", "=1.2.3", "1.2.x", "1.2.3 ", "", "npm:other@1.2.3")),
        *("./server-toy", "/abs/server-toy@1.2.3", "server.tgz", "user/repo", "user/repo#1.2.3", "git+ssh://host/x@1.2.3", "@/x@1.2.3"),
    ],
)
def test_what_is_no_exact_version_is_left_to_npx_which_asks_its_registry(machine: Machine, spec: str) -> None:
    unpack(machine.home / ".npm", spec=spec.replace("\0", ""))
    assert machine.find("-y", spec) is None


@pytest.mark.parametrize("version", ["1.2.4", "1.2.3-beta.1", "1.2.3+build"])
def test_a_version_that_is_not_unpacked_is_left_to_npx(machine: Machine, version: str) -> None:
    assert machine.find("-y", f"{PACKAGE}@{version}") is None


def test_a_package_without_a_scope_and_a_version_before_a_release_are_found_too(machine: Machine) -> None:
    unpack(machine.home / ".npm", spec="toy.js@2.0.0-rc.1", package="toy.js", version="2.0.0-rc.1")
    assert machine.find("-y", "toy.js@2.0.0-rc.1") is not None


# which program of the package


@pytest.mark.parametrize(
    ("bin", "name"),
    [
        ("main.js", "server-toy"),
        ({"other": "main.js"}, "other"),
        ({"server-toy": "main.js", "helper": "help.js"}, "server-toy"),
        ({"alias": "main.js", "second": "main.js"}, "alias"),
    ],
)
def test_the_program_is_the_only_one_or_that_of_the_packages_name(tmp_path: Path, bin: Any, name: str) -> None:
    machine = Machine(tmp_path)
    manifest = machine.modules / PACKAGE / "package.json"
    for each, target in ({"server-toy": bin} if isinstance(bin, str) else bin).items():
        program(machine.modules / PACKAGE / target, "#!/usr/bin/env node\n")
        (machine.modules / ".bin" / each).unlink(missing_ok=True)
        (machine.modules / ".bin" / each).symlink_to(Path("..", PACKAGE, target))
    write_json(manifest, {"name": PACKAGE, "version": VERSION, "bin": bin})
    found = machine.find()
    assert found is not None
    assert found.args == (str(machine.modules / ".bin" / name),)


@pytest.mark.parametrize(
    "bin", [{"a": "a.js", "b": "b.js"}, {}, None, ["dist/index.js"], {"server-toy": 1}, {"../server-toy": "dist/index.js"}]
)
def test_a_package_whose_program_is_not_clear_is_left_to_npx(machine: Machine, bin: Any) -> None:
    write_json(machine.modules / PACKAGE / "package.json", {"name": PACKAGE, "version": VERSION, "bin": bin})
    assert machine.find() is None


def test_a_name_that_leads_out_of_the_folder_of_programs_is_left_to_npx(machine: Machine) -> None:
    write_json(machine.modules / PACKAGE / "package.json", {"name": PACKAGE, "version": VERSION, "bin": {"../server-toy": "dist/index.js"}})
    (machine.modules / "server-toy").symlink_to(Path(PACKAGE, "dist", "index.js"))
    assert machine.find() is None


@pytest.mark.parametrize("first", ["#!/bin/sh\n", "#!/usr/bin/env -S node --inspect\n", "#!/usr/bin/env nodejs\n", "console.log()\n", ""])
def test_a_program_that_is_no_plain_script_for_node_is_left_to_npx(machine: Machine, first: str) -> None:
    program(machine.modules / PACKAGE / "dist" / "index.js", first)
    assert machine.find() is None


def test_a_script_with_the_line_ends_of_windows_is_one(machine: Machine) -> None:
    program(machine.modules / PACKAGE / "dist" / "index.js", "#!/usr/bin/env node\r\n")
    assert machine.find() is not None


@pytest.mark.parametrize("target", ["../other/index.js", "dist/other.js", "/bin/sh", "dist/gone.js"])
def test_a_link_that_leads_to_another_file_or_out_of_the_package_is_left_to_npx(machine: Machine, target: str) -> None:
    program(machine.modules / PACKAGE / ".." / "other" / "index.js", "#!/usr/bin/env node\n")
    program(machine.modules / PACKAGE / "dist" / "other.js", "#!/usr/bin/env node\n")
    link = machine.modules / ".bin" / "server-toy"
    link.unlink()
    link.symlink_to(Path("..", PACKAGE, target))
    assert machine.find() is None
    if target == "../other/index.js":
        write_json(machine.modules / PACKAGE / "package.json", {"name": PACKAGE, "version": VERSION, "bin": target})
        assert machine.find() is None


# what else npm may have left there


@pytest.mark.parametrize(
    ("file", "document"),
    [
        ("../package.json", {"_npx": {"packages": [SPEC, "other"]}}),
        ("../package.json", {"dependencies": {}}),
        ("../package.json", []),
        (".package-lock.json", {"packages": {}}),
        (".package-lock.json", {"packages": {f"node_modules/{PACKAGE}": {"version": "1.2.2"}}}),
        (".package-lock.json", {"packages": {f"node_modules/{PACKAGE}": {"version": VERSION, "link": True}}}),
        (f"{PACKAGE}/package.json", {"name": PACKAGE, "version": "1.2.2", "bin": "dist/index.js"}),
        (f"{PACKAGE}/package.json", {"name": "other", "version": VERSION, "bin": "dist/index.js"}),
    ],
)
def test_a_cache_that_is_not_as_npm_leaves_it_is_left_to_npx(machine: Machine, file: str, document: Any) -> None:
    write_json(machine.modules / file, document)
    assert machine.find() is None


@pytest.mark.parametrize("file", ["../package.json", ".package-lock.json", f"{PACKAGE}/package.json", f"{PACKAGE}/dist/index.js"])
def test_a_cache_that_lacks_something_or_is_broken_is_left_to_npx(machine: Machine, file: str) -> None:
    (machine.modules / file).write_bytes(b"[" * 100_000)
    assert machine.find() is None
    (machine.modules / file).unlink()
    assert machine.find() is None


# what goes before the cache


@pytest.mark.parametrize("name", ["node_modules", "package.json"])
@pytest.mark.parametrize("depth", ["", "a/b"])
def test_in_the_folder_of_a_project_npx_is_left_to_choose(machine: Machine, name: str, depth: str) -> None:
    folder = machine.work / depth
    folder.mkdir(parents=True, exist_ok=True)
    (machine.work / name).mkdir()
    assert machine.find(cwd=folder) is None


def test_settings_of_the_folder_are_left_to_npx_but_those_at_home_are_the_persons(machine: Machine) -> None:
    (machine.home / ".npmrc").touch()
    assert machine.find(cwd=machine.home) is not None
    (machine.work / ".npmrc").touch()
    assert machine.find() is None


@pytest.mark.parametrize("place", [f"lib/node_modules/{PACKAGE}", f"bin/{SPEC}"])
def test_a_package_that_is_installed_for_all_is_left_to_npx_also_as_a_link_to_nowhere(machine: Machine, place: str) -> None:
    link = machine.prefix / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to("/no/such")
    assert machine.find() is None


@pytest.mark.parametrize(
    "change",
    [
        lambda machine: (machine.bin / "npx").unlink(),
        lambda machine: (machine.bin / "node").unlink(),
        lambda machine: (machine.modules / PACKAGE / "dist" / "index.js").chmod(0o644),
        lambda machine: (machine.modules.parent / "concurrency.lock").mkdir(),  # it is being installed
        lambda machine: program(machine.modules / ".bin" / "node"),  # it brings a Node.js of its own
    ],
)
def test_what_is_missing_unfinished_or_special_is_left_to_npx(machine: Machine, change: Callable[[Machine], object]) -> None:
    change(machine)
    assert machine.find() is None


def test_an_npx_by_its_path_counts_like_one_on_the_path(machine: Machine) -> None:
    assert machine.find(command=str(machine.bin / "npx")) is not None


def test_the_lock_is_read_however_many_packages_it_has(machine: Machine) -> None:
    lock = json.loads((machine.modules / ".package-lock.json").read_text())
    lock["packages"] |= {f"node_modules/p{number}": {"version": "1.0.0"} for number in range(5_000)}
    write_json(machine.modules / ".package-lock.json", lock)
    assert machine.find() is not None


def test_nothing_is_changed_on_the_disk(machine: Machine) -> None:
    before = sorted((str(path), os.lstat(path).st_mtime_ns) for path in machine.home.rglob("*"))
    machine.find()
    assert sorted((str(path), os.lstat(path).st_mtime_ns) for path in machine.home.rglob("*")) == before

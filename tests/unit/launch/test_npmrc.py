"""Which of npm's settings decide whether npx may be left out, and where they stand."""

from pathlib import Path

import pytest
from tests.fakes.npm_cache import install_node, program

from tooltray.launch.npmrc import NpmSettings, read_npm_settings


class Machine:
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
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_without_settings_the_cache_is_at_home_and_the_rest_beside_node(machine: Machine) -> None:
    assert machine.read() == machine.settings()


def test_settings_that_change_nothing_of_what_is_run_are_passed_over(machine: Machine) -> None:
    (machine.home / ".npmrc").write_text("; mine\n# also\n\n[section]\naudit = false\n//host/:_authToken=secret\n@a:registry=http://x\n=\n")
    (machine.npm / "npmrc").write_text("fund=false\n")
    assert machine.read(npm_config_registry="http://127.0.0.1:1/", NPM_CONFIG_LOGLEVEL="silent") == machine.settings()


@pytest.mark.parametrize("place", ["user", "builtin", "global"])
@pytest.mark.parametrize("line", ["script-shell=/bin/zsh", "node-options = --inspect", "package[]=x", "min-release-age=7"])
def test_a_setting_that_changes_what_is_run_leaves_it_to_npx(machine: Machine, place: str, line: str) -> None:
    file = {"user": machine.home / ".npmrc", "builtin": machine.npm / "npmrc", "global": machine.prefix / "etc" / "npmrc"}[place]
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"audit=false\n{line}\n")
    assert machine.read() is None


@pytest.mark.parametrize("name", ["npm_config_script_shell", "NPM_CONFIG_NODE_OPTIONS", "npm_config_userconfig", "npm_config_before"])
def test_a_variable_that_changes_what_is_run_leaves_it_to_npx_and_an_empty_one_does_not(machine: Machine, name: str) -> None:
    assert machine.read(**{name: "x"}) is None
    assert machine.read(**{name: ""}) == machine.settings()


def test_the_cache_may_be_elsewhere_and_variables_go_before_files(machine: Machine) -> None:
    (machine.home / ".npmrc").write_text('cache="/from/file"\n')
    assert machine.read() == machine.settings(cache=Path("/from/file"))
    assert machine.read(npm_config_cache="~/c") == machine.settings(cache=machine.home / "c")
    (machine.home / ".npmrc").unlink()
    (machine.prefix / "etc").mkdir()
    (machine.prefix / "etc" / "npmrc").write_text("cache = /from/global\n")
    assert machine.read() == machine.settings(cache=Path("/from/global"))


def test_what_is_installed_for_all_may_be_elsewhere(machine: Machine, tmp_path: Path) -> None:
    assert machine.read(PREFIX="/own") == machine.settings(prefix=Path("/own"))
    (machine.npm / "npmrc").write_text("prefix=/builtin\n")
    assert machine.read() == machine.settings(prefix=Path("/builtin"))
    (machine.home / ".npmrc").write_text("prefix=~/global\n")
    assert machine.read(PREFIX="/own") == machine.settings(prefix=machine.home / "global")


@pytest.mark.parametrize(
    "line", ["cache=${HOME}/c", "prefix=$X", "cache=relative", "prefix=relative", "prefix=/own ; mine", "cache=/c#mine"]
)
def test_a_folder_that_is_not_plain_leaves_it_to_npx(machine: Machine, line: str) -> None:
    (machine.home / ".npmrc").write_text(line)
    assert machine.read() is None


def test_a_stand_in_of_a_version_manager_is_no_npx(machine: Machine, tmp_path: Path) -> None:
    assert machine.read(program(tmp_path / "shims" / "npx")) is None
    assert machine.read(program(tmp_path / "odd" / "bin" / "npx-cli.js")) is None


def test_without_a_home_or_with_another_root_it_is_left_to_npx(machine: Machine) -> None:
    assert machine.read(HOME="") is None
    assert machine.read(DESTDIR="/image") is None

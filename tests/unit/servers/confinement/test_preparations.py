"""preparations.py: what is installed before a server without its registry starts, and what is run then."""

import json
from pathlib import Path

import pytest

from tooltray.servers.confinement.confined_starts import Preparation, preparation
from tooltray.servers.launch.program_launch import CannotStart


def ahead_of(tmp_path: Path, *words: str) -> Preparation:
    found = preparation(words[0], words[1:], tmp_path)
    assert found is not None
    return found


def installed(ahead: Preparation, package: str, bins: object, *, program: str) -> Path:
    """As npm leaves it."""
    ahead.begin()
    modules = ahead.folder / "node_modules"
    (modules / package).mkdir(parents=True)
    (ahead.folder / "package.json").write_text(json.dumps({"dependencies": {package: "^1"}}))
    (modules / package / "package.json").write_text(json.dumps({"name": package, "bin": bins}))
    (modules / ".bin").mkdir()
    (modules / package / "x.js").touch()
    (modules / ".bin" / program).symlink_to(modules / package / "x.js")
    return modules / ".bin" / program


@pytest.mark.parametrize(
    ("words", "specs", "rest"),
    [
        (("npx", "-y", "@a/notes@1.2", "--stdio", "/x"), ("@a/notes@1.2",), ("--stdio", "/x")),
        (("/usr/bin/npx", "--yes", "--", "notes"), ("notes",), ()),
        (("npm", "exec", "-y", "notes", "--", "a"), ("notes",), ("--", "a")),
        (("npx", "-p", "a", "--package=b", "run", "x"), ("a", "b"), ("x",)),
    ],
)
def test_a_package_of_npx_is_installed_into_a_folder_of_its_own(
    tmp_path: Path, words: tuple[str, ...], specs: tuple[str, ...], rest: object
) -> None:
    ahead = ahead_of(tmp_path, *words)
    assert (ahead.command, ahead.args[:3], ahead.rest) == ("npm", ("install", "--prefix", str(ahead.folder)), rest)
    assert ahead.args[ahead.args.index("--") + 1 :] == specs
    assert ahead.folder.parent == tmp_path
    assert ahead.env["npm_config_cache"].startswith(str(tmp_path))


@pytest.mark.parametrize(
    ("words", "args", "program"),
    [
        (("uvx", "notes", "x"), ("notes",), "notes"),
        (("uvx", "notes@1.2"), ("notes@1.2",), "notes"),
        (
            ("uvx", "--from", "big[all]", "--with=extra", "-p", "3.12", "notes"),
            ("--python", "3.12", "--with", "extra", "--", "big[all]"),
            "notes",
        ),
        (("uv", "tool", "run", "-q", "notes"), ("notes",), "notes"),
    ],
)
def test_a_package_of_uvx_is_installed_as_a_tool(tmp_path: Path, words: tuple[str, ...], args: tuple[str, ...], program: str) -> None:
    ahead = ahead_of(tmp_path, *words)
    assert (ahead.command, ahead.args[-len(args) :]) == ("uv", args)
    ahead.begin()
    (ahead.folder / "bin").mkdir()
    (ahead.folder / "tools").mkdir()
    (ahead.folder / "tools" / program).touch()
    (ahead.folder / "bin" / program).symlink_to(ahead.folder / "tools" / program)
    assert ahead.program() == str(ahead.folder / "bin" / program)


@pytest.mark.parametrize(
    "words",
    [
        ("node", "x.js"),
        ("npx",),
        ("npx", "--call", "x"),
        ("npx", "-p"),
        ("uvx", "--index-url", "x", "y"),
        ("uvx", "git+https://x"),
        ("uvx", "./x"),
    ],
)
def test_what_is_started_otherwise_is_left_to_itself(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert preparation(words[0], words[1:], tmp_path) is None


@pytest.mark.parametrize(("bins", "program"), [("x.js", "notes"), ({"serve": "x.js"}, "serve")])
def test_the_program_of_a_package_is_found_and_it_is_installed_once(tmp_path: Path, bins: object, program: str) -> None:
    ahead = ahead_of(tmp_path, "npx", "-y", "@a/notes")
    assert not ahead.is_done
    wanted = installed(ahead, "@a/notes", bins, program=program)
    assert ahead.program() == str(wanted)
    assert ahead_of(tmp_path, "npx", "@a/notes", "other").is_done
    ahead.begin()
    assert not ahead.is_done


def test_a_program_is_named_behind_its_packages(tmp_path: Path) -> None:
    ahead = ahead_of(tmp_path, "npx", "-p", "notes", "run")
    wanted = installed(ahead, "notes", {"run": "x.js", "other": "y.js"}, program="run")
    assert ahead.program() == str(wanted)


def test_a_package_without_a_program_or_with_one_elsewhere_does_not_start(tmp_path: Path) -> None:
    ahead = ahead_of(tmp_path, "npx", "notes")
    ahead.begin()
    with pytest.raises(CannotStart, match="no program to run"):
        ahead.program()
    (ahead.folder / "package.json").write_text("[]")
    with pytest.raises(CannotStart, match="no program to run"):
        ahead.program()
    program = installed(ahead, "notes", "x.js", program="notes")
    program.unlink()
    (tmp_path / "elsewhere").touch()
    program.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CannotStart, match="no program to run"):
        ahead.program()

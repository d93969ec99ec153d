"""package_installs.py"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.modes import has_mode

from tooltray.servers.confinement.package_installs import Preparation, preparation
from tooltray.servers.confinement.shared_files import SMALLEST_BYTES, SharedFiles
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


def test_other_packages_are_in_another_folder(tmp_path: Path) -> None:
    lines = "npx a", "npx a@1", "npx -p a -p b x", "uvx a", "uvx a@1", "uvx --from a[x] a", "uvx --with b a", "uvx -p 3.12 a"
    assert len({ahead_of(tmp_path, *line.split()).folder for line in lines}) == len(lines)


@pytest.mark.parametrize(
    ("words", "specs", "rest"),
    [
        (("npx", "-y", "@a/notes@1.2", "--stdio", "/x"), ("@a/notes@1.2",), ("--stdio", "/x")),
        (("/usr/bin/npx", "--yes", "--", "notes"), ("notes",), ()),
        (("npm", "exec", "-y", "notes", "--", "a"), ("notes",), ("--", "a")),
        (("npm", "x", "notes", "a"), ("notes",), ("a",)),
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
    assert ahead.env["npm_config_cache"].startswith(str(ahead.temporary))


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
        (("uv", "tool", "run", "notes", "-q"), ("notes",), "notes"),
    ],
)
def test_a_package_of_uvx_is_installed_as_a_tool(tmp_path: Path, words: tuple[str, ...], args: tuple[str, ...], program: str) -> None:
    ahead = ahead_of(tmp_path, *words)
    assert (ahead.command, ahead.args[-len(args) :]) == ("uv", args)
    ahead.begin()
    assert has_mode(ahead.folder, 0o700)
    (ahead.folder / "bin").mkdir()
    (ahead.folder / "tools").mkdir()
    (ahead.folder / "tools" / program).touch()
    (ahead.folder / "bin" / program).symlink_to(ahead.folder / "tools" / program)
    assert ahead.finish(None) == str(ahead.folder / "bin" / program)


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
    assert not ahead.installed()
    wanted = installed(ahead, "@a/notes", bins, program=program)
    assert not ahead.installed(), "it was killed before its end"
    assert ahead.finish(None) == str(wanted)
    assert ahead_of(tmp_path, "npx", "@a/notes", "other").installed() == str(wanted)
    wanted.unlink()
    assert not ahead.installed(), "a part is missing"
    ahead.begin()
    assert not ahead.installed()


def test_what_only_an_installation_needs_goes_with_it(tmp_path: Path) -> None:
    ahead = ahead_of(tmp_path, "npx", "notes")
    wanted = installed(ahead, "notes", "x.js", program="notes")
    Path(ahead.env["npm_config_cache"]).mkdir()
    ahead.finish(None)
    assert sorted(os.listdir(ahead.folder)) == ["installed", "node_modules", "package.json"]
    ahead.temporary.mkdir()  # it was killed before it had deleted this
    (tmp_path / "uv-cache").mkdir()
    assert ahead.installed() == str(wanted)
    assert os.listdir(tmp_path) == [ahead.folder.name]
    assert not ahead.temporary.exists()


def test_a_link_in_place_of_the_mark_leads_nowhere(tmp_path: Path) -> None:
    ahead = ahead_of(tmp_path, "npx", "notes")
    installed(ahead, "notes", "x.js", program="notes")
    (ahead.folder / "installed").symlink_to(tmp_path / "elsewhere")
    ahead.finish(None)
    assert not (tmp_path / "elsewhere").exists()
    assert ahead.installed()


def of_size(*files: Path) -> None:
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{file.name} ".ljust(SMALLEST_BYTES))


def are_shared(ahead: Preparation, tmp_path: Path) -> set[str]:
    """Returns the files that the store has after the installation, from the folder of the package."""
    ahead.finish(SharedFiles(tmp_path / "store"))
    files = [file for file in ahead.folder.rglob("*") if file.is_file() and not file.is_symlink()]
    return {str(file.relative_to(ahead.folder)) for file in files if file.stat().st_nlink > 1}


@pytest.mark.posix
@pytest.mark.parametrize(
    ("packages", "shared"),
    [
        ({"notes": {}, "@a/b": {}}, {"notes/big.js", "notes/node_modules/in/big.js", "@a/b/big.js"}),
        ({"notes": {}, "@a/b": {"hasInstallScript": True}}, {"notes/big.js", "notes/node_modules/in/big.js"}),
        ({"notes": {"hasInstallScript": True}, "@a/b": {}}, {"@a/b/big.js"}),
        ({"notes": 1, "@a/b": {}}, {"@a/b/big.js"}),
        (None, set()),
    ],
)
def test_of_npm_what_no_script_can_have_made_is_shared(tmp_path: Path, packages: Mapping[str, Any] | None, shared: set[str]) -> None:
    ahead = ahead_of(tmp_path, "npx", "notes")
    installed(ahead, "notes", "x.js", program="notes")
    modules = ahead.folder / "node_modules"
    of_size(modules / "notes/big.js", modules / "notes/node_modules/in/big.js", modules / "@a/b/big.js")
    of_size(modules / ".cache/made.js", modules / "made.js", ahead.folder / "made.js")
    listed = {f"node_modules/{name}": about for name, about in packages.items()} if packages else []
    (modules / ".package-lock.json").write_text(json.dumps({"packages": listed}).ljust(SMALLEST_BYTES))
    assert are_shared(ahead, tmp_path) == {f"node_modules/{name}" for name in shared}


@pytest.mark.posix
def test_of_uv_what_it_has_linked_from_archives_is_shared_and_a_python_of_its_own(tmp_path: Path) -> None:
    ahead = ahead_of(tmp_path, "uvx", "notes")
    ahead.begin()
    archive = Path(ahead.env["UV_CACHE_DIR"]) / "archive-v0/big.py"
    program, linked = (ahead.folder / "tools/notes" / name for name in ("bin/notes", "big.py"))
    of_size(archive, program, ahead.folder / "tools/notes/made.py", Path(ahead.env["UV_PYTHON_INSTALL_DIR"]) / "lib/big.so")
    linked.hardlink_to(archive)
    (ahead.folder / "bin").mkdir()
    (ahead.folder / "bin/notes").symlink_to(program)
    assert are_shared(ahead, tmp_path) == {"tools/notes/big.py", "python/lib/big.so"}


@pytest.mark.posix
def test_a_server_that_cannot_get_files_of_its_own_does_not_start(tmp_path: Path) -> None:
    ahead, store = ahead_of(tmp_path, "npx", "notes"), SharedFiles(tmp_path / "store")
    ahead.begin()
    of_size(ahead.folder / "x")
    (tmp_path / "other").hardlink_to(ahead.folder / "x")
    ahead.separate(store)
    assert (tmp_path / "other").stat().st_nlink == 1
    (tmp_path / "again").hardlink_to(ahead.folder / "x")
    (tmp_path / "store").rmdir()
    (tmp_path / "store").touch()
    with pytest.raises(CannotStart, match="the packages of this server cannot be copied"):
        ahead.separate(store)


def test_a_program_is_named_behind_its_packages(tmp_path: Path) -> None:
    ahead = ahead_of(tmp_path, "npx", "-p", "notes", "run")
    wanted = installed(ahead, "notes", {"run": "x.js", "other": "y.js"}, program="run")
    assert ahead.finish(None) == str(wanted)


def test_a_package_without_a_program_or_with_one_elsewhere_does_not_start(tmp_path: Path) -> None:
    ahead = ahead_of(tmp_path, "npx", "notes")
    ahead.begin()
    with pytest.raises(CannotStart, match="no program to run"):
        ahead.finish(None)
    (ahead.folder / "package.json").write_text("[]")
    with pytest.raises(CannotStart, match="no program to run"):
        ahead.finish(None)
    program = installed(ahead, "notes", "x.js", program="notes")
    program.unlink()
    (tmp_path / "elsewhere").touch()
    program.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CannotStart, match="no program to run"):
        ahead.finish(None)

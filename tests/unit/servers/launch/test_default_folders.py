"""child_environment.py: where programs are looked for behind the PATH, and which Node.js and Python a version manager gives."""

import os
from pathlib import Path

import pytest

from tooltray.servers.launch.child_environment import MAX_ALIASES, default_folders

pytestmark = pytest.mark.posix  # programs that are scripts, by their mode; tests/windows has PATHEXT and .cmd


def program(path: Path) -> str:
    """A program, and the folder it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path.parent)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def folders(tmp_path: Path, system: str = "linux", **environ: str) -> list[str]:
    """Of a machine that has nothing outside of HOME."""
    return default_folders({"HOME": str(tmp_path), "PATH": "/no/such", **environ}, system=system, root=str(tmp_path / "system"))


def nvm(tmp_path: Path, *versions: str, **aliases: str) -> dict[str, str]:
    """Node.js by nvm, with these versions and aliases; `lts__x` is the alias `lts/x`. Gives the folder of each version."""
    for name, target in aliases.items():
        write(tmp_path / ".nvm" / "alias" / name.replace("__", "/").replace("STAR", "*"), f"{target}\n")
    return {version: program(tmp_path / ".nvm" / "versions" / "node" / version / "bin" / "node") for version in versions}


def test_folders_of_a_persons_own_are_there_if_they_exist(tmp_path: Path) -> None:
    for name in (".local/bin", ".volta/bin", ".bun/bin"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / ".cargo").mkdir()
    (tmp_path / ".cargo" / "bin").touch()  # no folder
    assert folders(tmp_path) == [f"{tmp_path}/.local/bin", f"{tmp_path}/.bun/bin", f"{tmp_path}/.volta/bin"]


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("linux", ["usr/local/bin", "usr/bin", "snap/bin"]),
        ("darwin", ["opt/homebrew/bin", "usr/local/bin", "usr/bin"]),
        ("freebsd14", ["usr/local/bin", "usr/bin", "snap/bin"]),
    ],
)
def test_folders_of_the_system_come_last(tmp_path: Path, system: str, expected: list[str]) -> None:
    for name in ("usr/local/bin", "usr/bin", "snap/bin", "opt/homebrew/bin"):
        (tmp_path / "system" / name).mkdir(parents=True)
    (tmp_path / ".local/bin").mkdir(parents=True)
    assert folders(tmp_path, system) == [f"{tmp_path}/.local/bin", *(f"{tmp_path}/system/{name}" for name in expected)]
    assert folders(tmp_path, system, HOME="") == [f"{tmp_path}/system/{name}" for name in expected]


def test_on_windows_folders_are_named_by_variables(tmp_path: Path) -> None:
    for name in ("Roaming/npm", "me/.local/bin", "nodejs"):
        (tmp_path / name).mkdir(parents=True)
    environ = {"APPDATA": f"{tmp_path}/Roaming", "USERPROFILE": f"{tmp_path}/me", "NVM_SYMLINK": f"{tmp_path}/nodejs", "ProgramFiles": ""}
    found = default_folders(environ, system="win32")
    assert found == [f"{tmp_path}/me/.local/bin", f"{tmp_path}/nodejs", f"{tmp_path}/Roaming/npm"]


def test_this_machine_has_some_of_them() -> None:
    assert set(default_folders({})) & {"/usr/bin", "/bin", "/run/current-system/sw/bin"}


# nvm


def test_without_a_default_nvms_newest_version_counts_by_its_numbers(tmp_path: Path) -> None:
    versions = nvm(tmp_path, "v9.11.2", "v20.9.0", "v20.10.0")
    write(tmp_path / ".nvm" / "versions" / "node" / "notes" / "bin" / "node", "")
    assert folders(tmp_path) == [versions["v20.10.0"]]


@pytest.mark.parametrize(
    ("aliases", "version"),
    [
        ({"default": "v18.2.0"}, "v18.2.0"),
        ({"default": "18"}, "v18.10.0"),
        ({"default": "v18.2"}, "v18.2.0"),
        ({"default": "lts/iron", "lts__iron": "v20.9.0"}, "v20.9.0"),
        ({"default": "lts/*", "lts__STAR": "lts/iron", "lts__iron": "v20.9.0"}, "v20.9.0"),
        ({"default": "work", "work": "18.2.0"}, "v18.2.0"),
        ({"default": "node"}, "v20.9.0"),
        ({"default": "stable"}, "v20.9.0"),
        ({"default": "16"}, "v20.9.0"),
        ({"default": "lts/*"}, "v20.9.0"),
        ({"default": "default"}, "v20.9.0"),
        ({"default": "a", "a": "default"}, "v20.9.0"),
        ({"default": ""}, "v20.9.0"),
    ],
)
def test_nvms_default_is_followed_through_its_aliases_and_what_is_not_installed_is_the_newest(
    tmp_path: Path, aliases: dict[str, str], version: str
) -> None:
    versions = nvm(tmp_path, "v18.2.0", "v18.10.0", "v20.9.0", **aliases)
    assert folders(tmp_path) == [versions[version]]


def test_a_long_chain_of_aliases_is_given_up(tmp_path: Path) -> None:
    chain = {"default": "a0"} | {f"a{number}": f"a{number + 1}" for number in range(MAX_ALIASES)} | {f"a{MAX_ALIASES}": "v18.0.0"}
    assert folders(tmp_path, "linux", NVM_DIR="") == []
    versions = nvm(tmp_path, "v18.0.0", "v20.0.0", **chain)
    assert folders(tmp_path) == [versions["v20.0.0"]]


def test_nvm_that_leaves_it_to_the_system_gives_nothing(tmp_path: Path) -> None:
    nvm(tmp_path, "v18.2.0", default="system")
    assert folders(tmp_path) == []


def test_nvm_may_be_elsewhere(tmp_path: Path) -> None:
    folder = program(tmp_path / "tools" / "nvm" / "versions" / "node" / "v20.0.0" / "bin" / "node")
    assert folders(tmp_path, NVM_DIR=str(tmp_path / "tools" / "nvm")) == [folder]


def test_a_version_without_its_program_is_none(tmp_path: Path) -> None:
    versions = nvm(tmp_path, "v20.0.0")
    Path(versions["v20.0.0"], "node").chmod(0o644)
    assert folders(tmp_path) == []


# the others


def test_fnms_default_is_found_in_each_of_its_places(tmp_path: Path) -> None:
    for place, environ in [
        (".fnm", {}),
        (".local/share/fnm", {}),
        ("data/fnm", {"XDG_DATA_HOME": str(tmp_path / "data")}),
        ("own", {"FNM_DIR": str(tmp_path / "own")}),
    ]:
        folder = program(tmp_path / place / "aliases" / "default" / "bin" / "node")
        assert folders(tmp_path, **environ) == [folder]


def test_asdf_runs_the_versions_that_a_persons_own_file_names(tmp_path: Path) -> None:
    write(tmp_path / ".tool-versions", "# mine\n\nnodejs 18.1.0 20.1.0 # old\npython 3.12.1\nnodejs-like 1\n")
    program(tmp_path / ".asdf" / "installs" / "nodejs" / "22.0.0" / "bin" / "node")
    node = program(tmp_path / ".asdf" / "installs" / "nodejs" / "20.1.0" / "bin" / "node")
    python = program(tmp_path / ".asdf" / "installs" / "python" / "3.12.1" / "bin" / "python3")
    assert folders(tmp_path) == [node, python]
    moved = program(tmp_path / "tools" / "installs" / "nodejs" / "18.1.0" / "bin" / "node")
    assert folders(tmp_path, ASDF_DATA_DIR=str(tmp_path / "tools")) == [moved]


def test_mises_stand_ins_find_the_version_by_themselves(tmp_path: Path) -> None:
    shims = program(tmp_path / ".local" / "share" / "mise" / "shims" / "node")
    program(tmp_path / ".local" / "share" / "mise" / "shims" / "python3")
    assert folders(tmp_path) == [shims]
    moved = program(tmp_path / "tools" / "shims" / "node")
    assert folders(tmp_path, MISE_DATA_DIR=str(tmp_path / "tools"))[0] == moved


def test_pyenvs_python_is_the_first_of_its_versions_that_is_installed(tmp_path: Path) -> None:
    write(tmp_path / ".pyenv" / "version", "3.13.0\n3.12.1\n")
    python = program(tmp_path / ".pyenv" / "versions" / "3.12.1" / "bin" / "python3")
    assert folders(tmp_path) == [python]
    write(tmp_path / "tools" / "version", "system\n")
    assert folders(tmp_path, PYENV_ROOT=str(tmp_path / "tools")) == []


def test_a_file_of_a_version_manager_that_is_no_text_gives_nothing(tmp_path: Path) -> None:
    (tmp_path / ".pyenv").mkdir()
    (tmp_path / ".pyenv" / "version").write_bytes(b"\xff\x00\n" * 3)
    (tmp_path / ".tool-versions").mkdir()
    assert folders(tmp_path) == []


@pytest.mark.parametrize("where", ["mine", ".local/bin"])
def test_what_the_path_or_a_folder_of_ones_own_has_is_not_looked_for_in_a_version_manager(tmp_path: Path, where: str) -> None:
    program(tmp_path / where / "node")
    nvm(tmp_path, "v20.0.0")
    write(tmp_path / ".pyenv" / "version", "3.12.1\n")
    python = program(tmp_path / ".pyenv" / "versions" / "3.12.1" / "bin" / "python3")
    found = folders(tmp_path, PATH=os.pathsep.join(["", str(tmp_path / "mine")]))
    assert [folder for folder in found if "nvm" in folder or "pyenv" in folder] == [python]

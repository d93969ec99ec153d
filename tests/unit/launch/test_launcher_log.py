"""launch/launcher_log.py: the log of a launcher that prints nothing."""

import os
from pathlib import Path

import pytest

from tooltray.launch.launcher_log import HEAD_BYTES, newest_log

NOW = 1_800_000_000.0


def written(path: Path, *, package: str = "pkg", at: float = NOW) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'0 verbose cli\n1 verbose argv "exec" "--yes" "--" "{package}"\n')
    os.utime(path, (at, at))
    return str(path)


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
    written(tmp_path / ".npm" / "_logs" / "a.log", at=NOW - 60)
    (tmp_path / ".npm" / "_logs" / "note.txt").write_text("pkg")
    assert newest_log("npx", ["pkg"], {"HOME": str(tmp_path)}, since=NOW) == ""


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

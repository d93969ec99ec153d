"""launch/found_elsewhere.py: programs where installers put them."""

from pathlib import Path

import pytest

from tooltray.launch.found_elsewhere import MOST, find_elsewhere, runs_by_name


def program(path: Path, text: str = "#!/bin/sh\n") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def test_a_person_s_own_comes_first_and_of_several_versions_the_newest(tmp_path: Path) -> None:
    home = tmp_path / "home"
    old = program(home / ".nvm/versions/node/v9.11.2/bin/npx")
    new = program(home / ".nvm/versions/node/v20.1.0/bin/npx")
    own = program(home / ".local/bin/npx")
    common = program(tmp_path / "opt/node/bin/npx")
    assert find_elsewhere("npx", home=home, common=(f"{tmp_path}/opt/*/bin",)) == (own, new, old, common)


def test_what_cannot_be_run_and_what_is_called_otherwise_is_not_found(tmp_path: Path) -> None:
    program(tmp_path / ".local/bin/npx2")
    (tmp_path / ".local/bin/npx").write_text("no program")
    (tmp_path / ".cargo/bin/npx").mkdir(parents=True)
    assert find_elsewhere("npx", home=tmp_path, common=()) == ()


@pytest.mark.parametrize("command", ["", "/usr/bin/env", "bin/npx"])
def test_a_path_is_looked_for_nowhere_else(tmp_path: Path, command: str) -> None:
    assert find_elsewhere(command, home=tmp_path, common=("/usr/bin",)) == ()


def test_no_more_are_named_than_anybody_chooses_from(tmp_path: Path) -> None:
    for version in range(2 * MOST):
        program(tmp_path / f".nvm/versions/node/v{version}.0.0/bin/npx")
    assert len(find_elsewhere("npx", home=tmp_path, common=())) == MOST


def test_a_folder_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    assert find_elsewhere("x" * 5000, home=tmp_path, common=("/usr/bin",)) == ()  # longer than any name may be


def test_a_script_whose_interpreter_is_looked_up_runs_by_name(tmp_path: Path) -> None:
    assert runs_by_name(program(tmp_path / "a", "#!/usr/bin/env node\n"))
    assert not runs_by_name(program(tmp_path / "b", "#!/bin/sh\n"))
    assert not runs_by_name(str(tmp_path / "missing"))

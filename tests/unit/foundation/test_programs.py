"""programs.py"""

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from tooltray.foundation import programs
from tooltray.foundation.programs import find_resources, resource

BEFORE = {"PATH": "/usr/bin", "QT_SCALE_FACTOR": "2"}
DURING = {"_PYI_ARCHIVE_FILE": "/opt/tooltray/tooltray", "_MEIPASS2": "/opt/tooltray", "QT_PLUGIN_PATH": "/opt/tooltray/plugins"}


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", "/opt/tooltray/tooltray")


def test_a_frozen_app_runs_the_programs_beside_it(frozen: None) -> None:
    assert programs.tooltray_command("serve") == ["/opt/tooltray/tooltray", "serve"]
    assert programs.bridge_command() == ["/opt/tooltray/tooltray-bridge"]
    assert programs.launcher_command() == ["/opt/tooltray/tooltray-confine"]
    assert programs.launcher_folders() == ["/opt/tooltray"]
    module = programs.MODULES[0]
    assert programs.module_command(module, "x") == ["/opt/tooltray/tooltray", "run-module", module, "x"]


def test_of_versions_in_folders_of_their_own_the_newest_is_started_and_this_one_runs_its_own_parts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = tmp_path / "1.0"
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(own / "tooltray"))
    (tmp_path / "current").symlink_to("2.0")
    assert programs.tooltray_command("serve") == [str(tmp_path / "current" / "tooltray"), "serve"]
    assert programs.bridge_command() == [str(tmp_path / "current" / "tooltray-bridge")]
    assert programs.launcher_command() == [str(own / "tooltray-confine")]
    assert programs.module_command(programs.MODULES[0]) == [str(own / "tooltray"), "run-module", programs.MODULES[0]]
    assert programs.watch_command()[0] == str(own / "tooltray")


def test_elsewhere_the_interpreter_runs_them_with_nothing_of_the_users() -> None:
    assert programs.tooltray_command("serve") == [sys.executable, "-I", "-m", "tooltray", "serve"]
    for *interpreter, script in (programs.bridge_command(), programs.launcher_command()):
        assert interpreter == [sys.executable, "-I", "-S"]
        assert Path(script).is_file()
    assert programs.launcher_folders() == [sys.prefix, sys.base_prefix, str(Path(programs.launcher_command()[-1]).parent)]
    assert programs.module_command(programs.MODULES[1], "x") == [sys.executable, "-I", "-m", programs.MODULES[1], "x"]


@pytest.mark.parametrize("module", programs.MODULES)
def test_every_module_that_a_frozen_app_runs_can_be_run(module: str) -> None:
    found = subprocess.run(programs.module_command(module), input=b"[]", capture_output=True, check=False)
    assert b"No module" not in found.stderr
    assert programs.run_module(["tooltray.nothing"]) == 2
    assert programs.run_module([]) == 2


def test_a_module_is_run_with_its_own_arguments(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["tooltray", "run-module"])
    (file := tmp_path / "file").write_text("where the home's folder should be")
    assert programs.run_module(["tooltray.cli.hubs", str(file)]) == 1
    assert str(file) in capsys.readouterr().out


def test_no_other_module_is_run() -> None:
    with pytest.raises(ValueError, match=r"tooltray\.cli\.run"):
        programs.module_command("tooltray.cli.run")


def test_what_the_freezer_put_into_the_environment_goes_and_what_it_put_aside_comes_back() -> None:
    set_aside = {"LD_LIBRARY_PATH": "/opt/tooltray:/home/me/lib", "LD_LIBRARY_PATH_ORIG": "/home/me/lib"}
    assert programs.environment_before_freezing(BEFORE | DURING | set_aside) == BEFORE | {"LD_LIBRARY_PATH": "/home/me/lib"}
    assert programs.environment_before_freezing(BEFORE | {"LD_LIBRARY_PATH": "/opt/tooltray"}) == BEFORE
    assert programs.environment_before_freezing(BEFORE | {"LD_LIBRARY_PATH": "/opt", "LD_LIBRARY_PATH_ORIG": ""}) == BEFORE


def test_a_frozen_process_gets_its_environment_back(frozen: None) -> None:
    environ = BEFORE | DURING | {"LD_LIBRARY_PATH": "/opt/tooltray", "LD_LIBRARY_PATH_ORIG": "/home/me/lib"}
    programs.restore_environment(environ)
    assert environ == BEFORE | {"LD_LIBRARY_PATH": "/home/me/lib"}


def test_a_process_that_is_not_frozen_keeps_its_environment() -> None:
    environ = BEFORE | DURING
    programs.restore_environment(environ)
    assert environ == BEFORE | DURING


def folder(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def test_in_a_checkout_they_lie_beside_the_source_root(tmp_path: Path) -> None:
    package = folder(tmp_path / "desktop" / "tooltray")
    resources = folder(tmp_path / "resources")
    assert find_resources(package, None) == resources


def test_in_a_wheel_they_lie_inside_the_package(tmp_path: Path) -> None:
    package = folder(tmp_path / "site-packages" / "tooltray")
    resources = folder(package / "_resources")
    assert find_resources(package, None) == resources


def test_in_a_frozen_app_they_lie_where_it_unpacked_itself(tmp_path: Path) -> None:
    package = folder(tmp_path / "elsewhere" / "tooltray")
    resources = folder(tmp_path / "unpacked" / "tooltray" / "_resources")
    assert find_resources(package, str(tmp_path / "unpacked")) == resources


def test_the_wheel_s_own_folder_goes_before_one_that_happens_to_be_two_floors_up(tmp_path: Path) -> None:
    package = folder(tmp_path / "lib" / "tooltray")
    folder(tmp_path / "resources")
    resources = folder(package / "_resources")
    assert find_resources(package, None) == resources


def test_a_broken_installation_says_where_was_looked(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="_resources"):
        find_resources(tmp_path / "tooltray", None)


@pytest.mark.parametrize("parts", [("themes", "tokens.json"), ("themes", "theme.qss"), ("i18n", "zh_TW.json"), ("icons", "tooltray.svg")])
def test_what_the_program_reads_is_there(parts: tuple[str, ...]) -> None:
    assert resource(*parts).is_file()


def test_what_is_imported_is_left_out_of_the_garbage_collector_s_passes() -> None:
    before = gc.get_freeze_count()
    try:
        with programs.importing():
            assert not gc.isenabled()
            with programs.importing():
                module = [object()]
            assert not gc.isenabled()
        assert gc.isenabled()
        assert gc.get_freeze_count() > before
        assert all(each is not module for each in gc.get_objects())
    finally:
        gc.unfreeze()

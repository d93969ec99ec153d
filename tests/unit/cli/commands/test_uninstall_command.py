"""`tooltray uninstall`."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub
from tests.fakes.terminal import Terminal
from tests.unit.cli.conftest import Tooltray

from tooltray.cli.run import run
from tooltray.config.foreign_configs.documents import read_document
from tooltray.foundation.home.home import Home
from tooltray.foundation.home.hub_place import HubLock
from tooltray.foundation.installs import start_at_login
from tooltray.foundation.installs.installation import ROOT, how_to_remove, this_installation
from tooltray.foundation.installs.installations import bridge_entry
from tooltray.sources.clients.change_store import ChangeStore
from tooltray.sources.clients.change_writer import ChangeWriter
from tooltray.sources.clients.client_kinds import read_client_kinds
from tooltray.sources.clients.file_edits import removing
from tooltray.sources.clients.found_entries import entries_in
from tooltray_bridge.start import removed


@pytest.fixture
def cursor(home: Path, hub_home: Home) -> Path:
    """An AI client's config with our entry beside another one."""
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"mcpServers": {"other": {"command": "x"}, **bridge_entry(hub_home)["mcpServers"]}}, indent=2))
    return file


def test_everything_goes_and_what_is_others_stays(tooltray: Tooltray, hub_home: Home, cursor: Path) -> None:
    tooltray("secrets", "backend", "file", stdin="open sesame\n")
    tooltray("servers", "add", "files", "--", "files")
    (hub_home.root / "mine.txt").write_text("not Tooltray's")
    result = tooltray("uninstall", "--yes")
    assert result.code == 0, result.err
    assert json.loads(cursor.read_text()) == {"mcpServers": {"other": {"command": "x"}}}
    assert f"'tooltray' is no longer in Cursor ({cursor})\n" in result.out
    assert {path.name for path in hub_home.root.iterdir()} == {"mine.txt", "removed"}


def test_all_that_tooltray_keeps_goes_and_what_only_looks_like_it_stays(tooltray: Tooltray, hub_home: Home) -> None:
    tooltray("servers", "add", "files", "--", "files")
    kept = [hub_home.trust, hub_home.grants, hub_home.names, hub_home.registries, hub_home.eras, hub_home.sign_ins, hub_home.homes]
    for file in kept:
        file.write_text("{}")
        file.with_name(f"{file.name}.broken-20260101-000000").write_text("{")
        file.with_name(f".{file.name}.a1b2c3d4.tmp").write_text("{")
    for folder in (hub_home.catalogue, hub_home.feedback, hub_home.logs):
        folder.mkdir(exist_ok=True)
    for ending in ("wal", "shm"):  # SQLite's, of a hub that was killed
        (hub_home.root / f"activity.db-{ending}").touch()
    others = {"trust.jsonl", "runs", "logs.old", ".mine.tmp", "my-settings.json", "activity.db-mine"}
    for name in others:
        (hub_home.root / name).touch()
    assert tooltray("uninstall", "--yes").code == 0
    assert {path.name for path in hub_home.root.iterdir()} == {*others, "removed"}


def test_a_home_with_nothing_else_in_it_keeps_only_the_mark_that_holds_bridges_back(tooltray: Tooltray, hub_home: Home) -> None:
    tooltray("servers", "add", "files", "--", "files")
    assert removed(str(hub_home.root)) == ""
    said = tooltray("uninstall", "--yes", "--json").json
    to_do = how_to_remove(this_installation())
    assert said == {"done": [f"Tooltray's files in {hub_home.root} are deleted"], "left": [], "failed": [], "program": to_do}
    assert [path.name for path in hub_home.root.iterdir()] == ["removed"]
    assert removed(str(hub_home.root)).startswith(f"Tooltray was removed: {hub_home.removed} tells when")
    assert f"Until you start it again, {hub_home.removed} keeps AI clients from starting it\n" in tooltray("uninstall", "--yes").out


def test_where_nothing_was_there_is_nothing_to_do(tooltray: Tooltray, hub_home: Home) -> None:
    result = tooltray("uninstall")
    assert (result.code, result.out) == (0, f"The program itself is still installed. Delete the folder {ROOT}\n")
    assert not hub_home.root.exists()


def test_each_thing_is_asked_for_and_what_is_declined_stays(
    hub_home: Home, cursor: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = cursor.read_text()
    monkeypatch.setattr("sys.stdin", Terminal("n\ny\n"))
    hub_home.prepare()
    assert run(("uninstall",), open_desktop=lambda home, **_: 99) == 0
    out = capsys.readouterr().out
    assert f"Not removed: Remove the entry 'tooltray' from Cursor ({cursor})" in out
    assert cursor.read_text() == before
    assert [path.name for path in hub_home.root.iterdir()] == ["removed"]


def test_a_running_hub_is_stopped_first(tooltray: Tooltray, hub_home: Home) -> None:
    sessions = [{"id": "1", "client": "Cursor"}, {"id": "2", "client": ""}, {"id": "3", "client": "Gone", "is_connected": False}]
    with FakeControlHub(hub_home, {"get_sessions": sessions}) as hub:
        result = tooltray("uninstall", "--yes")
    assert result.out.splitlines()[:2] == ["Tooltray has stopped", "Quit these AI clients, which still use Tooltray: Cursor"]
    assert ("hub/stop", {}) in hub.calls


def test_no_bridge_starts_a_hub_meanwhile_and_one_that_was_being_started_is_stopped(
    hub_home: Home, cursor: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hub_home.prepare()
    bridges, seen = HubLock(hub_home.start_lock), []
    assert bridges.try_take()
    hub = FakeControlHub(hub_home, {"get_sessions": []})

    def pause(seconds: float) -> None:
        """Meanwhile the bridge has started a hub."""
        hub.__enter__()
        bridges.release()

    def confirmed(question: str, *, yes: bool) -> bool:
        seen.append(HubLock(hub_home.start_lock).try_take())
        return True

    monkeypatch.setattr("tooltray.cli.commands.uninstall_command.time.sleep", pause)
    monkeypatch.setattr("tooltray.cli.commands.uninstall_command.confirmed", confirmed)
    assert run(("uninstall", "--yes"), open_desktop=lambda home, **_: 99) == 0
    assert ("hub/stop", {}) in hub.calls
    assert (set(seen), [path.name for path in hub_home.root.iterdir()]) == ({False}, ["removed"])


def test_a_hub_that_is_to_go_on_keeps_everything(
    hub_home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    with FakeControlHub(hub_home) as hub:
        assert run(("uninstall",), open_desktop=lambda home, **_: 99) == 1
    assert "Nothing was removed" in capsys.readouterr().err
    assert ("hub/stop", {}) not in hub.calls


def test_secrets_that_cannot_be_forgotten_keep_their_names(
    tooltray: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={tmp_path}/nowhere")
    hub_home.prepare()
    hub_home.secret_names.write_text('["files/KEY"]')
    result = tooltray("uninstall", "--yes", "--json")
    assert (result.code, len(result.json["failed"])) == (1, 1)
    assert "No keyring found" in result.json["failed"][0]
    assert result.json["done"] == [f"Tooltray's files in {hub_home.root} are deleted, except secret-names.json"]
    assert {path.name for path in hub_home.root.iterdir()} == {"removed", "secret-names.json"}


def test_files_of_all_formats_are_disconnected(tooltray: Tooltray, home: Path) -> None:
    file = home / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_text('a = 1 # mine\n\n[mcp_servers.tooltray]\ncommand = "python"\nargs = ["/x/tooltray_bridge/__main__.py"]\n')
    found: Any = tooltray("uninstall", "--yes", "--json").json
    assert found["done"][0] == f"'tooltray' is no longer in Codex ({file})"
    assert file.read_text() == "a = 1 # mine\n"


def test_a_config_that_makes_no_sense_is_named_for_the_person(tooltray: Tooltray, home: Path) -> None:
    file = home / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_text('[mcp_servers.tooltray\nargs = ["/x/tooltray_bridge/__main__.py"]\n')
    found: Any = tooltray("uninstall", "--yes", "--json").json
    assert found["left"] == [f"Remove Tooltray's entry from Codex ({file}) by hand; this file cannot be changed safely"]
    assert "tooltray_bridge" in file.read_text()


def test_an_entry_that_cannot_be_taken_out_is_said_and_the_rest_goes(tooltray: Tooltray, hub_home: Home, cursor: Path) -> None:
    hub_home.prepare()
    entry = json.dumps(bridge_entry(hub_home)["mcpServers"]["tooltray"])
    cursor.write_text(f'{{"mcpServers": {{"t": {entry}, "t": {entry}}}}}')
    result = tooltray("uninstall", "--yes")
    assert result.code == 1
    assert "occurs twice" in result.out
    assert [path.name for path in hub_home.root.iterdir()] == ["removed"]


def test_a_file_under_version_control_is_left_alone_unless_a_person_says_yes_to_it(tooltray: Tooltray, home: Path, cursor: Path) -> None:
    (home / ".git").mkdir()
    before = cursor.read_text()
    found: Any = tooltray("uninstall", "--yes", "--json").json
    assert found["left"] == [f"Not removed: 'tooltray' in Cursor ({cursor}), which is under version control"]
    assert cursor.read_text() == before


def test_an_entry_whose_file_changes_meanwhile_is_said(tooltray: Tooltray, cursor: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stage(question: str, *, yes: bool) -> bool:
        cursor.write_text("{}")
        return True

    monkeypatch.setattr("tooltray.cli.commands.uninstall_command.confirmed", stage)
    result = tooltray("uninstall", "--yes")
    assert result.code == 1
    assert "has changed since" in result.out


def test_links_go_and_what_they_lead_to_stays(tooltray: Tooltray, hub_home: Home, tmp_path: Path) -> None:
    hub_home.prepare()
    (tmp_path / "mine").write_text("x")
    (hub_home.root / "names.json").mkdir()
    (hub_home.root / "logs").symlink_to(tmp_path)
    (hub_home.root / "catalogue").symlink_to(tmp_path / "nowhere")
    assert tooltray("uninstall", "--yes").code == 0
    assert [path.name for path in hub_home.root.iterdir()] == ["removed"]
    assert (tmp_path / "mine").exists()


def test_a_folder_that_cannot_be_deleted_is_said(tooltray: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str, **_: object) -> None:
        raise PermissionError(13, "Permission denied", path)

    hub_home.prepare()
    monkeypatch.setattr("shutil.rmtree", refuse)
    result = tooltray("uninstall", "--yes")
    monkeypatch.undo()
    assert (result.code, f"{hub_home.run}: Permission denied" in result.out) == (1, True)


def test_declining_everything_leaves_everything(
    hub_home: Home, cursor: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hub_home.prepare()
    hub_home.secret_names.write_text('["files/KEY"]')
    monkeypatch.setattr("sys.stdin", Terminal("n\nn\nn\n"))
    assert run(("uninstall",), open_desktop=lambda home, **_: 99) == 0
    assert capsys.readouterr().out.count("Not removed") == 3
    assert hub_home.secret_names.exists()


def test_an_entry_that_connects_over_http_goes_too(tooltray: Tooltray, hub_home: Home, cursor: Path) -> None:
    tooltray("http", "on", "--port", "7799")
    http = {"type": "http", "url": "http://127.0.0.1:7799/mcp", "headers": {"Authorization": "Bearer token"}}
    cursor.write_text(json.dumps({"mcpServers": {"ours": http, "other": {"url": "http://127.0.0.1:7798/mcp"}}}))
    assert tooltray("uninstall", "--yes").code == 0
    assert list(json.loads(cursor.read_text())["mcpServers"]) == ["other"]


@pytest.mark.parametrize("settings", ["{}", '{"publish": {"http": []}}', "[", '{"publish": {"http": {}}}'])
def test_settings_without_a_port_name_no_entry(tooltray: Tooltray, hub_home: Home, cursor: Path, settings: str) -> None:
    hub_home.prepare()
    hub_home.settings.write_text(settings)
    cursor.write_text(json.dumps({"mcpServers": {"other": {"url": "http://127.0.0.1:1/mcp"}}}))
    assert tooltray("uninstall", "--yes").code == 0
    assert "other" in json.loads(cursor.read_text())["mcpServers"]


@pytest.mark.parametrize(("typed", "is_left"), [("y\ny\n", False), ("n\ny\n", True)])
def test_the_file_with_secrets_is_asked_for_by_itself(
    hub_home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str, is_left: bool
) -> None:
    hub_home.prepare()
    hub_home.secrets_file.write_bytes(b"vault")
    hub_home.sign_ins.write_text("{}")
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    assert run(("uninstall",), open_desktop=lambda home, **_: 99) == 0
    assert f"Delete the encrypted secrets in {hub_home.secrets_file}? [y/N]" in capsys.readouterr().out
    assert {path.name for path in hub_home.root.iterdir()} == ({"removed", "secrets.enc"} if is_left else {"removed"})


def test_start_at_login_ends_with_the_rest(tooltray: Tooltray, home: Path) -> None:
    tooltray("autostart", "on")
    assert "Tooltray no longer starts when you log in" in tooltray("uninstall", "--yes").out
    assert not list(home.glob(".config/autostart/*"))


def test_an_entry_that_was_switched_off_elsewhere_goes_without_a_word(tooltray: Tooltray, home: Path) -> None:
    tooltray("autostart", "on")
    [entry] = home.glob(".config/autostart/*")
    entry.write_text(entry.read_text() + "Hidden=true\n")
    assert "log in" not in tooltray("uninstall").out
    assert not entry.exists()


def test_what_starts_at_login_is_not_another_home_s(tooltray: Tooltray, home: Path) -> None:
    tooltray("autostart", "on")
    assert tooltray("--home", str(home / "other"), "uninstall", "--yes").code == 0
    assert start_at_login.is_on()


def test_start_at_login_stays_where_that_is_wanted(monkeypatch: pytest.MonkeyPatch, hub_home: Home) -> None:
    start_at_login.switch(on=True)
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    assert run(("uninstall",), open_desktop=lambda home, **_: 99) == 0
    assert start_at_login.is_on()


@pytest.fixture
def archive(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A portable archive that install.sh has installed, and that this process seems to be."""
    programs = tmp_path / "lib" / "tooltray"
    program = programs / "1.0" / "tooltray"
    program.parent.mkdir(parents=True)
    program.touch()
    (programs / "current").symlink_to("1.0")
    (programs / "install.sh").write_text('test "$1" = --uninstall && rm -r "$(dirname "$0")"\n')
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(program))
    return programs


def test_a_portable_archive_is_removed_by_its_own_script(tooltray: Tooltray, archive: Path, hub_home: Home) -> None:
    assert tooltray("uninstall", "--yes").out == f"The program in {archive} is removed\n"
    assert not archive.exists()
    assert not hub_home.root.exists()


@pytest.mark.parametrize("others", [[], ["mine.txt"]])
def test_with_the_program_the_mark_goes_too(tooltray: Tooltray, archive: Path, hub_home: Home, others: list[str]) -> None:
    hub_home.prepare()
    for name in others:
        (hub_home.root / name).touch()
    assert "keeps AI clients" not in tooltray("uninstall", "--yes").out
    assert [path.name for path in hub_home.root.glob("*")] == others
    assert hub_home.root.exists() == bool(others)


def test_a_script_that_fails_is_said_with_what_is_left_to_do(tooltray: Tooltray, archive: Path) -> None:
    (archive / "install.sh").write_text("echo no >&2; exit 3\n")
    result = tooltray("uninstall", "--yes", "--json")
    assert result.code == 1
    assert "no" in result.json["failed"][0]
    assert result.json["program"] == f"Delete the folder {archive / '1.0'}"


def test_an_archive_that_was_not_installed_is_a_folder_to_delete(tooltray: Tooltray, archive: Path) -> None:
    (archive / "current").unlink()
    assert tooltray("uninstall", "--yes").out.endswith(f"Delete the folder {archive / '1.0'}\n")
    assert archive.exists()


def moved(hub_home: Home, file: Path) -> None:
    """As an import leaves it: a server is taken out of a client's file, and the change is written down."""
    kinds = {kind.id: kind for kind in read_client_kinds()}
    document = read_document(file, "json")
    (entry,) = [each for each in entries_in(kinds["cursor"], document) if each.name == "other"]
    (edit,) = removing([entry])
    hub_home.prepare()
    ChangeWriter(ChangeStore(hub_home.client_changes)).make(edit, None)


def test_imported_servers_are_first_put_back_into_their_clients(person: Tooltray, hub_home: Home, cursor: Path) -> None:
    moved(hub_home, cursor)
    assert "other" not in json.loads(cursor.read_text())["mcpServers"]
    result = person("uninstall", "--yes")
    assert "1 server restored" in result.out
    assert json.loads(cursor.read_text()) == {"mcpServers": {"other": {"command": "x"}}}


def test_secrets_stay_where_servers_cannot_be_put_back(person: Tooltray, hub_home: Home, cursor: Path) -> None:
    moved(hub_home, cursor)
    cursor.write_text("{")
    result = person("uninstall", "--yes")
    assert (result.code, "Not deleted: the secrets, since not all servers could be restored" in result.out) == (1, True)
    assert hub_home.client_changes.is_dir()

"""served_files.py; see also test_server_files.py"""

from tooltray.config.settings.file_server import FileEntry, FileReading, Kind
from tooltray.config.settings.given_entries import read_entry
from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.files import FileProblem
from tooltray.sources.project_files.served_files import ServedFile, ServedNames, served_servers, served_snapshot


def entry(name: str) -> FileEntry:
    return FileEntry(name, read_entry(name, {"command": "run"}), {"command": "run"}, line=2)


def test_an_entry_with_a_remark_is_used_all_the_same() -> None:
    file = ServedFile("/etc/servers.json")
    names = ServedNames(is_taken=lambda name: name == "taken", reserved=("hub",))
    problems = (
        FileProblem(Problem("a remark"), 3, "one"),
        FileProblem(Problem("no use"), 4, "bad"),
        FileProblem(Problem("of the whole"), 1),
    )
    file.adopt(FileReading(file.path, "tbxark", "d", entries=(entry("one"), entry("fetch/token"), entry("taken")), problems=problems))
    snapshot = served_snapshot(file, [file], names, "http://127.0.0.1:9090")
    assert [(each.name, each.server, each.state, each.line) for each in snapshot.entries] == [
        ("one", "one", "used", 2),
        ("fetch/token", "fetch-token", "used", 2),
        ("taken", "taken-etc", "used", 2),
        ("bad", "", "broken", 4),
    ]
    assert (snapshot.kind, snapshot.url, snapshot.exists) == ("tbxark", "http://127.0.0.1:9090", True)
    assert list(served_servers([file], names)) == ["one", "fetch-token", "taken-etc"]
    assert "taken-etc" in names


def test_a_server_may_use_all_its_tools_unless_its_entry_says_otherwise() -> None:
    file, names = ServedFile("/etc/servers.json"), ServedNames(is_taken=lambda name: False, reserved=())
    strict = FileEntry("strict", read_entry("strict", {"command": "run", "autoApprove": ["read"]}), {}, line=3)
    file.adopt(FileReading(file.path, "tbxark", "d", entries=(entry("one"), strict)))
    servers = served_servers([file], names)
    assert {name: server.entry.config.auto_approve for name, server in servers.items()} == {"one": ("all",), "strict": ("read",)}


def reading(path: str, kind: Kind, *names: str, is_understood: bool = True) -> FileReading:
    return FileReading(path, kind, "d", is_understood=is_understood, entries=tuple(map(entry, names)))


def test_a_server_that_moves_to_another_of_mcp_hubs_files_keeps_its_name() -> None:
    names = ServedNames(is_taken=lambda name: False, reserved=())
    files = [ServedFile("/a/first.json"), ServedFile("/b/second.json")]
    files[0].adopt(reading(files[0].path, "mcp-hub", "kept"))
    files[1].adopt(reading(files[1].path, "mcp-hub", "kept", "moved"))
    assert set(served_servers(files, names)) == {"kept", "moved"}
    files[0].adopt(reading(files[0].path, "mcp-hub", "kept", "moved"))
    files[1].adopt(reading(files[1].path, "mcp-hub"))
    assert {name: server.file for name, server in served_servers(files, names).items()} == {"kept": files[0].path, "moved": files[0].path}


def test_a_server_that_two_of_mcp_hubs_files_have_is_used_of_one_of_them() -> None:
    names = ServedNames(is_taken=lambda name: False, reserved=())
    files = [ServedFile("/a/first.json"), ServedFile("/b/second.json")]
    for file in files:
        file.adopt(reading(file.path, "mcp-hub", "kept"))
    used = served_servers(files, names)["kept"].file
    states = {file.path: served_snapshot(file, files, names, "").entries[0].state for file in files}
    assert states == {file.path: "used" if file.path == used else "off" for file in files}


def test_a_file_that_is_not_understood_is_of_the_kind_that_it_was() -> None:
    """Half a file says nothing of whose it is; what goes on of it would take another name, or give way to another file's."""
    names = ServedNames(is_taken=lambda name: False, reserved=())
    files = [ServedFile("/a/config.json"), ServedFile("/b/servers.json")]
    files[0].adopt(reading(files[0].path, "tbxark", "one"))
    files[1].adopt(reading(files[1].path, "mcp-hub", "one"))
    before = list(served_servers(files, names))
    assert before == ["one", "one-b"]
    files[0].adopt(reading(files[0].path, "mcp-hub", is_understood=False))
    assert list(served_servers(files, names)) == before
    snapshot = served_snapshot(files[0], files, names, "")
    assert (snapshot.kind, [each.name for each in snapshot.entries]) == ("tbxark", ["one"])

"""presenter/files/served_files.py; see also test_server_files.py"""

from tooltray.config.files.file_server import FileEntry, FileReading
from tooltray.config.settings import read_entry
from tooltray.errors import Problem
from tooltray.presenter.files.served_files import ServedFile, ServedNames, served_servers, served_snapshot
from tooltray.snapshots import FileProblem


def entry(name: str) -> FileEntry:
    return FileEntry(name, read_entry(name, {"command": "run"}), {"command": "run"}, line=2)


def test_an_entry_with_a_remark_is_used_all_the_same() -> None:
    file = ServedFile("/etc/servers.json")
    names = ServedNames(is_taken=lambda name: name == "taken", reserved=("hub",))
    problems = (FileProblem(Problem("a remark"), 3, "one"), FileProblem(Problem("no use"), 4, "bad"))
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

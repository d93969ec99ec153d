"""project_servers.py: what a person decides about servers of projects' files, which are written with nothing of them lost."""

import asyncio
import contextlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.editor_saves import Save, save_by_rename, save_in_place
from tests.fakes.file_hub import FileHub, file_hub
from tests.fakes.modes import has_mode

from tooltray.config.settings.file_server import FileServer
from tooltray.foundation.errors import Conflict, NotFound, TooltrayError
from tooltray.foundation.files import edited_files
from tooltray.foundation.files.edited_files import EditedFiles, FileHistory, exchange
from tooltray.foundation.files.json_text import digest_of, revision_of
from tooltray.servers.launch.program_launch import CannotStart
from tooltray.sources.project_files import project_servers as module
from tooltray.sources.project_files.project_servers import ProjectEdits
from tooltray.sources.projects.projects import UNUSED_S

ONE = {"command": "program", "args": ["one"]}
TWO = {"command": "program", "args": ["two"]}


async def test_a_server_of_a_file_does_not_take_the_name_of_an_entry_that_cannot_be_read(tmp_path: Path) -> None:
    (config := tmp_path / "served.json").write_text(json.dumps({"mcpProxy": {"addr": "127.0.0.1:0"}, "mcpServers": {"two": TWO}}))
    broken = {"command": "program", "callRules": "cannot be read"}
    async with file_hub(tmp_path, servers={"one": broken, "two": broken}, configs=[config]) as hub:
        folder = hub.project(one=ONE)
        await hub.session(folder)
        (name,) = await hub.trusted(folder)
        assert name != "one"
        assert {"one", "two"}.isdisjoint(hub.parts.conf.settings.mcp_servers)


async def test_a_yes_is_taken_back_and_what_runs_by_it_ends(hub: FileHub) -> None:
    folder = hub.project(one=ONE, two=TWO)
    await hub.session(folder)
    await hub.trusted(folder)
    await hub.project_servers.distrust(folder, "one")
    assert hub.names() == ["two"]
    assert await hub.parts.presenter.restore_trust(folder, "one") == ["one"]
    assert hub.names() == ["one", "two"]
    await hub.project_servers.distrust(folder, "one")
    assert [each.entry for each in hub.project_servers.trusted()] == ["two"]
    await hub.project_servers.distrust(folder, "")
    assert (hub.names(), hub.project_servers.trusted()) == ([], [])
    with pytest.raises(NotFound, match="is not trusted"):
        await hub.project_servers.distrust(folder, "")


async def test_an_entry_that_is_added_here_is_trusted_at_once_and_asks_before_it_changes_something(hub: FileHub) -> None:
    folder = hub.project(one=ONE)
    await hub.session(folder)
    assert await hub.project_servers.add(folder, "two", TWO) == "two"
    assert await hub.project_servers.add(folder, "shy", {**TWO, "autoApprove": []}) == "shy"
    assert hub.states(folder) == {"one": "waits", "two": "used", "shy": "used"}
    servers = hub.parts.conf.settings.mcp_servers
    assert (servers["two"].auto_approve, servers["shy"].auto_approve) == (("read",), ())
    assert [(each.entry, each.is_own) for each in hub.project_servers.trusted()] == [("two", True), ("shy", True)]
    with pytest.raises(Conflict, match="already"):
        await hub.project_servers.add(folder, "one", TWO)
    with pytest.raises(TooltrayError, match="neither a command nor a URL"):
        await hub.project_servers.add(folder, "none", {"args": ["x"]})


async def test_an_entry_is_changed_and_removed_in_its_file_unless_it_is_another_one_by_now(hub: FileHub) -> None:
    folder = hub.project(one=ONE)
    await hub.session(folder)
    await hub.trusted(folder)
    revision = hub.parts.conf.revision("one")
    await hub.parts.presenter.update_mcp_server("one", TWO, revision)
    assert (hub.states(folder), hub.parts.conf.settings.mcp_servers["one"].args) == ({"one": "used"}, ("two",))
    for change in (hub.project_servers.change("one", ONE, revision), hub.project_servers.remove("one", revision)):
        with pytest.raises(Conflict, match="has been changed since you opened it"):
            await change
    await hub.parts.presenter.remove_mcp_server("one", hub.parts.conf.revision("one"))
    assert (hub.names(), hub.project_servers.trusted()) == ([], [])
    assert json.loads(Path(folder, ".mcp.json").read_text()) == {"mcpServers": {}}
    with pytest.raises(NotFound, match="no project has a server 'one'"):
        await hub.project_servers.change("one", ONE, "")


async def test_two_writers_at_once_lose_nothing(hub: FileHub) -> None:
    folder = hub.project(one=ONE)
    await hub.session(folder)
    await asyncio.gather(*(hub.project_servers.add(folder, f"s{number}", {**TWO, "env": {"N": str(number)}}) for number in range(8)))
    assert set(hub.names()) == {f"s{number}" for number in range(8)}


async def test_a_folder_that_nobody_has_allowed_is_not_written_to(hub: FileHub) -> None:
    folder = hub.project()
    with pytest.raises(TooltrayError, match="is not allowed as a project"):
        await hub.project_servers.add(folder, "one", ONE)
    assert not Path(folder, ".mcp.json").exists()
    await hub.parts.folders.allow(folder)
    assert await hub.project_servers.add(folder, "one", ONE) == "one"
    assert hub.names() == ["one"]


async def test_a_server_that_is_added_to_a_project_on_which_nobody_works_is_there_for_a_while(hub: FileHub) -> None:
    folder = hub.project()
    await hub.parts.folders.allow(folder)
    assert await hub.parts.presenter.add_mcp_server("one", ONE, project=folder) == "one"
    await hub.quiet()
    assert "one" in {each.name for each in (await hub.parts.presenter.get_snapshot()).servers}
    hub.parts.wheel.expire(UNUSED_S)
    assert hub.names() == []
    await hub.project_servers.distrust(folder, "one")


async def test_a_server_is_taken_out_of_its_file_also_when_nobody_works_on_its_project(hub: FileHub) -> None:
    folder = hub.project(two=TWO)
    await hub.parts.folders.allow(folder)
    await hub.parts.presenter.add_mcp_server("one", ONE, project=folder)
    hub.parts.wheel.expire(UNUSED_S)
    assert hub.names() == []
    with pytest.raises(Conflict):
        await hub.parts.presenter.remove_mcp_server("one", "another")
    await hub.parts.presenter.remove_mcp_server("one")
    assert list(json.loads((Path(folder) / ".mcp.json").read_text())["mcpServers"]) == ["two"]
    assert (hub.names(), hub.project_servers.trusted()) == ([], [])
    with pytest.raises(NotFound):
        await hub.parts.presenter.remove_mcp_server("one")


async def test_what_is_saved_during_a_yes_counts_and_not_what_was_read_for_it(tmp_path: Path) -> None:
    async with file_hub(tmp_path) as hub:
        folder = hub.project(one=ONE, two=TWO)
        await hub.session(folder)
        asked = {each.entry: each.digest for each in await hub.project_servers.trust_requests(folder)}
        for steps in range(0, 40, 2):
            await hub.saved(folder, {"one": ONE, "two": TWO})
            deciding = asyncio.ensure_future(hub.project_servers.trust(folder, asked))
            for _ in range(steps):
                await asyncio.sleep(0)
            hub.write(folder, {"one": ONE})
            with contextlib.suppress(TooltrayError):  # it was another one already, or half of one
                await deciding
            await hub.quiet()
            assert "two" not in hub.names()


ENTRY = {"command": "program", "args": ["srv.py"]}


async def allowed(hub: FileHub) -> tuple[str, Path]:
    """A project with a server that a person said yes to, and the file that it starts."""
    folder = hub.project(one=ENTRY)
    file = Path(folder) / "srv.py"
    file.write_text("first\n")
    await hub.session(folder)
    assert await hub.trusted(folder) == ["one"]
    return folder, file


def server(hub: FileHub) -> FileServer:
    found = hub.parts.conf.file_server("one")
    assert found is not None
    return found


def kept(hub: FileHub) -> dict[str, object]:
    found: dict[str, object] = next(iter(json.loads(hub.parts.home.trust.read_text())["projects"].values()))["one"]
    return found


async def test_a_file_that_has_changed_asks_again_with_the_difference_and_starts_after_the_yes(hub: FileHub) -> None:
    folder, file = await allowed(hub)
    await hub.parts.project_servers.check_started(server(hub))
    file.write_text("second\n")
    with pytest.raises(CannotStart, match=r"what it starts has changed since you allowed it: srv\.py"):
        await hub.parts.project_servers.check_started(server(hub))
    assert hub.states(folder) == {"one": "changed"}
    [request] = await hub.project_servers.trust_requests(folder)
    assert (request.is_change, request.diff) == (True, (" srv.py:", "-first", "+second"))
    assert request.files[0].startswith("srv.py (")
    file.write_text("third\n")  # while the person looks
    with pytest.raises(Conflict, match="has been changed since you opened it"):
        await hub.project_servers.trust(folder, {"one": request.digest})
    [request] = await hub.project_servers.trust_requests(folder)
    assert await hub.project_servers.trust(folder, {"one": request.digest}) == ["one"]
    assert hub.states(folder) == {"one": "used"}
    await hub.parts.project_servers.check_started(server(hub))


async def test_a_change_is_told_before_the_server_is_started_where_a_person_looks(hub: FileHub) -> None:
    folder, file = await allowed(hub)
    assert await hub.project_servers.trust_requests(folder) == []
    file.unlink()
    [request] = await hub.project_servers.trust_requests(folder)
    assert request.diff == (" srv.py:", "-" + request.diff[1][1:], "+not there")


async def test_the_server_itself_does_not_start_with_another_file(hub: FileHub) -> None:
    _, file = await allowed(hub)
    await hub.parts.presenter.stop_server("one")
    file.write_text("second\n")
    launches = len(hub.parts.launches)
    with pytest.raises(TooltrayError, match="'one' waits for your approval"):
        await hub.parts.presenter.restart_server("one")
    assert len(hub.parts.launches) == launches


async def test_a_consent_of_before_takes_the_files_as_they_are(hub: FileHub) -> None:
    folder, file = await allowed(hub)
    trust = hub.parts.trust
    await trust.allow(folder, {"one": trust.digest(folder, "one")})
    assert kept(hub)["files"] is None
    path = hub.parts.home.trust
    path.rename(path.with_suffix(".aside"))
    path.mkdir()  # so that nothing can be written there
    await hub.parts.project_servers.check_started(server(hub))
    path.rmdir()
    path.with_suffix(".aside").rename(path)
    assert kept(hub)["files"] is None
    await hub.parts.project_servers.check_started(server(hub))
    assert list(kept(hub)["files"]) == ["srv.py"]  # type: ignore[call-overload]
    file.write_text("second\n")
    with pytest.raises(CannotStart):
        await hub.parts.project_servers.check_started(server(hub))
    await hub.project_servers.distrust(folder, "one")
    await trust.keep_files(folder, "one", {})  # of what is trusted no more nothing is noted
    assert trust.files(folder, "one") is None


async def test_many_changed_files_are_named_as_far_as_one_reads(hub: FileHub) -> None:
    names = [f"f{number}.py" for number in range(5)]
    folder = hub.project(one={"command": "program", "args": names})
    await hub.session(folder)
    for name in names:
        (Path(folder) / name).write_text("first")
    await hub.trusted(folder)
    for name in names:
        (Path(folder) / name).write_text("second")
    with pytest.raises(CannotStart, match=r"f0\.py, f1\.py, f2\.py, …"):
        await hub.parts.project_servers.check_started(server(hub))


async def test_a_server_of_another_file_than_a_project_s_own_is_not_looked_at(tmp_path: Path) -> None:
    config = tmp_path / "served.json"
    config.write_text(json.dumps({"mcpProxy": {}, "mcpServers": {"one": ENTRY}}))
    async with file_hub(tmp_path, configs=[str(config)]) as hub:
        await hub.parts.project_servers.check_started(server(hub))


FIRST: dict[str, Any] = {"command": "run", "args": ["one"]}
TEXT = '\ufeff{\r\n  // ours\r\n  "mcpServers": {\r\n    "one": {"command": "run",},\r\n  },\r\n  "more": [1,2]\r\n}\r\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def file(folder: Path) -> Path:
    return folder / ".mcp.json"


async def test_a_file_that_is_not_there_yet_is_made_and_is_the_persons_alone(folder: Path) -> None:
    assert await ProjectEdits().add(str(folder), "one", FIRST) == digest_of(FIRST)
    assert json.loads(file(folder).read_text()) == {"mcpServers": {"one": FIRST}}
    assert has_mode(file(folder), 0o600)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
async def test_all_else_in_the_file_stays_as_it_is(folder: Path, encoding: str) -> None:
    file(folder).write_bytes(TEXT.encode(encoding))
    file(folder).chmod(0o644)
    edits = ProjectEdits()
    await edits.add(str(folder), "two", FIRST)
    after = file(folder).read_bytes().decode(encoding)
    assert after.startswith('\ufeff{\r\n  // ours\r\n  "mcpServers": {\r\n    "one": {"command": "run",},\r\n')
    assert after.endswith('  "more": [1,2]\r\n}\r\n')
    assert "\n" not in after.replace("\r\n", "")
    await edits.change(str(folder), "two", {**FIRST, "args": []}, revision_of(FIRST))
    await edits.remove(str(folder), "two", "")
    assert '"two"' not in file(folder).read_bytes().decode(encoding)
    assert has_mode(file(folder), 0o644)


@pytest.mark.posix
async def test_a_link_stays_a_link(folder: Path) -> None:
    (folder / "mcp.json").write_text("{}")
    file(folder).symlink_to("mcp.json")
    await ProjectEdits().add(str(folder), "one", FIRST)
    assert file(folder).is_symlink()
    assert "one" in json.loads((folder / "mcp.json").read_text())["mcpServers"]


async def test_what_is_another_one_by_now_is_not_touched(folder: Path) -> None:
    file(folder).write_text(TEXT, encoding="utf-8", newline="")
    edits, other = ProjectEdits(), revision_of(FIRST)
    for work, kind in (
        (edits.add(str(folder), "one", FIRST), Conflict),
        (edits.change(str(folder), "one", FIRST, other), Conflict),
        (edits.remove(str(folder), "one", other), Conflict),
        (edits.change(str(folder), "two", FIRST, ""), NotFound),
        (edits.remove(str(folder), "two", ""), NotFound),
    ):
        with pytest.raises(kind):
            await work
    assert file(folder).read_bytes() == TEXT.encode()


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"args": ["x"]}, "neither a command nor a URL"),
        ({"command": "run", "args": ["x" * 1_000_000]}, "its entry has more than"),
    ],
    ids=["no target", "large"],
)
async def test_what_could_not_be_read_again_is_not_written(folder: Path, entry: dict[str, Any], reason: str) -> None:
    with pytest.raises(TooltrayError, match=reason):
        await ProjectEdits().add(str(folder), "one", entry)
    assert not file(folder).exists()


async def test_a_file_that_would_become_too_large_to_be_read_is_not_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 2**20)
    text = json.dumps({"mcpServers": {}, "more": "x" * (2**20 - 100)})
    file(folder).write_text(text)
    with pytest.raises(TooltrayError, match="more than 1 MB"):
        await ProjectEdits().add(str(folder), "one", {"command": "run", "args": ["x" * 200]})
    assert file(folder).read_text() == text


@pytest.mark.parametrize("text", ["{", "[1]", '{"mcpServers": []}'])
async def test_a_file_that_is_not_understood_is_left_to_the_person(folder: Path, text: str) -> None:
    file(folder).write_text(text)
    with pytest.raises(TooltrayError, match="Correct the file by hand"):
        await ProjectEdits().add(str(folder), "one", FIRST)
    assert file(folder).read_text() == text


async def test_what_is_no_file_and_a_folder_that_is_gone_are_said(folder: Path) -> None:
    file(folder).mkdir()
    with pytest.raises(TooltrayError, match="it is a folder"):
        await ProjectEdits().add(str(folder), "one", FIRST)
    with pytest.raises(TooltrayError, match="No such file"):
        await ProjectEdits().add(str(folder / "gone"), "one", FIRST)


async def test_what_another_program_writes_meanwhile_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It writes each time that the file has been read, at first: what it wrote is seen, or the change is given up."""
    monkeypatch.setattr(edited_files, "MOST_TRIES", 5)
    pipe = file(folder)
    pipe.write_text("{}")

    class Entry(dict[str, Any]):
        left = 1

        def items(self) -> Any:  # asked for when the new text is made
            if self.left:
                self.left -= 1
                document = json.loads(pipe.read_text())
                document.setdefault("mcpServers", {})[f"other{self.left}"] = FIRST
                os.replace(_written(folder, json.dumps(document)), pipe)
            return super().items()

    entry, edits = Entry(FIRST), ProjectEdits(files=EditedFiles(pause=lambda _: None))
    await edits.add(str(folder), "one", entry)
    assert set(json.loads(pipe.read_text())["mcpServers"]) == {"one", "other0"}
    entry.left = 1000
    with pytest.raises(TooltrayError, match="again and again"):
        await edits.add(str(folder), "two", entry)


def _written(folder: Path, text: str) -> Path:
    path = folder / "new"
    path.write_text(text)
    return path


@pytest.mark.parametrize("save", [save_in_place, save_by_rename])
async def test_what_a_person_saves_in_the_very_moment_is_kept(folder: Path, save: Save) -> None:
    saves = iter([{"mcpServers": {"theirs": FIRST}}])

    def save_and_exchange(one: str, other: str) -> bool:
        for document in saves:
            save(file(folder), json.dumps(document).encode())
        return exchange(one, other)

    file(folder).write_text("{}")
    await ProjectEdits(files=EditedFiles(exchange=save_and_exchange)).add(str(folder), "one", FIRST)
    assert set(json.loads(file(folder).read_text())["mcpServers"]) == {"one", "theirs"}
    assert [each.name for each in folder.iterdir()] == [file(folder).name]


async def test_a_half_written_file_is_waited_for(folder: Path) -> None:
    file(folder).write_text('{"mcpServers": {')
    whole = json.dumps({"mcpServers": {"theirs": FIRST}}).encode()
    await ProjectEdits(files=EditedFiles(pause=lambda _: save_in_place(file(folder), whole))).add(str(folder), "one", FIRST)
    assert set(json.loads(file(folder).read_text())["mcpServers"]) == {"one", "theirs"}


async def test_what_was_there_before_is_kept_in_the_history(folder: Path, tmp_path: Path) -> None:
    file(folder).write_text('{"mine": 1}')
    history = FileHistory(tmp_path / "history", clean=lambda content: content)
    await ProjectEdits(history).add(str(folder), "one", FIRST)
    assert [each.read_bytes() for each in history.versions(file(folder))] == [b'{"mine": 1}']

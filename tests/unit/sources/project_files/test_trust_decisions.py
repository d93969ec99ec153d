"""trust_decisions.py: consents to entries of projects' files, and to servers inside Tooltray, each for exactly what a person has seen."""

import json
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import sdk_packages
from tests.fakes.full_disk import full_disk
from tests.fakes.heard import PATIENCE_S
from tests.fakes.hub_parts import HubParts, hub_parts, text_of
from tests.fakes.refusal import refusal

from tooltray.config.foreign_configs.reading import read_file
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_edits import choices
from tooltray.foundation.confirm_widening import Unattended, Wish, asked_by
from tooltray.foundation.errors import Conflict, Denied, NotFound, TooltrayError
from tooltray.foundation.events import EventBus
from tooltray.foundation.snapshots.approvals import TrustRequest
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.servers.confinement.confinements import Confinements, Support
from tooltray.sources.project_files.followed_files import ProjectFile
from tooltray.sources.project_files.started_files import StartedTexts
from tooltray.sources.project_files.trust import Trust, TrustStore
from tooltray.sources.project_files.trust_decisions import TrustDecisions
from tooltray.sources.projects.project_sources import ProjectFolders

ONE = {"command": "program", "args": ["one"]}
TWO = {"command": "program", "args": ["two"]}


class Desk:
    """A person's set-up with one project, on the disk."""

    def __init__(self, root: Path, settings: Mapping[str, Any]) -> None:
        self.project, self.settings_file = root / "shop", root / "settings.json"
        self.folder = str(self.project)
        self.project.mkdir()
        self.settings_file.write_text(json.dumps({"version": 1, **settings}))
        self.config = McpConfHelper(self.settings_file, EventBus())
        self.trust = Trust(TrustStore(root / "trust.json"), is_taken=lambda _: False, reserved=())
        self.environs_read = 0
        self.decisions = TrustDecisions(
            config=self.config,
            trust=self.trust,
            folders=ProjectFolders(config=self.config, home=str(root / "people" / "me")),
            read=read_file,
            environ=self._environ,
            texts=StartedTexts(root / "started-files"),
            confinements=Confinements(support=Support("linux", 7, True)),
        )

    async def _environ(self) -> Mapping[str, str]:
        self.environs_read += 1
        return {"SET": "value"}

    def write(self, **entries: Any) -> None:
        (self.project / ".mcp.json").write_text(json.dumps({"mcpServers": entries}))

    async def file(self) -> ProjectFile:
        return await self.decisions.file(self.folder)

    async def requests(self) -> list[TrustRequest]:
        file = await self.file()
        return await self.decisions.requests(file, file.running)

    async def allow(self) -> list[str]:
        """To all that waits."""
        asked = {each.entry: each.digest for each in await self.requests()}
        file, names = await self.decisions.trust(self.folder, asked)
        assert [file.running(entry) is not None for entry in asked] == [True] * len(asked)
        return names

    @property
    def choices(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = json.loads(self.settings_file.read_text()).get("fileServers", {})
        return found


@pytest.fixture
async def desk(tmp_path: Path) -> Desk:
    return await desk_with(tmp_path)


async def desk_with(tmp_path: Path, **settings: Any) -> Desk:
    desk = Desk(tmp_path.resolve(), settings)
    await desk.config.load()
    return desk


async def test_what_waits_is_asked_about_until_the_answer_is_yes(desk: Desk) -> None:
    desk.write(one=ONE, off={**TWO, "disabled": True})
    assert [(each.entry, each.is_change, each.auto_approve) for each in await desk.requests()] == [("one", False, ("read",))]
    assert await desk.allow() == ["one"]
    assert await desk.requests() == []
    desk.write(one=TWO)
    assert [(each.entry, each.is_change) for each in await desk.requests()] == [("one", True)]


async def test_the_environment_is_asked_for_only_where_an_entry_wants_something_of_it(desk: Desk) -> None:
    desk.write(one=ONE)
    await desk.requests()
    assert desk.environs_read == 0
    desk.write(one={**ONE, "env": {"A": "${SET}", "B": "${GONE}"}})
    [request] = await desk.requests()
    assert dict(zip(request.variables, request.variable_states, strict=True)) == {"SET": "set", "GONE": "missing"}


async def test_the_rules_that_a_person_has_chosen_before_are_those_of_the_question(tmp_path: Path) -> None:
    desk = await desk_with(tmp_path, fileServers={"one": {"autoApprove": ["all"]}, "two": {"disabledTools": ["t"]}})
    desk.write(one=ONE, two={**TWO, "autoApprove": ["write"]})
    assert [each.auto_approve for each in await desk.requests()] == [("all",), ("write",)]


async def test_a_yes_to_what_is_another_one_by_now_or_gone_changes_nothing(desk: Desk) -> None:
    desk.write(one=ONE, two=TWO)
    asked = {each.entry: each.digest for each in await desk.requests()}
    desk.write(one=ONE, two=ONE)
    with pytest.raises(Conflict, match="'two' has changed meanwhile"):
        await desk.decisions.trust(desk.folder, asked)
    desk.write(one=ONE)
    with pytest.raises(NotFound, match="'two' not found in"):
        await desk.decisions.trust(desk.folder, asked)
    assert list(desk.trust.entries()) == []


@pytest.mark.parametrize(("text", "error"), [("{", TooltrayError), pytest.param(None, Denied, marks=pytest.mark.posix)])
async def test_a_file_that_cannot_be_read_or_leads_elsewhere_is_an_error(desk: Desk, tmp_path: Path, text: str | None, error: type) -> None:
    file = desk.project / ".mcp.json"
    if text is None:
        file.symlink_to(tmp_path / "elsewhere.json")
    else:
        file.write_text(text)
    with pytest.raises(TooltrayError) as caught:
        await desk.file()
    assert ("leads out of the project" in str(caught.value)) is (error is Denied)


async def test_a_project_without_a_file_has_nothing_to_ask_about(desk: Desk) -> None:
    assert (await desk.file()).entries == ()


async def test_what_is_written_here_is_trusted_and_nothing_is_chosen_for_it(desk: Desk) -> None:
    desk.write(one=ONE, two=TWO)
    digests = {each.entry: each.digest for each in await desk.requests()}
    assert [await desk.decisions.trust_own(desk.folder, name, digests[name]) for name in ("one", "two")] == [["one"], ["two"]]
    assert desk.choices == {}
    assert [each.is_own for each in desk.trust.entries()] == [True, True]


async def test_with_a_consent_its_choices_go_and_come_back_only_with_the_same_content(desk: Desk) -> None:
    desk.write(one=ONE)
    await desk.allow()
    digest = desk.trust.digest(desk.folder, "one")
    await desk.config.edit(choices("one", {"auto_approve": ["write"]}))
    await desk.decisions.trust_own(desk.folder, "one", digest)
    assert await desk.decisions.distrust(desk.folder, "one") == desk.folder
    assert (desk.choices, list(desk.trust.entries())) == ({}, [])
    await desk.decisions.trust_own(desk.folder, "one", "another content")
    assert desk.choices == {}
    await desk.decisions.trust_own(desk.folder, "one", digest)
    assert desk.choices == {"one": {"confinement": "own", "autoApprove": ["write"]}}


async def test_the_last_consent_that_was_taken_back_is_restored_with_its_choices(desk: Desk) -> None:
    desk.write(one=ONE, two=TWO)
    await desk.allow()
    await desk.config.edit(choices("one", {"auto_approve": ["write"]}))
    await desk.decisions.trust_own(desk.folder, "one", desk.trust.digest(desk.folder, "one"))
    for name in ("two", "one"):
        await desk.decisions.distrust(desk.folder, name)
    with pytest.raises(NotFound, match="cannot be undone"):
        await desk.decisions.restore(desk.folder, "two")
    assert (await desk.decisions.restore(desk.folder, "one"))[1] == ["one"]
    assert desk.choices == {"one": {"confinement": "own", "autoApprove": ["write"]}}
    assert [each.entry for each in desk.trust.entries()] == ["one"]


async def test_a_consent_is_not_restored_for_another_content(desk: Desk) -> None:
    desk.write(one=ONE)
    with pytest.raises(NotFound, match="cannot be undone"):
        await desk.decisions.restore(desk.folder, "one")
    await desk.allow()
    await desk.decisions.distrust(desk.folder, "one")
    desk.write(one=TWO)
    with pytest.raises(Conflict):
        await desk.decisions.restore(desk.folder, "one")
    desk.write(one=ONE)
    await desk.decisions.restore(desk.folder, "one")
    assert [each.entry for each in desk.trust.entries()] == ["one"]


async def test_a_server_that_is_trusted_for_the_first_time_is_kept_to_its_own_files(desk: Desk) -> None:
    desk.write(one=ONE, far={"url": "http://127.0.0.1:9/"}, wide={**ONE, "confinement": "open"})
    waiting = {each.entry: each.confinement for each in await desk.requests()}
    assert [waiting[name] and waiting[name].files for name in ("one", "far", "wide")] == ["own", None, "open"]
    await desk.allow()
    assert json.loads(desk.settings_file.read_text())["fileServers"] == {"one": {"confinement": "own"}}


async def test_what_was_chosen_of_its_confinement_stays_when_its_entry_is_another_one(desk: Desk) -> None:
    desk.write(one=ONE)
    await desk.allow()
    await desk.config.edit(choices("one", {"confinement": {"files": "open"}}))
    desk.write(one={**ONE, "args": ["new"]})
    [request] = await desk.requests()
    assert request.confinement
    assert request.confinement.files == "open"
    await desk.allow()
    assert json.loads(desk.settings_file.read_text())["fileServers"] == {"one": {"confinement": {"files": "open"}}}


async def test_an_entry_that_drops_its_own_confinement_is_not_open_for_that(desk: Desk) -> None:
    desk.write(one={**ONE, "confinement": "read"})
    await desk.allow()
    desk.write(one=ONE)
    [request] = await desk.requests()
    assert request.confinement
    assert request.confinement.files == "own"
    await desk.allow()
    assert json.loads(desk.settings_file.read_text())["fileServers"] == {"one": {"confinement": "own"}}


async def test_where_nothing_was_chosen_the_settings_are_not_written(desk: Desk) -> None:
    desk.write(one={**ONE, "confinement": "open"})
    await desk.allow()
    before = desk.settings_file.stat().st_mtime_ns
    await desk.decisions.distrust(desk.folder, "one")
    await desk.decisions.restore(desk.folder, "one")
    assert desk.settings_file.stat().st_mtime_ns == before


@pytest.mark.posix
async def test_a_consent_is_taken_back_by_any_path_of_the_folder_and_after_it_is_gone(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(desk.project)
    desk.write(one=ONE, two=TWO)
    await desk.allow()
    assert await desk.decisions.distrust(str(tmp_path / "link"), "one") == desk.folder
    (desk.project / ".mcp.json").unlink()
    desk.project.rmdir()
    assert await desk.decisions.distrust(desk.folder, "two") == desk.folder
    for folder in ("shop", f"{desk.folder}\0"):
        with pytest.raises(NotFound):
            await desk.decisions.distrust(folder, "")


ENTRY = {"type": "inmemory", "command": "thing", "args": ["--fast"], "autoApprove": ["all"]}
SENTENCE = "it runs inside Tooltray and can read every secret"


class Program(Unattended):
    """A program over REST with a trusted token."""

    name, proposes = "script", True

    async def has_confirmed(self) -> bool:
        return True

    async def confirm(self, wish: Wish) -> None:
        return None


class Stranger(Program):
    """The same with a token that is not trusted."""

    async def has_confirmed(self) -> bool:
        return False

    async def confirm(self, wish: Wish) -> None:
        await Unattended.confirm(self, wish)


@pytest.fixture(autouse=True)
def threads_end() -> Iterator[None]:
    with sdk_packages.importable():
        yield
        for thread in threading.enumerate():
            if thread.name.startswith("server '"):
                thread.join(PATIENCE_S)


@asynccontextmanager
async def hub_with(tmp_path: Path, *, default: tuple[str, ...] = (), **entries: Any) -> AsyncIterator[HubParts]:
    packages = tmp_path / "packages"
    if not packages.exists():
        sdk_packages.install(packages, "thing", summary="does things")
    async with hub_parts(tmp_path, servers=entries, default=default, waits={"packages": packages}) as parts:
        yield parts


async def yes(parts: HubParts, name: str = "s") -> list[str]:
    (request,) = [each for each in await parts.presenter.get_trust_requests() if each.entry == name]
    return await parts.presenter.trust_entries("", {name: request.digest})


async def test_an_installed_app_looks_into_the_home_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    async with hub_parts(tmp_path, servers={"s": ENTRY}) as parts:
        sdk_packages.install(parts.home.python, "thing")
        assert [each.name for each in await parts.presenter.get_inmemory_servers()] == ["thing"]
        await yes(parts)
        await parts.presenter.start_server("s")
        assert await text_of(parts, "arguments") == "--fast"


async def test_without_an_app_there_is_no_such_folder(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"s": ENTRY}) as parts:
        sdk_packages.install(parts.home.python, "thing")
        assert await parts.presenter.get_inmemory_servers() == []


async def test_nothing_runs_before_the_yes_and_the_card_says_so(tmp_path: Path) -> None:
    async with hub_with(tmp_path, s=ENTRY) as parts:
        assert "'s' waits for your approval" in await refusal(parts.presenter.start_server("s"))
        assert not [name for name in sys.modules if name.startswith("sdk_package_")]
        server = parts.snapshots.of(parts.servers.get("s"))
        assert (server.waiting, str(server.problem and server.problem.title)) == (True, "'s' waits for your approval")


async def test_the_request_says_what_runs_and_the_sentence(tmp_path: Path) -> None:
    async with hub_with(tmp_path, s={**ENTRY, "args": ["${secret:s/KEY}"]}) as parts:
        (request,) = await parts.presenter.get_trust_requests()
        assert (request.entry, request.transport, request.command, request.project) == ("s", "inmemory", "thing", "")
        assert request.target == "thing '${secret:s/KEY}'"
        assert request.secrets == ("s/KEY",)
        assert SENTENCE in request.warnings
        assert "it would get these secrets of yours: s/KEY" in request.warnings


async def test_after_the_yes_it_runs_and_its_tools_are_called_like_any_others(tmp_path: Path) -> None:
    async with hub_with(tmp_path, s=ENTRY) as parts:
        assert await yes(parts) == ["s"]
        await parts.heard.state("s", ServerState.RUNNING)
        await parts.presenter.start_server("s")
        assert await text_of(parts, "arguments") == "--fast"
        assert not parts.snapshots.of(parts.servers.get("s")).waiting
        assert await parts.presenter.get_trust_requests() == []
        await parts.presenter.restart_server("s")
        assert await text_of(parts, "say", arguments={"text": "again"}) == "again"
        await parts.presenter.stop_server("s")
        assert parts.servers.get("s").state is ServerState.STOPPED


async def test_a_secret_in_its_arguments_is_filled_in(tmp_path: Path) -> None:
    async with hub_with(tmp_path, s={**ENTRY, "args": ["${secret:s/KEY}"]}) as parts:
        await parts.secrets.set("s/KEY", "dummy-value")
        await yes(parts)
        await parts.presenter.start_server("s")
        assert await text_of(parts, "arguments") == "dummy-value"
        assert "dummy-value" not in (parts.home.root / "inmemory-trust.json").read_text()


async def test_the_yes_lasts_and_is_for_this_content_alone(tmp_path: Path) -> None:
    async with hub_with(tmp_path, s=ENTRY) as parts:
        await yes(parts)
    async with hub_with(tmp_path, s={**ENTRY, "descriptions": "another word"}) as parts:
        assert await parts.presenter.get_trust_requests() == []
    async with hub_with(tmp_path, s={**ENTRY, "args": ["--other"]}) as parts:
        (request,) = await parts.presenter.get_trust_requests()
        assert request.is_change
        assert "'s' waits for your approval" in await refusal(parts.presenter.start_server("s"))


async def test_a_yes_to_what_is_another_thing_by_now_is_none(tmp_path: Path) -> None:
    async with hub_with(tmp_path, s=ENTRY) as parts:
        assert "has been changed since you opened it" in await refusal(parts.presenter.trust_entries("", {"s": "0" * 64}))
        assert "is not waiting for approval" in await refusal(parts.presenter.trust_entries("", {"gone": "0"}))
        assert len(await parts.presenter.get_trust_requests()) == 1


async def test_a_yes_to_what_runs_elsewhere_or_is_gone_is_none(tmp_path: Path) -> None:
    async with hub_with(tmp_path, s=ENTRY, other={"command": "program", "disable": True}) as parts:
        for name in ("gone", "other"):
            assert f"'{name}' is not waiting for approval" in await refusal(parts.inmemory_trust.trust({name: "0"}))


async def test_a_yes_is_taken_back_and_it_stops(tmp_path: Path) -> None:
    async with hub_with(tmp_path, s=ENTRY) as parts:
        await yes(parts)
        await parts.presenter.start_server("s")
        await parts.presenter.distrust_entries("", "s")
        assert parts.servers.get("s").state is ServerState.STOPPED
        assert "'s' waits for your approval" in await refusal(parts.presenter.start_server("s"))
        await yes(parts)
        await parts.heard.state("s", ServerState.RUNNING, count=2)


async def test_only_a_person_says_yes(tmp_path: Path) -> None:
    async with hub_with(tmp_path, s=ENTRY) as parts:
        (request,) = await parts.presenter.get_trust_requests()
        for asker in (Program(), Stranger(), Unattended()):
            with asked_by(asker):
                assert await refusal(parts.presenter.trust_entries("", {"s": request.digest}))
        assert len(await parts.presenter.get_trust_requests()) == 1


async def test_a_full_disk_keeps_no_yes(tmp_path: Path) -> None:
    async with hub_with(tmp_path, s=ENTRY) as parts:
        with full_disk(size_bytes=10):
            assert "cannot be saved" in await refusal(yes(parts))
        assert len(await parts.presenter.get_trust_requests()) == 1


async def test_a_file_of_yeses_that_cannot_be_read_counts_for_nothing_and_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "inmemory-trust.json").write_text("{")
    async with hub_with(tmp_path, s=ENTRY) as parts:
        assert parts.inmemory_store.problem
        assert len(await parts.presenter.get_trust_requests()) == 1


async def test_a_program_can_neither_add_nor_make_one(tmp_path: Path) -> None:
    async with hub_with(tmp_path, s={"command": "npx"}) as parts:
        with asked_by(Stranger()):
            assert "would run inside Tooltray" in await refusal(parts.presenter.add_mcp_server("new", ENTRY))
            assert "would run inside Tooltray" in await refusal(parts.presenter.update_mcp_server("s", ENTRY))
        assert "would run inside Tooltray" in await refusal(parts.presenter.import_setup({"mcpServers": {"new": ENTRY}}))
        assert set(parts.settings_on_disk["mcpServers"]) == {"s"}


async def test_a_project_s_file_has_none(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    async with hub_with(tmp_path) as parts:
        await parts.presenter.allow_folder(str(project))
        assert "would run inside Tooltray" in await refusal(parts.presenter.add_mcp_server("new", ENTRY, project=str(project)))
        (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"new": ENTRY}}))
        assert await parts.presenter.get_trust_requests(str(project)) == []


async def test_a_renamed_server_inside_tooltray_needs_no_second_consent(tmp_path: Path) -> None:
    async with hub_with(tmp_path, s=ENTRY) as parts:
        await yes(parts)
        await parts.presenter.start_server("s")
        await parts.presenter.add_mcp_server("other", ENTRY)
        for name in ("s", "other"):
            await parts.presenter.rename_mcp_server(name, f"new-{name}")
        assert [parts.inmemory_trust.waits(name) for name in ("new-s", "new-other")] == [False, True]
        assert await text_of(parts, "say", arguments={"text": "again"}) == "again"
    kept = TrustStore(tmp_path / "inmemory-trust.json").kept
    assert [(name, each.server) for entries in kept.values() for name, each in entries.items()] == [("new-s", "new-s")]

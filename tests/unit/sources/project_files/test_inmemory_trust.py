"""Servers inside the hub: nothing of them runs before a person has said yes to exactly that, and they run as all others do."""

import json
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import sdk_packages
from tests.fakes.full_disk import full_disk
from tests.fakes.heard import PATIENCE_S
from tests.fakes.hub_parts import HubParts, hub_parts, text_of
from tests.fakes.refusal import refusal

from tooltray.foundation.confirmation import Unattended, Wish, asked_by
from tooltray.foundation.snapshots.servers import ServerState

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
        assert "'s' waits for your yes" in await refusal(parts.presenter.start_server("s"))
        assert not [name for name in sys.modules if name.startswith("sdk_package_")]
        server = parts.snapshots.of(parts.servers.get("s"))
        assert (server.waiting, str(server.problem and server.problem.title)) == (True, "'s' waits for your yes")


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
        assert "waits for your yes" in await refusal(parts.presenter.start_server("s"))


async def test_a_yes_to_what_is_another_thing_by_now_is_none(tmp_path: Path) -> None:
    async with hub_with(tmp_path, s=ENTRY) as parts:
        assert "is another one by now" in await refusal(parts.presenter.trust_entries("", {"s": "0" * 64}))
        assert "does not wait for a yes" in await refusal(parts.presenter.trust_entries("", {"gone": "0"}))
        assert len(await parts.presenter.get_trust_requests()) == 1


async def test_a_yes_to_what_runs_elsewhere_or_is_gone_is_none(tmp_path: Path) -> None:
    async with hub_with(tmp_path, s=ENTRY, other={"command": "program", "disable": True}) as parts:
        for name in ("gone", "other"):
            assert f"'{name}' does not wait for a yes" in await refusal(parts.inmemory_trust.trust({name: "0"}))


async def test_a_yes_is_taken_back_and_it_stops(tmp_path: Path) -> None:
    async with hub_with(tmp_path, s=ENTRY) as parts:
        await yes(parts)
        await parts.presenter.start_server("s")
        await parts.presenter.distrust_entries("", "s")
        assert parts.servers.get("s").state is ServerState.STOPPED
        assert "waits for your yes" in await refusal(parts.presenter.start_server("s"))
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

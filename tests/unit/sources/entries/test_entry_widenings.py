"""entry_widenings.py: what a person is asked about when a server is added, replaced, imported or put back."""

from pathlib import Path

import pytest
from tests.fakes.hub_parts import HubParts, hub_parts
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.confirmation import UNATTENDED, Person, Wish, asked_by
from tooltray.foundation.errors import Denied, TooltrayError
from tooltray.sources.entries import entry_widenings
from tooltray.sources.entries.entry_widenings import EntryWidenings

PROGRAMS = {"p": ScriptedServer(tool("t"))}
ASKS = {"command": "p", "autoApprove": ["ask:t"], "confinement": "own", "env": {"A": "${secret:s/A}"}, "disable": True}


class Seen(Person):
    """Says yes, and keeps what it was about."""

    def __init__(self) -> None:
        self.wishes: list[Wish] = []

    async def confirm(self, wish: Wish) -> None:
        self.wishes.append(wish)


async def removed(parts: HubParts, name: str) -> None:
    with asked_by(UNATTENDED):
        await parts.presenter.remove_mcp_server(name, keep_secrets=True)


async def test_a_server_that_is_removed_and_added_again_may_do_no_more_than_before_without_a_yes(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"s": ASKS}, programs=PROGRAMS) as parts:
        await removed(parts, "s")
        for wider in ({"autoApprove": ["all"]}, {"confinement": "open"}):
            with asked_by(UNATTENDED), pytest.raises(Denied):
                await parts.presenter.add_mcp_server("s", {**ASKS, **wider})
        with asked_by(UNATTENDED), pytest.raises(Denied):
            await parts.presenter.add_mcp_server("s", {"command": "p", "disable": True})  # the usual rules are wider than those of before
        assert parts.conf.entries == {}
        with asked_by(UNATTENDED):
            await parts.presenter.add_mcp_server("s", ASKS)
        assert parts.conf.entries == {"s": ASKS}


async def test_a_person_is_told_rules_on_arguments_and_whose_the_secrets_are(tmp_path: Path) -> None:
    other, seen = {**ASKS, "env": {"A": "${secret:shared}", "B": "${secret:s/unused}"}}, Seen()
    async with hub_parts(tmp_path, servers={"s": other, "z": other}, programs=PROGRAMS) as parts:
        entry = {
            "command": "p",
            "disable": True,
            "callRules": [{"tool": "t"}],
            "args": ["${secret:shared}", "${secret:s/KEY}", "${secret:x}"],
        }
        with asked_by(seen):
            await parts.presenter.add_mcp_server("new", entry)
    assert [wish.about for wish in seen.wishes] == [
        {"server": "new", "rules": "read, t: without arguments", "rules_before": "read"},
        {"server": "new", "secrets": "s/KEY (s), shared (s, z)"},
    ]


@pytest.mark.parametrize("secret", ["oauth/s", "tooltray-backups", "tooltray/trusted tokens"])
async def test_sign_ins_and_what_tooltray_keeps_for_itself_are_nobody_else_s(tmp_path: Path, secret: str) -> None:
    async with hub_parts(tmp_path, servers={"s": ASKS}, programs=PROGRAMS) as parts:
        with asked_by(UNATTENDED), pytest.raises(Denied, match="Giving a server secrets of others"):
            await parts.presenter.add_mcp_server("new", {"command": "p", "args": [f"${{secret:{secret}}}"], "disable": True})


async def test_a_no_to_an_import_or_to_putting_servers_back_changes_nothing(tmp_path: Path) -> None:
    own = {"mcpServers": {"s": ASKS}, "publish": {"clients": {"c": {"mode": "search", "autoApprove": []}}}}
    wider = {"command": "p", "autoApprove": ["read"], "disable": True}
    async with hub_parts(tmp_path, servers=own["mcpServers"], settings={"publish": own["publish"]}, programs=PROGRAMS) as parts:
        before = dict(parts.conf.document)
        parts.shipped_setup = {"version": 1, "mcpServers": {"s": wider}, "defaultServers": []}
        with asked_by(UNATTENDED):
            with pytest.raises(Denied, match="Putting back servers that may do more"):
                await parts.presenter.reset_to_default_servers()
            with pytest.raises(Denied, match="Importing what allows more"):
                await parts.presenter.import_setup({"mcpServers": {}, "publish": {"clients": {"c": {"mode": "search"}}}}, replace=True)
            await parts.presenter.import_setup({"mcpServers": {"s": wider}, "publish": {"clients": {"c": {}}}})  # both are kept
        assert parts.conf.document == before


async def test_what_an_import_would_allow_is_told_in_words(tmp_path: Path) -> None:
    seen, clients = Seen(), {"c": {"autoApprove": ["read"]}, "a.b": {"callRules": [{"tool": "t"}]}}
    async with hub_parts(tmp_path, servers={"s": ASKS}, programs=PROGRAMS) as parts:
        setup = {"mcpServers": {"s": {"command": "p", "disable": True}}, "publish": {"clients": clients}, "readyAnswers": ["Yes"]}
        with asked_by(seen):
            await parts.presenter.import_setup({**setup, "npmRegistries": [{"name": "n", "url": "https://r.example"}]}, replace=True)
    assert [wish.about["changes"].split(", ") for wish in seen.wishes] == [
        [
            "s: p (approved without asking: read); Allowing tool calls; Letting a server do more",
            "npmRegistries: add",
            "publish.clients.c: approved without asking: read",
            "publish.clients.a.b: approved without asking: t: without arguments",
        ]
    ]


def test_of_very_many_that_were_removed_the_oldest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry_widenings, "MOST_REMOVED", 2)
    widenings = EntryWidenings(config=None, server_secrets=None)  # type: ignore[arg-type]
    for name in ("a", "b", "a", "c"):
        widenings.note_removed(name, MCPServerConfig(command=name))
    widenings.note_removed("d", None)
    assert list(widenings._removed) == ["a", "c"]


async def test_an_entry_that_cannot_be_used_is_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={}, programs=PROGRAMS) as parts:
        with asked_by(UNATTENDED), pytest.raises(TooltrayError, match="neither a command nor a URL"):
            await parts.presenter.add_mcp_server("new", {})

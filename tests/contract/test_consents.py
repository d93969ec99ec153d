"""Who is asked before a verb does something: one table for every verb and every carrier, consents.txt. A new verb needs a line there."""

from pathlib import Path

import pytest
from tests.fakes.hub_parts import hub_parts
from tests.fakes.scripted_server import ScriptedServer, tool
from tests.fakes.verb_table import VERBS
from tests.unit.api.presenter.test_confirmed_verbs import SERVERS, WIDENING

from tooltray.consent.askers import WindowAsker
from tooltray.foundation.confirm_widening import Asker, Unattended, Wish, asked_by, must_wait
from tooltray.foundation.errors import Denied, TooltrayError
from tooltray.foundation.verbs import options_of

ROWS = [line for line in (Path(__file__).parent / "consents.txt").read_text().splitlines() if not line.startswith("#")]
TABLE = {line.split()[0]: line.split()[1].rstrip(":") for line in ROWS}
TRIED_ELSEWHERE = {
    "import_servers": "unit/ai_clients",
    "put_back_moved_servers": "unit/ai_clients",
    "apply_client_edits": "unit/ai_clients",
    "undo_client_change": "unit/ai_clients",
    "set_protocol_log": "unit/logs",
    "get_approval_diff": "unit/approvals",
    "get_approval_form": "unit/approvals",
    "get_try_diff": "unit/gateway",
}
"""Verbs that confirm, whose test needs files or records that these tests do not have; where it is."""


class Names:
    """Notes which verbs the examples call."""

    def __init__(self) -> None:
        self.verbs: list[str] = []

    def __getattr__(self, verb: str) -> object:
        self.verbs.append(verb)
        return lambda *_, **__: None


def verb_of(example: str) -> str:
    names = Names()
    WIDENING[example](names, "/x")  # type: ignore[arg-type]
    return names.verbs[0]


class Asked(TooltrayError):
    """A person would be asked now."""


class Command(Unattended):
    async def confirm(self, wish: Wish) -> None:
        raise Asked(wish.what)


class Program(Command):
    name, proposes = "some program", True


def test_every_verb_has_one_line_and_no_line_is_without_a_verb() -> None:
    lines = [line.split()[0] for line in ROWS]
    assert len(lines) == len(set(lines))
    assert set(lines) ^ set(VERBS) == set(), "these need a line in tests/contract/consents.txt, or have no verb"
    assert set(TABLE.values()) == {"confirm", "program", "free"}


def test_every_exception_for_commands_says_why() -> None:
    assert all(": " in line for line in ROWS if line.split()[1].startswith("program"))


@pytest.mark.parametrize("verb", VERBS)
def test_a_program_is_asked_as_the_table_says(verb: str) -> None:
    """A rule of REST's own is there for verbs that are free for commands alone; what confirms by itself needs none."""
    has_rule = options_of(VERBS[verb]).trusted is not None
    assert TABLE[verb] == "confirm" or has_rule == (TABLE[verb] == "program")


def test_every_verb_that_confirms_has_an_example_and_no_other_has() -> None:
    shown = {verb_of(example) for example in WIDENING}
    assert shown | TRIED_ELSEWHERE.keys() == {verb for verb, who in TABLE.items() if who == "confirm"}


@pytest.mark.parametrize("asker", [Command(), Program()], ids=["control", "REST"])
@pytest.mark.parametrize("example", WIDENING)
async def test_what_widens_asks_a_person_whoever_carries_it(tmp_path: Path, example: str, asker: Asker) -> None:
    folder = tmp_path.resolve() / "shop"
    folder.mkdir()
    async with hub_parts(tmp_path / "home", servers=SERVERS, programs={"p": ScriptedServer(tool("t"))}) as parts:
        before = parts.home.settings.read_bytes()
        with asked_by(asker):
            waits = await must_wait() and verb_of(example) in ("add_mcp_server", "update_mcp_server")
            try:
                await WIDENING[example](parts.presenter, str(folder))
            except Asked:
                assert not waits
            except Denied:
                assert waits  # its folder is not allowed
            else:
                assert waits  # as a proposal, see Proposals
        assert parts.home.settings.read_bytes() == before


@pytest.mark.parametrize("example", WIDENING)
async def test_the_person_at_the_window_is_asked_by_no_verb(tmp_path: Path, example: str) -> None:
    folder = tmp_path.resolve() / "shop"
    folder.mkdir()
    async with hub_parts(tmp_path / "home", servers=SERVERS, programs={"p": ScriptedServer(tool("t"))}) as parts:
        refused = ""
        with asked_by(WindowAsker(parts.trail)):
            try:
                await WIDENING[example](parts.presenter, str(folder))
            except TooltrayError as error:
                refused = str(error)  # that there is no such call, grant or token
        assert "needs a person" not in refused

"""skill_edits.py, and the way of its edits through client_edits.py: where the skill is written, and that all of it is undone."""

import errno
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.fakes.ai_client_home import ClientHome

from tooltray.foundation.confirm_widening import UNATTENDED, asked_by
from tooltray.foundation.errors import Conflict, Denied, NotFound
from tooltray.foundation.files import edited_files
from tooltray.foundation.snapshots.ai_clients import ClientChange
from tooltray.sources.clients import skill_edits
from tooltray.sources.clients.api import AiClientsApi
from tooltray.sources.clients.client_kinds import ClientFiles, ClientKind, HomeVariable, Signs, read_client_kinds
from tooltray.sources.clients.skill_edits import planned_skills, skill_edit_named

READS = ClientKind("acme", "Acme", "json", (), "plain", skills=ClientFiles(all=("~/.acme/skills",)), signs=Signs(paths=("~/.acme",)))
OTHER = ClientKind("other", "Other", "json", (), "plain")
KINDS = (READS, OTHER)
SKILL = ".acme/skills/tooltray/SKILL.md"
FOREIGN = "---\nname: tooltray\n---\nMine.\n"


@pytest.fixture
async def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ClientHome]:
    monkeypatch.setattr(skill_edits, "read_client_kinds", lambda: KINDS)
    made = ClientHome(tmp_path)
    (tmp_path / ".acme").mkdir()
    yield made
    await made.close()


def file(home: ClientHome) -> Path:
    return home.root / SKILL


async def written(home: ClientHome, *clients: str, folder: str = "") -> ClientChange:
    edits = home.edits()
    (edit,) = await edits.preview_skill(clients, folder)
    (change,) = await edits.apply({edit.id: edit.revision})
    return change


# into which folders


async def test_it_is_written_for_installed_clients_with_a_known_folder(home: ClientHome) -> None:
    (edit,) = await home.edits().preview_skill((), "")
    assert (edit.client, edit.action, edit.path, edit.is_foreign) == ("acme", "skill", str(file(home)), False)
    assert "+name: tooltray" in edit.diff.split("\n")
    assert not file(home).parent.parent.exists()
    (change,) = await home.edits().apply({edit.id: edit.revision})
    assert file(home).read_text() == home.skill
    assert (change.problem, change.undo) == (None, "exact")


def test_a_client_without_a_known_folder_and_one_that_is_not_installed_have_the_reason(home: ClientHome) -> None:
    places, gone = home.look_now().places, replace(READS, id="gone", signs=Signs())
    edits = planned_skills(("other", "gone"), "", home.skill, places, (*KINDS, gone))
    assert [str(edit.problem.message) for edit in edits if edit.problem] == ["its folder of skills is not known", "it is not installed"]
    assert [edit.kind.id for edit in planned_skills((), "", home.skill, places, (*KINDS, gone))] == ["acme"]
    with pytest.raises(NotFound, match="AI client 'nobody' not found"):
        planned_skills(("acme", "nobody"), "", home.skill, places, KINDS)
    with pytest.raises(NotFound, match="AI client '' not found"):
        planned_skills(("acme", ""), "", home.skill, places, KINDS)


def test_where_a_variable_moves_a_clients_files_its_folder_is_not_known(home: ClientHome) -> None:
    moved = replace(READS, home_variable=HomeVariable("HOME", "~"))
    assert planned_skills((), "", home.skill, home.look_now().places, (moved,)) == []


def test_the_table_names_no_folder_that_is_not_below_one_of_the_user() -> None:
    """Folders come from facts about a client, each below a folder that the client's own."""
    patterns = [pattern for kind in read_client_kinds() for pattern in (*kind.skills.all, *kind.skills.linux)]
    assert all(pattern.startswith(("~/", "${")) and "*" not in pattern for pattern in patterns)


async def test_a_folder_of_the_user_takes_the_place_of_clients(home: ClientHome) -> None:
    (home.root / "skills").mkdir()
    change = await written(home, folder=str(home.root / "skills"))
    assert (change.client, change.problem) == ("folder", None)
    assert (home.root / "skills/tooltray/SKILL.md").read_text() == home.skill


@pytest.mark.parametrize("folder", ["nowhere", "a-file", ""])
async def test_a_folder_that_does_not_exist_is_not_made(home: ClientHome, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    home.write("a-file", "")
    (home.root / "skills").mkdir()
    monkeypatch.chdir(home.root)  # the folder "skills" is no absolute path
    change = await written(home, folder=str(home.root / folder) if folder else "skills")
    assert change.problem
    assert not (home.root / (folder or "skills") / "tooltray").exists()


# again, and back


async def test_it_is_written_again_for_other_servers_and_undone_step_by_step(home: ClientHome) -> None:
    first, text = await written(home), home.skill
    assert (await written(home)).note == "nothing had to be changed"
    home.skill = text.replace("none yet", "github")
    assert [each.is_foreign for each in await home.edits().preview_skill((), "")] == [False]
    second = await written(home, "acme")
    assert "github" in file(home).read_text()
    assert [each.action for each in await home.edits().changes()] == ["skill", "skill"]
    await home.edits().undo(second.id)
    assert file(home).read_text() == text
    await home.edits().undo(first.id)
    assert not file(home).parent.parent.exists()


async def test_an_edited_skill_is_not_undone(home: ClientHome) -> None:
    change = await written(home)
    file(home).write_text("mine")
    assert [each.undo for each in await home.edits().changes()] == ["none"]
    with pytest.raises(Conflict, match="cannot be undone"):
        await home.edits().undo(change.id)
    assert file(home).read_text() == "mine"


async def test_undoing_needs_the_user_where_it_writes_an_earlier_skill(home: ClientHome) -> None:
    api = AiClientsApi(client_scans=home, client_edits=home.edits(), client_imports=None)  # type: ignore[arg-type]
    first = await written(home)
    assert await api.get_own_skill() == home.skill
    home.skill += "more\n"
    (edit,) = await api.preview_own_skill(["acme"])
    with asked_by(UNATTENDED), pytest.raises(Denied):
        await api.apply_client_edits({edit.id: edit.revision})
    second = await written(home)
    with asked_by(UNATTENDED):
        with pytest.raises(Denied):
            await api.undo_client_change(second.id)
        await home.edits().undo(second.id)
        await api.undo_client_change(first.id)
    assert not file(home).exists()


# odd files


async def test_a_foreign_skill_is_shown_and_replaced_only_as_it_was_shown(home: ClientHome) -> None:
    home.write(SKILL, FOREIGN)
    (edit,) = await home.edits().preview_skill((), "")
    assert edit.is_foreign
    assert "-Mine." in edit.diff
    (change,) = await home.edits().apply({edit.id: ""})
    assert change.problem
    assert "was not written by Tooltray" in str(change.problem)
    home.write(SKILL, FOREIGN + "More.\n")
    (change,) = await home.edits().apply({edit.id: edit.revision})
    assert "has changed since" in str(change.problem)
    change = await written(home)
    assert file(home).read_text() == home.skill
    await home.edits().undo(change.id)
    assert file(home).read_text() == FOREIGN + "More.\n"


@pytest.mark.parametrize("link", [SKILL, ".acme/skills/tooltray"])
async def test_nothing_is_written_through_a_link(home: ClientHome, link: str) -> None:
    target = home.write("elsewhere/SKILL.md", FOREIGN)
    (home.root / link).parent.mkdir(parents=True)
    (home.root / link).symlink_to(target if link == SKILL else target.parent)
    change = await written(home, "acme")
    assert change.problem
    assert str(change.problem.message) == f"{home.root / link} is a link"
    assert target.read_text() == FOREIGN


async def test_a_folder_in_place_of_the_file_stays(home: ClientHome) -> None:
    file(home).mkdir(parents=True)
    assert (await written(home, "acme")).problem
    assert file(home).is_dir()


async def test_a_folder_that_cannot_be_written_is_reported(home: ClientHome, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> str:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))  # root, as which the tests may run, may write everywhere

    monkeypatch.setattr(edited_files, "write_beside", refused)
    monkeypatch.setattr(edited_files, "write_atomically", refused)
    change = await written(home)
    assert "Permission denied" in str(change.problem)
    assert not file(home).parent.parent.exists()
    assert await home.edits().changes() == []


async def test_an_edit_of_another_client_or_file_is_refused(home: ClientHome) -> None:
    places = home.look_now().places
    with pytest.raises(NotFound, match="is not a file for this skill"):
        skill_edit_named("acme", str(home.root / "x/tooltray/SKILL.md"), home.skill, places)
    with pytest.raises(NotFound, match="is not a file for this skill"):
        skill_edit_named("folder", str(home.root / "x/other/SKILL.md"), home.skill, places)
    (change,) = await home.edits().apply({"skill:nobody:/x/tooltray/SKILL.md": ""})
    assert "'nobody' not found" in str(change.problem)

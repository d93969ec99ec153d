"""skill_catalogue.py"""

from pathlib import Path

import pytest
from tests.fakes.everything_server import answered
from tests.fakes.scripted_server import error
from tests.fakes.skill_server import SkillServer, skill_entry, skill_md
from tests.unit.consent.skills.test_skills import GIT, hub, ready, text, uris

from tooltray.consent.skills import skill_catalogue
from tooltray.foundation.events import ResourceListChanged


async def test_skills_of_a_server_at_rest_are_known_from_the_disk(tmp_path: Path) -> None:
    program = SkillServer("git-workflow")
    async with hub(tmp_path, {"s": program}) as parts:
        await ready(parts)
        await parts.ended()
    async with hub(tmp_path, {"s": program}, deferredStartup=False) as parts:
        assert await uris(parts) == [GIT]
        assert program.count("skills/list") == 1


async def test_a_list_that_is_old_is_asked_for_again_when_a_client_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = SkillServer("git-workflow")
    async with hub(tmp_path, {"s": program}) as parts:
        await ready(parts)
        await uris(parts)
        assert program.count("skills/list") == 1
        monkeypatch.setattr(skill_catalogue, "FRESH_FOR_S", -1.0)
        program.files["skill://new/SKILL.md"] = skill_md("new")
        program.renew()
        assert await uris(parts) == [GIT, "skill://new/SKILL.md"]
        assert ResourceListChanged("s") in parts.heard.of(ResourceListChanged)


async def test_a_server_that_declares_skills_and_knows_no_method_of_them_has_none(tmp_path: Path) -> None:
    program = SkillServer()
    program.handlers["skills/list"] = lambda copy, params: error(-32601, "Method not found")
    async with hub(tmp_path, {"s": program}) as parts:
        await ready(parts)
        assert await uris(parts) == []


async def test_ten_thousand_skills_are_too_many_and_what_was_known_stays(tmp_path: Path) -> None:
    program = SkillServer("git-workflow")
    async with hub(tmp_path, {"s": program}) as parts:
        await ready(parts)
        program.skills = [skill_entry(f"skill://s{n}/SKILL.md", {}) for n in range(10_000)]
        await parts.skill_lists.look(parts.servers.get("s"))
        assert await uris(parts) == [GIT]
        assert "5,000 entries" in str(parts.skill_lists.problem("s"))


async def test_files_of_nested_skills_belong_to_both_and_folders_to_the_inner_one(tmp_path: Path) -> None:
    program = SkillServer("a", "a/b")
    async with hub(tmp_path, {"s": program}, disabledSkills=["b"]) as parts:
        await ready(parts)
        assert await text(parts, "skill://a/b/SKILL.md") == program.files["skill://a/b/SKILL.md"]
        assert "error" in await answered(parts, "resources/directory/read", uri="skill://a/b")
        assert "result" in await answered(parts, "resources/directory/read", uri="skill://a")


async def test_skills_under_another_scheme_follow_the_rule_of_resources(tmp_path: Path) -> None:
    program, uri = SkillServer(), "github://acme/skills/notes/SKILL.md"
    program.files[uri] = skill_md("notes")
    program.renew()
    async with hub(tmp_path, {"s": program, "t": SkillServer()}) as parts:
        await ready(parts)
        assert await uris(parts) == [uri]
        assert await text(parts, uri) == program.files[uri]


async def test_of_what_was_got_by_its_uri_the_oldest_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skill_catalogue, "MOST_GOT", 1)
    program = SkillServer()
    for name in ("one", "two"):
        program.files[f"skill://{name}/SKILL.md"] = skill_md(name)
    program.renew()
    program.unlisted, program.skills = program.skills, []
    async with hub(tmp_path, {"s": program}) as parts:
        await ready(parts)
        for name in ("one", "two", "two"):
            assert "result" in await answered(parts, "skills/get", uri=f"skill://{name}/SKILL.md")
        catalogue = parts.skill_catalogue
        assert not catalogue.skills_with("s", "skill://one/SKILL.md")
        assert catalogue.skills_with("s", "skill://two/SKILL.md")
        await parts.conf.remove_server("s")
        assert not catalogue.skills_with("s", "skill://two/SKILL.md")


async def test_a_server_that_is_removed_takes_its_skills_along(tmp_path: Path) -> None:
    async with hub(tmp_path, {"s": SkillServer("git-workflow"), "t": SkillServer("notes")}) as parts:
        await ready(parts)
        await parts.conf.remove_server("s")
        assert await uris(parts) == ["skill://notes/SKILL.md"]

"""api.py, and the reading of skills in skills.py"""

from pathlib import Path

import pytest
from tests.fakes.hub_parts import HubParts
from tests.fakes.scripted_server import error
from tests.fakes.skill_server import SkillServer, skill_md
from tests.unit.consent.skills.test_skills import GIT, hub, ready, uris

from tooltray.foundation.errors import NotFound, TooltrayError


async def names(parts: HubParts, **chosen: str) -> list[str]:
    return [each.name for each in await parts.skills_api.get_skills(**chosen)]


async def test_skills_are_listed_with_what_happens_to_them(tmp_path: Path) -> None:
    one, two = SkillServer("git-workflow", "daily"), SkillServer("acme/daily")
    one.skills[1]["resources"] = "dynamic"
    async with hub(tmp_path, {"one": one, "two": two}) as parts:
        await ready(parts)
        git, daily, other = await parts.skills_api.get_skills()
        assert (git.uri, git.own_uri, git.server, git.file_count, git.is_dynamic, git.is_shared_name) == (GIT, GIT, "one", 2, False, False)
        assert git.size_bytes == sum(len(text) for uri, text in one.files.items() if "git" in uri)
        assert (daily.file_count, daily.is_dynamic, daily.is_shared_name, other.is_shared_name) == (0, True, True, True)
        assert await names(parts, server="two") == ["daily"]
        with pytest.raises(NotFound):
            await names(parts, server="none")


async def test_a_person_reads_a_skill_also_while_it_is_held(tmp_path: Path) -> None:
    program = SkillServer("git-workflow")
    async with hub(tmp_path, {"s": program}) as parts:
        await ready(parts)
        program.files[GIT] = skill_md("git-workflow", "Otherwise.")
        program.renew()
        await parts.presenter.restart_server("s")
        await ready(parts)
        assert [each.is_held for each in await parts.skills_api.get_skills()] == [True]
        for word in (GIT, "git-workflow"):
            skill = await parts.skills_api.get_skill(word)
            assert (skill["server"], skill["uri"], skill["text"]) == ("s", GIT, program.files[GIT])
            assert skill["frontmatter"]["name"] == "git-workflow"
        for answer, reason in ((error(-32603, "broken"), "broken"), ({"contents": []}, "")):
            program.handlers["resources/read"] = lambda copy, params, answer=answer: answer
            with pytest.raises(TooltrayError, match=f"could not be read.*{reason}"):
                await parts.skills_api.get_skill(GIT)


async def test_of_several_skills_of_a_name_one_is_named_by_its_uri(tmp_path: Path) -> None:
    async with hub(tmp_path, {"one": SkillServer("daily"), "two": SkillServer("acme/daily")}) as parts:
        await ready(parts)
        with pytest.raises(NotFound, match="Several skills"):
            await parts.skills_api.get_skill("daily")
        with pytest.raises(NotFound, match="Skill 'gone' not found"):
            await parts.skills_api.get_skill("gone")


async def test_a_skill_is_switched_off_and_on_by_its_name_or_uri(tmp_path: Path) -> None:
    async with hub(tmp_path, {"s": SkillServer("git-workflow", "daily")}) as parts:
        await ready(parts)
        for off, on in ((GIT, "git-workflow"), ("git-workflow", GIT)):
            await parts.skills_api.set_skill_enabled("s", off, False)
            assert parts.settings_on_disk["mcpServers"]["s"]["disabledSkills"] == [off]
            assert await uris(parts) == ["skill://daily/SKILL.md"]
            assert [each.is_enabled for each in await parts.skills_api.get_skills()] == [False, True]
            await parts.skills_api.set_skill_enabled("s", on, True)
            assert await uris(parts) == [GIT, "skill://daily/SKILL.md"]
        with pytest.raises(NotFound):
            await parts.skills_api.set_skill_enabled("s", "gone", False)

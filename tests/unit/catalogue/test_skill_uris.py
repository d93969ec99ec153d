"""skill_uris.py"""

from pathlib import Path

from tests.fakes.hub_parts import entry, hub_parts
from tests.fakes.offering import resource, template
from tests.fakes.skill_server import SkillServer

A, B = "skill://acme/a/SKILL.md", "skill://acme/b/SKILL.md"


async def test_a_first_part_stays_with_the_server_that_had_it_first(tmp_path: Path) -> None:
    programs = {name: SkillServer() for name in ("one", "Two")}
    async with hub_parts(tmp_path, servers={name: entry(name) for name in programs}, programs=programs) as parts:
        uris = parts.skill_uris
        assert uris.published("one", A) == A
        assert uris.target(A) is None
        await uris.give([("one", A), ("one", "other://x")])
        await uris.give([("one", B), ("Two", A)])
        assert [uris.published("one", A), uris.published("Two", A)] == [A, "skill://Two/acme/a/SKILL.md"]
        assert [uris.target(A), uris.target("skill://Two/acme/a/SKILL.md")] == [("one", A), ("Two", A)]
        assert uris.target("skill://two/acme/a") == ("Two", "skill://acme/a")
        assert uris.target("skill://Two") is None
        await uris.forget()
        assert uris.target(A) is None
        await uris.give([("one", A), ("Two", A)])
        assert uris.published("one", A) == "skill://one/acme/a/SKILL.md"


async def test_no_uri_of_a_server_begins_with_the_name_of_another_one(tmp_path: Path) -> None:
    programs = {name: SkillServer() for name in ("acme", "other")}
    async with hub_parts(tmp_path, servers={name: entry(name) for name in programs}, programs=programs) as parts:
        uris = parts.skill_uris
        await uris.give([("acme", "skill://acme/x"), ("other", A)])
        assert uris.published("acme", A) == "skill://acme/acme/a/SKILL.md"
        await uris.forget()
        await uris.give([("other", A)])
        assert uris.published("other", A) == "skill://other/acme/a/SKILL.md"
        assert uris.target("skill://other/acme/a/SKILL.md") == ("other", A)


async def test_resources_and_templates_under_this_scheme_follow_the_same_rule(tmp_path: Path) -> None:
    programs = {name: SkillServer() for name in ("one", "two")}
    for program in programs.values():
        program.resources, program.templates = [resource(A)], [template("skill://{+path}")]
    async with hub_parts(tmp_path, servers={name: entry(name) for name in programs}, programs=programs) as parts:
        for name in programs:
            await parts.servers.start(name)
            await parts.offers.listed(parts.servers.get(name)).wait()
        assert b"skill://one/acme/a/SKILL.md" in bytes(await parts.resources.listing())
        assert b"skill://two/{+path}" in bytes(await parts.resources.templates())
        assert parts.resources.target("skill://two/acme/a/x") == ("two", "skill://acme/a/x")
        assert parts.resources.target("skill://two/new/x") == ("two", "skill://new/x")
        assert parts.resources.published_uri("two", "skill://acme/y") == "skill://two/acme/y"
        await parts.presenter.reset_tool_names()
        assert parts.skill_uris.target(A) is None

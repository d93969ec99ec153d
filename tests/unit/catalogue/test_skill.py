"""skill.py"""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.hub_parts import hub_parts, one_server
from tests.fakes.skill_server import SkillServer, skill_entry, skill_md

from tooltray.catalogue.skill import EXTENSION, MOST_FILES, SKILLS, Skill, Unusable, read_skill, read_skills, skill_text

URI = "skill://acme/refunds/SKILL.md"
FILES = {URI: skill_md("refunds"), "skill://acme/refunds/a/b.md": "b"}


def entry(**members: Any) -> dict[str, Any]:
    return skill_entry(URI, FILES) | members


def read(value: Any) -> Skill:
    return read_skill(Raw(json.dumps(value).encode()))


def file(**members: Any) -> dict[str, Any]:
    return skill_entry(URI, FILES)["resources"][0] | members


def test_skills_are_declared_among_the_extensions() -> None:
    assert SKILLS.declared({"extensions": {EXTENSION: {}}}) == {}


def test_an_entry_says_what_a_skill_is_and_another_order_or_spacing_is_no_change() -> None:
    skill = read(entry())
    assert (skill.uri, skill.name, skill.description, skill.folder) == (URI, "refunds", "About refunds", "skill://acme/refunds/")
    assert skill.flaw == ""
    assert skill.files is not None
    assert list(skill.files) == list(FILES)
    turned = json.dumps(entry(resources=entry()["resources"][::-1], vendor=1), indent=1)
    assert read_skill(Raw(turned.encode())).mark == skill.mark
    assert json.loads(skill_text(skill))["frontmatter"]["name"] == "refunds"


@pytest.mark.parametrize(
    "change",
    [
        {"frontmatter": {"name": "refunds", "description": "another"}},
        {"frontmatter": {"name": "refunds", "description": "About refunds", "allowed-tools": "*"}},
        {"resources": "dynamic"},
        {"resources": [file()]},
        {"resources": [file(digest="sha256:" + "0" * 64), entry()["resources"][1]]},
    ],
)
def test_whatever_changes_in_frontmatter_or_files_makes_another_skill(change: dict[str, Any]) -> None:
    assert read(entry(**change)).mark != read(entry()).mark


def test_a_skill_whose_content_is_made_when_it_is_read_has_no_files() -> None:
    assert read(entry(resources="dynamic")).files is None


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (7, "no uri"),
        ({"uri": 7}, "no uri"),
        (entry(uri="x" * 3000), "no uri"),
        (entry(frontmatter=[]), "no frontmatter"),
        (entry(frontmatter={"name": "refunds"}), "no frontmatter"),
        (entry(frontmatter={"name": "refunds\u202e", "description": ""}), "not a valid name of a skill"),
        (entry(frontmatter={"name": "re\x1bfunds", "description": ""}), "not a valid name of a skill"),
        (entry(frontmatter={"name": "other", "description": ""}), "does not end in the name"),
        (entry(uri="skill://refunds"), "does not end in the name"),
        (entry(resources=None), "does not list its files"),
        (entry(resources=[file(uri=f"{URI[:-8]}{n}") for n in range(MOST_FILES + 1)]), "more than 512 files"),
        (entry(resources=[]), "lists a file twice"),
        (entry(resources=[file(), file()]), "lists a file twice"),
        (entry(resources=[7]), "not in its folder"),
        (entry(resources=[file(uri="skill://other/x.md")]), "not in its folder"),
        (entry(resources=[file(digest="sha256:ABC")]), "no SHA-256"),
        (entry(resources=[file(size=True)]), "no size"),
        (entry(resources=[file(size=-1)]), "no size"),
        (entry(resources=[file(size=2**25)]), "more than 16 MiB"),
    ],
)
def test_what_no_client_may_load_is_left_out_and_says_why(value: Any, why: str) -> None:
    with pytest.raises(Unusable, match=why):
        read(value)


async def test_of_a_list_what_can_be_used_is_used_once(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(SkillServer())) as parts:
        server = parts.servers.get("s")
        raws = [Raw(json.dumps(each).encode()) for each in (entry(), entry(), *range(30))]
        skills, remarks = read_skills(SKILLS, [*raws, Raw(b"{"), Raw(b'"\\ud800"')], server, None)
        assert [skill.uri for skill in skills] == [URI]
        assert remarks[0] == f"skills: number 2 of the list is left out: {URI!r} is already in the list"
        assert remarks[-1] == "skills: and 13 more remarks"


def test_an_entry_with_other_uris_is_verbatim_but_for_these() -> None:
    raw = json.dumps(entry(vendor={"n": 2**70}))
    skill = read_skill(Raw(raw.encode()))
    assert skill.published(str) is skill.raw
    published = json.loads(bytes(skill.published(lambda uri: uri.replace("skill://", "skill://s/"))))
    assert published == json.loads(raw.replace("skill://", "skill://s/"))
    dynamic = read(entry(resources="dynamic"))
    assert json.loads(bytes(dynamic.published(lambda uri: f"{uri}!")))["resources"] == "dynamic"

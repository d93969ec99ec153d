"""`tooltray skills list|show|enable|disable`."""

from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub, whole
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.home.home import Home

GIT = "skill://git-workflow/SKILL.md"


def skill(name: str, **changes: Any) -> dict[str, Any]:
    uri = f"skill://{name}/SKILL.md"
    return {"name": name, "server": "s", "uri": uri, "own_uri": uri, "description": f"About {name}", **changes}


def test_skills_are_listed_with_what_happens_to_them(tooltray: Tooltray, hub_home: Home) -> None:
    skills = [
        skill("git-workflow", description="One\nline \x1b[31mred"),
        skill("refunds", is_held=True),
        skill("notes", is_enabled=False, is_held=True),
    ]
    with FakeControlHub(hub_home, {"get_skills": skills}) as hub:
        lines = tooltray("skills", "list").out.splitlines()
        assert tooltray("skills", "list", "--server", "s", "--json").json == whole("get_skills", skills)
    assert lines == [
        "NAME          SERVER  STATE    URI                            DESCRIPTION",
        f"git-workflow  s       offered  {GIT}  One line red",
        "refunds       s       held     skill://refunds/SKILL.md       About refunds",
        "notes         s       off      skill://notes/SKILL.md         About notes",
    ]
    assert hub.calls == [("get_skills", {"server": None}), ("get_skills", {"server": "s"})]


def test_no_skills_is_said(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_skills": []}):
        assert tooltray("skills", "list").out == "There are no skills.\n"


def test_the_text_of_a_skill_is_printed_plainly_and_harmless(tooltray: Tooltray, hub_home: Home) -> None:
    got = {"uri": GIT, "server": "s", "text": "---\nname: git\n---\n\n# Do \x1b[31mit\x07\n"}
    with FakeControlHub(hub_home, {"get_skill": got}) as hub:
        assert tooltray("skills", "show", "git-workflow").out == "---\nname: git\n---\n\n# Do it\n\n"
        assert tooltray("skills", "show", GIT, "--json").json == got
    assert hub.calls == [("get_skill", {"skill": "git-workflow"}), ("get_skill", {"skill": GIT})]


@pytest.mark.parametrize(
    ("word", "is_on", "said"), [("enable", True, "git of s is offered.\n"), ("disable", False, "git of s is off.\n")], ids=["on", "off"]
)
def test_a_skill_is_switched(tooltray: Tooltray, hub_home: Home, word: str, is_on: bool, said: str) -> None:
    with FakeControlHub(hub_home, {"set_skill_enabled": None}) as hub:
        assert tooltray("skills", word, "s", "git").out == said
        assert tooltray("skills", word, "s", "git", "--json").json == {"server": "s", "skill": "git", "enabled": is_on}
    assert hub.calls == [("set_skill_enabled", {"server": "s", "skill": "git", "enabled": is_on})] * 2

"""Skills of real servers, made with the TypeScript SDK for skills, through the bridge: two servers with one skill each keep their own."""

import hashlib
import json

import pytest
from tests.end2end.processes import ROOT, wait_until

SERVER = ROOT / "tests" / "npm" / "skills_server.mjs"
START_S = 60.0  # two servers of Node.js on two busy cores


def write_skill(folder, text):
    (folder / "git-workflow" / "references").mkdir(parents=True, exist_ok=True)
    head = "---\nname: git-workflow\ndescription: How we use Git\n---\n\n"
    (folder / "git-workflow" / "SKILL.md").write_text(f"{head}{text}\n")
    (folder / "git-workflow" / "references" / "more.md").write_text(f"more of {text}")


@pytest.fixture
def hub(world, node):
    for name in ("one", "two"):
        write_skill(world.home / name, name)
        command = ("--", node, str(SERVER), str(world.home / name))
        assert world.tooltray("servers", "add", name, *command).returncode == 0
    world.start_hub()
    wait_until(lambda: len(listed(world)) == 2, "the skills of both servers", START_S)
    return world


def listed(world):
    return json.loads(world.tooltray("skills", "list", "--json").stdout)


def test_two_servers_with_one_skill_each_give_their_own_and_what_changes_is_held(hub):
    bridge = hub.start_bridge()
    bridge.initialize()
    skills = bridge.request("skills/list", {})["result"]["skills"]
    assert [each["uri"] for each in skills] == [f"skill://{name}/git-workflow/SKILL.md" for name in ("one", "two")]
    for skill, name in zip(skills, ("one", "two"), strict=True):
        assert bridge.request("skills/get", {"uri": skill["uri"]})["result"]["skill"] == skill
        for file in skill["resources"]:
            [content] = bridge.request("resources/read", {"uri": file["uri"]})["result"]["contents"]
            assert content["uri"] == file["uri"]
            assert file["digest"] == "sha256:" + hashlib.sha256(content["text"].encode()).hexdigest()
            assert name in content["text"]
    folder = bridge.request("resources/directory/read", {"uri": "skill://two/git-workflow"})["result"]["resources"]
    assert sorted(each["uri"] for each in folder) == ["skill://two/git-workflow/SKILL.md", "skill://two/git-workflow/references"]

    write_skill(hub.home / "two", "another text")
    assert hub.tooltray("servers", "restart", "two").returncode == 0
    wait_until(lambda: [each["is_held"] for each in listed(hub)] == [False, True], "the changed skill to be held", START_S)
    assert len(bridge.request("skills/list", {})["result"]["skills"]) == 1
    assert "is blocked" in bridge.request("resources/read", {"uri": skills[1]["uri"]})["error"]["message"]
    assert "another text" in hub.tooltray("skills", "show", skills[1]["uri"]).stdout
    assert "sha256" in hub.tooltray("grants", "changes").stdout
    assert hub.tooltray("skills", "disable", "one", "git-workflow").returncode == 0
    assert bridge.request("skills/list", {})["result"]["skills"] == []

"""Prompts, resources and skills."""

import json

from tests.end2end.verbs.hub_at_work import Checks


async def prompts(hub):
    assert [each["name"] for each in await hub("get_all_prompts", server="kit")] == ["greet", "kit-only"]
    assert len(await hub("get_all_prompts")) == 2


async def prompt(hub):
    got = await hub("get_prompt", name="greet", arguments={"who": "Ada"})
    assert got["messages"][0]["content"]["text"] == "greet of kit: Ada"
    assert "Unknown prompt: gone" in await hub.refusal("get_prompt", name="gone")


async def resources(hub):
    assert [each["uri"] for each in await hub("get_all_resources", server="kit")] == ["note://shared", "note://kit"]


async def templates(hub):
    assert [each["uriTemplate"] for each in await hub("get_all_resource_templates")] == ["note://item/{id}"]


async def read_resource(hub):
    read = await hub("read_resource", uri="note://item/7")
    assert read["contents"][0]["text"] == "note://item/7 of kit"
    assert "could not be read" in await hub.refusal("read_resource", uri="nothing://here")


async def complete_prompt(hub):
    assert await hub("complete_prompt", name="greet", argument="who", value="A") == ["Ada", "Alan"]


async def complete_resource(hub):
    assert await hub("complete_resource", template="note://item/{id}", variable="id", value="G") == ["Grace"]


async def subscribe_resource(hub):
    await hub("subscribe_resource", uri="note://kit")
    await hub("call_tool", name="update", arguments={"uri": "note://kit"})
    await hub.until(lambda kind, data: (kind, data) == ("ResourceUpdated", {"uri": "note://kit"}))


async def unsubscribe_resource(hub):
    await hub("unsubscribe_resource", uri="note://kit")
    heard = await hub("call_tool", name="heard", arguments={})
    assert json.loads(heard["content"][0]["text"])["subscribed"] == []


async def skills(hub):
    assert await hub("get_skills", server="kit") == []


async def skill(hub):
    assert "There is no skill 'gone'" in await hub.refusal("get_skill", skill="gone")


async def switch_skill(hub):
    assert "There is no skill 'gone'" in await hub.refusal("set_skill_enabled", server="kit", skill="gone", enabled=False)


CHECKS: Checks = {
    "get_skills": skills,
    "get_skill": skill,
    "set_skill_enabled": switch_skill,
    "get_all_prompts": prompts,
    "get_prompt": prompt,
    "get_all_resources": resources,
    "get_all_resource_templates": templates,
    "read_resource": read_resource,
    "complete_prompt": complete_prompt,
    "complete_resource": complete_resource,
    "subscribe_resource": subscribe_resource,
    "unsubscribe_resource": unsubscribe_resource,
}

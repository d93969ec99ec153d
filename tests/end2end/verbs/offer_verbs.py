"""Prompts and resources."""

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


CHECKS: Checks = {
    "get_all_prompts": prompts,
    "get_prompt": prompt,
    "get_all_resources": resources,
    "get_all_resource_templates": templates,
    "read_resource": read_resource,
}

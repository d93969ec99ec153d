"""The settings themselves, and what servers get of a person's environment."""

from tests.end2end.verbs.hub_at_work import Checks


async def settings(hub):
    said = await hub("get_settings")
    assert "mcpServers" not in said["settings"]
    assert said["revision"]


async def change_settings(hub):
    seen = await hub("get_settings")
    changed = await hub("change_settings", changes={"readyAnswers": ["Go on"]}, revision=seen["revision"])
    assert changed["settings"]["readyAnswers"] == ["Go on"]
    assert "others by now" in await hub.refusal("change_settings", changes={"readyAnswers": None}, revision=seen["revision"])
    assert "must be true or false" in await hub.refusal("change_settings", changes={"hotReload": "no"})
    assert await hub("change_settings", changes={"readyAnswers": None}) == seen


async def environment(hub):
    found = await hub("get_environment")
    assert all(variable["name"] and variable["origin"] for variable in found["variables"])


async def forget_environment(hub):
    await hub("forget_environment")
    assert "remembered" not in {variable["origin"] for variable in (await hub("get_environment"))["variables"]}


CHECKS: Checks = {
    "get_settings": settings,
    "change_settings": change_settings,
    "get_environment": environment,
    "forget_environment": forget_environment,
}

"""Real servers, each watched at work and then confined by what was proposed: the same work goes on, and one deed it did not do is refused.

Above it: test_confined_servers here, with the servers that `make test` has installed, and tests/conformance, with all twelve. Below it: a
hub at its control channel.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.end2end.verbs.hub_at_work import Hub, write_settings

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----"
WATCHED_S = 120.0  # a trial ends it before


@dataclass(frozen=True)
class Step:
    """A call of a tool: `arguments` with `{work}`, `{home}`; `says`: what stands in its result."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    says: str = ""


@dataclass(frozen=True)
class Server:
    """A server of other people.

    Attributes:
        command: with `{work}` for the folder that it works in.
        steps: real work.
        decoy: reads the person's key, by a tool of its own; None: it has none.
        files, network: of the profile that is to be proposed.
    """

    name: str
    command: Sequence[str]
    steps: Sequence[Step]
    decoy: Step | None = None
    files: str = "read"
    network: str = "none"
    env: Mapping[str, str] = field(default_factory=dict)


async def try_server(world: Any, server: Server) -> dict[str, Any]:
    """Returns the profile that was proposed.

    Raises:
        AssertionError: the server does not do the same work under it, or does what it had not done.
    """
    work, key = world.home / "work", world.home / ".ssh" / "id_ed25519"
    work.mkdir()
    key.parent.mkdir(mode=0o700)
    key.write_text(KEY)
    places = {"{work}": str(work), "{home}": str(world.home)}
    command, *args = (_filled(each, places) for each in server.command)
    entry = {"command": command, "args": args, "env": dict(server.env), "cwd": str(work), "autoApprove": ["all"]}
    write_settings(world, {"tried": entry})
    world.start_hub()
    hub = Hub(world)
    try:
        await hub("watch_server", server="tried", duration_s=WATCHED_S)
        await _work(hub, server.steps, places)
        if server.decoy:
            assert KEY in await _said(hub, server.decoy, places), "the decoy was not read while nothing held it back"
        watched = await hub("stop_watching", server="tried")
        await hub("apply_proposal", server="tried")
        await _work(hub, server.steps, places)
        if server.decoy:
            assert KEY not in await _said(hub, server.decoy, places)
        proposal: dict[str, Any] = watched["proposal"]
        return proposal
    finally:
        hub.channel.close()


async def _work(hub: Hub, steps: Sequence[Step], places: Mapping[str, str]) -> None:
    for step in steps:
        said = await _said(hub, step, places)
        assert step.says in said, f"{step.tool} said {said[:2000]}"


async def _said(hub: Hub, step: Step, places: Mapping[str, str]) -> str:
    arguments = json.loads(_filled(json.dumps(step.arguments), places))
    return json.dumps(await hub("call_tool", name=step.tool, arguments=arguments))


def _filled(text: str, places: Mapping[str, str]) -> str:
    for name, value in places.items():
        text = text.replace(name, value)
    return text

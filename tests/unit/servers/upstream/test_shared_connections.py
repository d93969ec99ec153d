"""shared_connections.py"""

from pathlib import Path
from typing import Any

from tests.fakes.everything_server import answered, server_with
from tests.fakes.hub_parts import HubParts, entry, hub_parts, settled
from tests.fakes.scripted_server import Copy, ScriptedServer

from tooltray.protocol.eras import Era
from tooltray.servers.upstream.shared_connections import LOOKED_AT_AGAIN_AFTER_S

FOO = {"extensions": {"com.example/foo": {}}}


async def begun(parts: HubParts, program: ScriptedServer) -> None:
    """Its servers run as they do after a start of the hub: nobody has used them."""
    parts.servers.start_defaults()
    await parts.offers.listed(parts.servers.get("s")).wait()
    await parts.tools.listed(parts.servers.get("s")).wait()


def opened_with(program: ScriptedServer) -> list[Any]:
    """The extensions that were declared at each opening."""
    return [asked.params["capabilities"].get("extensions") for asked in program.asked.all if asked.method == "initialize"]


async def test_a_server_that_nobody_has_used_is_opened_anew_for_a_new_extension_once(tmp_path: Path) -> None:
    program = server_with()
    async with hub_parts(tmp_path, servers={"s": entry("s")}, default=["s"], programs={"s": program}) as parts:
        await begun(parts, program)
        for _ in range(2):
            parts.client_extensions.note(FOO)
            parts.client_extensions.note({})
        await program.request("initialize", count=2)
        await parts.servers.get("s").running(Era.LEGACY, timeout_s=10)
        parts.wheel.expire(LOOKED_AT_AGAIN_AFTER_S)
        await settled()
        assert opened_with(program) == [None, FOO["extensions"]]
        managed = parts.servers.get("s")
        assert managed.problem is None
        await managed.stop(then=managed.idle_state)
        managed.first.reopen("there is nothing to open anew")
        assert managed.state is managed.idle_state


async def test_a_process_that_was_used_keeps_what_it_holds_and_hears_of_it_at_its_next_start(tmp_path: Path) -> None:
    program = server_with()
    async with hub_parts(tmp_path, servers={"s": entry("s")}, programs={"s": program}) as parts:
        await answered(parts, "tools/call", name="t")
        await parts.servers.get("s").running(Era.LEGACY, timeout_s=10)
        parts.client_extensions.note(FOO)
        parts.wheel.expire(LOOKED_AT_AGAIN_AFTER_S)
        await settled()
        assert opened_with(program) == [None]
        await parts.servers.restart("s")
        assert opened_with(program) == [None, FOO["extensions"]]


async def test_what_is_in_use_is_opened_anew_as_soon_as_it_is_not(tmp_path: Path) -> None:
    program = server_with()
    async with hub_parts(tmp_path, servers={"s": entry("s")}, default=["s"], programs={"s": program}) as parts:
        await begun(parts, program)
        [instance] = parts.servers.get("s").instances
        instance.usage.begin()
        parts.client_extensions.note(FOO)
        parts.wheel.expire(LOOKED_AT_AGAIN_AFTER_S)
        await settled()
        assert opened_with(program) == [None]
        instance.usage.end()
        parts.wheel.expire(LOOKED_AT_AGAIN_AFTER_S)
        await program.request("initialize", count=2)


async def test_what_is_declared_while_a_server_is_being_opened_is_not_missed(tmp_path: Path) -> None:
    program = server_with()
    usual = program.handlers["initialize"]

    async def slow(copy: Copy, params: Any) -> Any:
        parts.client_extensions.note(FOO)
        return usual(copy, params)

    program.handlers["initialize"] = slow
    async with hub_parts(tmp_path, servers={"s": entry("s")}, default=["s"], programs={"s": program}) as parts:
        await begun(parts, program)
        parts.wheel.expire(LOOKED_AT_AGAIN_AFTER_S)
        await program.request("initialize", count=2)
        assert opened_with(program) == [None, FOO["extensions"]]


async def test_a_modern_server_stays_and_is_listed_again_with_what_is_declared_now(tmp_path: Path) -> None:
    program = server_with({"tools": {}, "prompts": {}}, eras=("modern",))
    async with hub_parts(tmp_path, servers={"s": entry("s")}, default=["s"], programs={"s": program}) as parts:
        await begun(parts, program)
        before = {method: program.count(method) for method in ("tools/list", "prompts/list")}
        parts.client_extensions.note(FOO)
        for method, count in before.items():
            asked = await program.request(method, count=count + 1)
            assert asked.params["_meta"]["io.modelcontextprotocol/clientCapabilities"]["extensions"] == FOO["extensions"]
        assert len(program.copies.all) == 1

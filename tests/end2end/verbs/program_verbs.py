"""This installation: what it is, start at login, licences, diagnostics."""

from tests.end2end.verbs.hub_at_work import Checks


async def program(hub):
    said = await hub("get_program")
    assert (said["kind"], said["starts_at_login"]) == ("checkout", False)


async def start_at_login(hub):
    entry = hub.world.home / ".config" / "autostart" / "tooltray.desktop"
    assert (await hub("set_start_at_login", enabled=True))["starts_at_login"] is True
    assert "--background" in entry.read_text()
    assert (await hub("set_start_at_login", enabled=False))["starts_at_login"] is False
    assert not entry.exists()


async def licences(hub):
    assert (await hub("get_licences")).startswith("MIT License")


async def diagnostics(hub):
    text = await hub("get_diagnostics")
    assert "server kit: " in text
    assert str(hub.world.home) not in text


async def load(hub):
    said = await hub("get_load")
    assert said["running_servers"] >= 1
    assert min(said["memory_bytes"], said["server_memory_bytes"]) > 1_000_000


CHECKS: Checks = {
    "get_load": load,
    "get_program": program,
    "set_start_at_login": start_at_login,
    "get_licences": licences,
    "get_diagnostics": diagnostics,
}

"""Confined servers through a real hub: the hostile one gets nothing, real ones do their work, and nothing is left of any."""

import fcntl
import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest
from tests.end2end.at_terminal import at_terminal
from tests.end2end.hub_at_work import HABITS, Hub, write_settings
from tests.end2end.processes import is_running, wait_until
from tests.end2end.raw_client import RawClient
from tests.end2end.test_hostile_server import ALLOWED, LET_THROUGH
from tests.fakes.hostile_facts import hostile_world

from tooltray.servers.confinement.confinements import missing, probe

SERVER = Path(__file__).with_name("servers") / "hostile_server.py"
TOO_LARGE = {"fill_disk"}  # the hub's limit is 2 GiB; the launcher's own test has a smaller one
REFUSED = {"EACCES", "EROFS", "ENOENT"}  # a home below /tmp is not there at all: the server has a /tmp of its own
OWN = {"files": "own", "network": "none"}


def text_of(result) -> str:
    return "".join(part.get("text", "") for part in result["content"])


@pytest.mark.timeout(300)
@pytest.mark.parametrize("end", ["stopped", "killed"])
async def test_a_hostile_server_under_a_hub_does_nothing_but_what_its_card_says_and_ends_with_it(world, tmp_path_factory, end):
    write_settings(world, {})
    hub_process = world.start_hub()
    real = {"hub": world.hub_pid(), "hub_group": os.getpgid(hub_process.pid), "hub_thread": world.hub_pid()}
    real |= {"hub_socket": str(world.root / "run" / "control.sock")}
    with hostile_world(tmp_path_factory.mktemp("w"), **real) as hostile:
        hub = Hub(world)
        entry = {
            "command": os.path.realpath(sys.executable),
            "args": ["-I", "-S", str(SERVER), str(hostile.facts)],
            "cwd": str(hostile.own),
            "autoApprove": ["all"],
            "confinement": {**OWN, "read": [str(hostile.package)]},
        }
        await hub("add_mcp_server", name="hostile", config=entry, is_default=False)
        await hub("start_server", name="hostile")
        trials = set(re.findall(r"@trial(?:_apart)?\ndef (\w+)", SERVER.read_text())) - TOO_LARGE
        said = {trial: text_of(await hub("call_tool", name="try", arguments={"trial": trial})) for trial in sorted(trials)}
        let_through = [LET_THROUGH[sentence] for sentence in missing("own", "none", probe())]
        assert {trial for trial, outcome in said.items() if outcome == "done"} == (ALLOWED - {"harmless"}).union(*let_through)
        assert len(said) > 80
        card = await hub.server("hostile")
        assert (card["confinement"]["files"], card["confinement"]["network"]) == ("own", "none")
        assert card["confinement"]["missing"] == list(missing("own", "none", probe()))
        pids = card["pids"]
        hub.channel.close()
        if end == "killed":
            world.kill_hub()
        else:
            world.stop_hub()
        wait_until(lambda: not any(map(is_running, pids)), "the server to end")
        wait_until(lambda: has_ended(hostile.own / "survivor"), "what it left behind to end")
    if end == "killed":
        world.wait_until_empty()


def has_ended(survivor: Path) -> bool:
    with open(survivor) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return True


async def test_real_servers_do_their_work_confined_and_get_no_more(world, npm_server):
    notes, key = world.home / "notes", world.home / ".ssh" / "id"
    notes.mkdir()
    key.parent.mkdir()
    key.write_text("secret key")
    (notes / "a.txt").write_text("hello")

    def entry(command, *args, **confinement):
        return {"command": command, "args": list(args), "autoApprove": ["all"], "confinement": {**OWN, **confinement}}

    node, *program = npm_server("filesystem", str(notes), str(world.home))
    servers = {
        "files": entry(node, *program),
        "reader": entry(node, *npm_server("filesystem", str(notes))[1:], files="read"),
        "memory": entry(*npm_server("memory")) | {"env": {"MEMORY_FILE_PATH": str(notes / "memory.json")}, "cwd": str(notes)},
        "everything": entry(*npm_server("everything")),
    }
    write_settings(world, servers)
    world.start_hub(environ={"SOMEBODYS_TOKEN": "x", "SSH_AUTH_SOCK": "/tmp/agent"})
    hub = Hub(world)
    for name in servers:
        await hub("start_server", name=name)

    async def call(server, tool, **arguments):
        name = next(each["name"] for each in await hub("get_tools", server=server) if each["original_name"] == tool)
        return text_of(await hub("call_tool", name=name, arguments=arguments))

    assert "hello" in await call("files", "read_text_file", path=str(notes / "a.txt"))
    assert "Successfully wrote" in await call("files", "write_file", path=str(notes / "b.txt"), content="new")
    assert REFUSED & {*(await call("files", "read_text_file", path=str(key))).split(":")}
    assert "hello" in await call("reader", "read_text_file", path=str(notes / "a.txt"))
    refused = await call("reader", "write_file", path=str(notes / "c.txt"), content="new")
    assert REFUSED & {*refused.split(":")}
    assert "Ada" in await call("memory", "create_entities", entities=[{"name": "Ada", "entityType": "person", "observations": []}])
    environ = json.loads(await call("everything", "get-env"))
    assert "SOMEBODYS_TOKEN" not in environ
    assert "SSH_AUTH_SOCK" not in environ
    assert environ["HOME"] == str(world.home)
    assert "contains all your files" in " ".join((await hub.server("files"))["confinement"]["missing"])
    hub.channel.close()


async def test_a_server_that_keeps_its_file_in_its_package_works_by_the_command_that_the_doctor_gives(world, npm_server):
    command, *args = npm_server("memory")
    write_settings(world, {"memory": {"command": command, "args": args, "autoApprove": ["all"], "confinement": OWN}})
    world.start_hub()
    hub = Hub(world)
    await hub("start_server", name="memory")
    ada = {"entities": [{"name": "Ada", "entityType": "person", "observations": []}]}
    assert REFUSED & {*text_of(await hub("call_tool", name="create_entities", arguments=ada)).split(":")}
    await hub.until(lambda kind, data: kind == "ServerChanged" and data["server"]["confinement"]["refused"])
    [found] = await hub("diagnose", server="memory")
    remedy = found["remedies"][0]
    assert remedy["kind"] == "give_variables"
    code, said = at_terminal(world, *shlex.split(remedy["value"])[1:])
    assert code == 0, said
    await hub("start_server", name="memory")
    assert "Ada" in text_of(await hub("call_tool", name="create_entities", arguments=ada))
    hub.channel.close()


async def test_each_copy_of_a_server_with_a_session_of_its_own_is_confined(world):
    write_settings(world, {"own": {**HABITS, "isolation": "session", "confinement": OWN}})
    world.start_hub()
    clients = [RawClient(world.start_bridge()) for _ in "ab"]
    for client in clients:
        client.until_tools(lambda names: "echo" in names)
        assert client.call("echo", text="confined") == "confined"
    copies = [each for each in world.processes() if each.name().startswith("python") and "habits.py" in " ".join(each.cmdline())]
    statuses = [Path(f"/proc/{each.pid}/status").read_text() for each in copies]
    assert len(copies) >= len(clients)
    assert all("NoNewPrivs:\t1\n" in status and "Seccomp:\t2\n" in status for status in statuses)

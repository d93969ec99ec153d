"""Nine real AI clients: with the entry that Tooltray writes they list its tools and call them, and undoing leaves nothing of it."""

import sys
from operator import attrgetter
from pathlib import Path

import pytest
from tests.ai_clients.model_protocols import Json
from tests.ai_clients.person import Person
from tests.ai_clients.real_clients import CLIENTS, HERE, RealClient, Run, run, write_home
from tests.ai_clients.scripted_model import ScriptedModel
from tests.ai_clients.small_server import TOKEN
from tests.end2end.processes import World

SERVER = str(HERE / "small_server.py")
OURS, CLOCK, TOOL = "tooltray", "clock", "tell_noon"  # our entry, a server behind it, and its tool
HERE_ALREADY = {CLOCK, "hub"}
WITHOUT_SKILLS = ["droid"]  # it was seen to read none
SEARCHING = ["claude-code", "codex", "opencode"]  # clients that are tried with a search for tools
SHARED, SHARED_TOOL = "notes", "read_note"  # stands in the file of every client, with a key in plain text


class Machine:
    """A computer with AI clients that have servers, and a hub with one."""

    def __init__(self, world: World, model: ScriptedModel) -> None:
        self.world, self.model, self.person = world, model, Person(world)

    def write_home(self, client: RealClient) -> None:
        values = {"PYTHON": sys.executable, "SERVER": SERVER, "TOKEN": TOKEN, "MODEL": self.model.url}
        write_home(client, self.world.home, values)

    def file(self, client: RealClient) -> Path:
        return self.world.home / client.file

    def run(self, client: RealClient, *script: tuple[str, Json]) -> Run:
        """Runs a client whose model calls TOOL, or what a script says."""
        return run(client, self.world, self.model, script or [(TOOL, {})])


@pytest.fixture
def machine(world: World, model: ScriptedModel) -> Machine:
    added = world.tooltray("servers", "add", CLOCK, "--", sys.executable, SERVER, TOOL)
    assert added.returncode == 0, added.stderr
    world.start_hub()
    kept = world.tooltray("secrets", "backend", "memory")  # no keyring runs here
    assert kept.returncode == 0, kept.stderr
    return Machine(world, model)


@pytest.fixture(params=CLIENTS, ids=[client.id for client in CLIENTS])
def client(request: pytest.FixtureRequest, machine: Machine) -> RealClient:
    """Each of them in turn, used for some days already."""
    found: RealClient = request.param
    machine.write_home(found)
    return found


def shows(client: RealClient, run: Run, server: str, *tools: str) -> bool:
    return {client.name_of(server, tool) for tool in tools} <= run.tools


def has_called(client: RealClient, run: Run) -> bool:
    return client.as_text is not None or any(f"{TOOL} was called" in each for each in run.results)


def without_ours(client: RealClient, content: bytes) -> dict[str, object]:
    found = client.content_of(content)
    del found[client.place][OURS]
    return found


def test_a_connected_client_lists_and_calls_our_tools_and_disconnecting_takes_our_entry_alone(machine: Machine, client: RealClient) -> None:
    file = machine.file(client)
    before = file.read_bytes()
    machine.person.connect(client.id)
    connected = file.read_bytes()
    shown = machine.run(client)
    assert shows(client, shown, OURS, TOOL), shown
    assert shows(client, shown, SHARED, SHARED_TOOL), shown  # its own servers are as they were
    assert shows(client, shown, client.own_server, client.own_server), shown
    assert has_called(client, shown), shown
    ran = file.read_bytes()
    assert (ran != connected) == client.rewrites

    machine.person.disconnect(client.id)
    if client.rewrites:
        assert client.content_of(file.read_bytes()) == without_ours(client, ran)
    else:
        assert file.read_bytes() == before
    machine.person.undo()
    assert file.read_bytes() == ran
    machine.person.undo()
    if client.rewrites:
        assert client.content_of(file.read_bytes()) == without_ours(client, ran)
    else:
        assert file.read_bytes() == before


def test_a_hub_that_a_client_s_bridge_started_outlives_the_client(machine: Machine, client: RealClient) -> None:
    machine.person.connect(client.id)
    machine.world.stop_hub()
    machine.run(client)
    first = machine.world.hub_pid()
    assert first is not None
    machine.run(client)
    assert machine.world.hub_pid() == first
    machine.world.stop_hub()


@pytest.mark.parametrize("client", [client for client in CLIENTS if client.id not in WITHOUT_SKILLS], indirect=True, ids=attrgetter("id"))
def test_a_client_offers_its_model_the_skill_that_was_written_for_it(machine: Machine, client: RealClient) -> None:
    machine.person.write_skill(client.id)
    machine.run(client)
    assert any(OURS in heard for heard in machine.model.heard)  # some give only its name
    machine.person.undo()
    machine.run(client)
    assert not any(OURS in heard for heard in machine.model.heard)


@pytest.mark.parametrize("client", [client for client in CLIENTS if client.id in SEARCHING], indirect=True, ids=SEARCHING)
def test_a_client_finds_describes_and_calls_a_tool_that_is_not_listed(machine: Machine, client: RealClient) -> None:
    machine.person.connect(client.id)
    chosen = machine.world.tooltray("clients", "mode", "*", "search")
    assert chosen.returncode == 0, chosen.stderr
    search = ("find_tools", {"query": "tell noon"}), ("describe_tools", {"names": [TOOL]}), ("call_tool", {"name": TOOL, "arguments": {}})
    shown = machine.run(client, *search)
    assert not shows(client, shown, OURS, TOOL), shown
    found, described, called = shown.results
    assert f"{TOOL}(" in found
    assert "inputSchema" in described
    assert f"{TOOL} was called" in called


def test_servers_that_were_imported_are_listed_by_their_client_as_before(machine: Machine, client: RealClient) -> None:
    file = machine.file(client)
    before = file.read_bytes()
    machine.person.connect(client.id)
    assert machine.person.import_all(client.id) == {SHARED, client.own_server} | HERE_ALREADY
    assert client.servers_in(file.read_bytes()).keys() == {OURS}
    assert TOKEN.encode() not in file.read_bytes()
    shown = machine.run(client)
    assert shows(client, shown, OURS, TOOL, SHARED_TOOL, client.own_server), shown
    machine.person.undo_all()
    if client.rewrites:
        assert client.servers_in(file.read_bytes()) == client.servers_in(before)
    else:
        assert file.read_bytes() == before


def test_nine_clients_are_found_emptied_connected_and_brought_back(machine: Machine) -> None:
    for client in CLIENTS:
        machine.write_home(client)
    before = {client.id: machine.file(client).read_bytes() for client in CLIENTS}
    found = machine.person.scan()
    installed = {each["id"]: each for each in found["clients"] if each["is_installed"]}
    assert installed.keys() == before.keys()
    for client in CLIENTS:
        servers = {server["name"] for file in installed[client.id]["files"] for server in file["servers"]}
        assert servers == {SHARED, client.own_server}
    assert (found["servers"], found["different_servers"], found["plain_secrets"]) == (18, 10, 9)

    own = {client.own_server for client in CLIENTS}
    assert machine.person.import_all() == {SHARED} | own | HERE_ALREADY
    machine.person.connect()
    for client in CLIENTS:
        assert client.servers_in(machine.file(client).read_bytes()).keys() == {OURS}
        shown = machine.run(client)
        assert shows(client, shown, OURS, TOOL, SHARED_TOOL, *own), (client.id, shown)
        assert has_called(client, shown), (client.id, shown)

    machine.person.undo_all()
    for client in CLIENTS:
        content = machine.file(client).read_bytes()
        if client.rewrites:
            assert client.servers_in(content) == client.servers_in(before[client.id])
        else:
            assert content == before[client.id], client.id

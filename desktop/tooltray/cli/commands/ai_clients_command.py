"""`tooltray clients scan`: lists the AI clients on this computer."""

import argparse
import os
from collections.abc import Iterator

from tooltray.cli.hubs import any_hub
from tooltray.cli.speech import tr
from tooltray.cli.terminal import clean_line, count, print_json, print_table, problem_line
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.ai_clients import AiClient, AiClientFile, ClientScan, ClientServer

SCAN_TIMEOUT_S = 30.0  # a fraction of a second, and before the first scan of a hub up to five for the login shell
_CONNECTIONS = {"none": "no", "connected": "yes", "outdated": Phrase("in an older way"), "broken": "broken"}
_STATES = {"on": "", "off": "off", "waits": Phrase("not approved there")}


def scan(args: argparse.Namespace, home: Home) -> int:
    """Lists the clients, and then their servers by file."""
    projects = tuple(os.path.abspath(os.path.expanduser(each)) for each in args.project)
    with any_hub(home) as hub:
        found = hub.ask(hub.api.ai_clients.scan_ai_clients(projects=projects), timeout_s=SCAN_TIMEOUT_S)
    if args.json:
        print_json(found)
        return 0
    clients = [client for client in found.clients if client.is_installed or args.all]
    if clients:
        print_table((tr("CLIENT"), tr("NAME"), tr("RUNS"), tr("USES TOOLTRAY"), tr("SERVERS")), [_row(client) for client in clients])
    for line in _words(found, clients):
        print(line)
    return 0


def _row(client: AiClient) -> list[str]:
    runs = {None: "-", True: "yes", False: "no"}[client.is_running]
    servers = sum(server.kind == "server" for file in client.files for server in file.servers)
    return [client.id, client.name, runs, _CONNECTIONS[client.connection], str(servers)]


def _words(found: ClientScan, clients: list[AiClient]) -> Iterator[str]:
    here = [client.name for client in found.clients if client.is_installed]
    if not here:
        yield tr("No AI client was found on this computer. See those that are known with: tooltray clients scan --all")
        return
    yield from _totals(found)
    for client in clients:
        for file in client.files:
            yield from _file(client, file)


def _totals(found: ClientScan) -> Iterator[str]:
    servers = count(found.servers, "server")
    is_mixed = found.different_servers != found.servers
    yield tr("{servers}, {number} different.", servers=servers, number=found.different_servers) if is_mixed else f"{servers}."
    if found.plain_secrets == 1:
        yield tr("1 value that looks secret stands in plain text.")
    elif found.plain_secrets:
        yield tr("{count} values that look secret stand in plain text.", count=found.plain_secrets)


def _file(client: AiClient, file: AiClientFile) -> Iterator[str]:
    if not file.servers and not file.problem:
        return
    where = tr(" for {project}", project=file.project) if file.project and not file.path.startswith(file.project) else ""
    yield clean_line(f"{client.name}: {file.path}{where}")
    if file.problem:
        yield f"  {clean_line(problem_line(file.problem))}"
    for server in file.servers:
        yield f"  {clean_line(_server(server))}"


def _server(server: ClientServer) -> str:
    notes = [_STATES[server.state]]
    if server.kind == "bridge":
        notes.append(tr("this is Tooltray"))
    if server.kind == "loop":
        notes.append(tr("leads to Tooltray"))
    if server.secrets:
        notes.append(tr("in plain text: {secrets}", secrets=", ".join(server.secrets)))
    said = "; ".join(note for note in notes if note)
    return f"{server.name}: {server.target}" + (f" ({said})" if said else "")

"""What may differ through the hub, why, and in which cells. Anything else has to be equal."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from tests.conformance.matrix.cells import Cell, Observed

ROOTS = {"asked": "roots"}
FULFILLING = "Fulfilling input required by"
SERVER_INFO = "io.modelcontextprotocol/serverInfo"
OTHERS = re.compile(r"(tooltray://|\w\w[sh]_)")
HUBS_OWN = ("collect_feedback", "list_servers", "server_status")
REFUSED = ("a tool that nobody has", "a method that nobody has", "prompts that go wrong")
LISTS = ("tools of both pages", "prompts", "resources of both pages", "templates")


def anywhere(cell: Cell) -> bool:
    return True


def among_all(cell: Cell) -> bool:
    return cell.is_of_all


def to_one(cell: Cell) -> bool:
    return not cell.is_of_all


def shared_by_checking_server(cell: Cell) -> bool:
    """The reference on Python's SDK asks whatever was declared."""
    return cell.is_of_all and cell.era == "legacy" and cell.server == "typescript"


@dataclass(frozen=True)
class ByDesign:
    """
    Attributes:
        ease: takes from what was observed, of either side, what may differ.
        scenarios: where; none: in all.
    """

    reason: str
    ease: Callable[[Cell, Observed], Observed]
    cells: Callable[[Cell], bool] = anywhere
    scenarios: tuple[str, ...] = ()


def own_names(cell: Cell, value: Any) -> Any:
    """Without what the hub puts before the names and URIs of a server among others."""
    if isinstance(value, str):
        return re.sub(rf"tooltray://{cell.name}/([^\s\"]+)", lambda match: unquote(match[1]), value).replace(f"{cell.name}_", "")
    if isinstance(value, list):
        return [own_names(cell, each) for each in value]
    return {key: own_names(cell, each) for key, each in value.items()} if isinstance(value, dict) else value


def own_entries(cell: Cell, observed: Observed) -> Observed:
    """Lists with what belongs to the server alone, in the order of names, and without what else their results say."""
    [listed] = observed["outcomes"]
    own = [entry for entry in listed["items"] if not is_of_others(entry)]
    return {**observed, "outcomes": [sorted(own, key=lambda entry: str(entry["name"]))]}


def is_of_others(entry: Any) -> bool:
    """After `own_names`, what still has a server's name is another one's."""
    uri = str(entry.get("uri") or entry.get("uriTemplate") or "")
    return bool(OTHERS.match(entry["name"]) or OTHERS.match(uri)) or entry["name"] in HUBS_OWN


def unsigned(cell: Cell, observed: Observed) -> Observed:
    """A list without the name of who made it."""
    [listed] = observed["outcomes"]
    rest = {**listed["rest"], "_meta": {key: value for key, value in listed["rest"].get("_meta", {}).items() if key != SERVER_INFO}}
    return {**observed, "outcomes": [{**listed, "rest": rest}]}


def versions(cell: Cell, observed: Observed) -> Observed:
    [about] = observed["outcomes"]
    return {"outcomes": [{key: about.get(key) for key in ("protocolVersion", "supportedVersions")}], "heard": []}


def codes(cell: Cell, observed: Observed) -> Observed:
    """Errors without their words."""
    return {**observed, "outcomes": [each.get("error", {}).get("code", each) if each else each for each in observed["outcomes"]]}


def nothing(cell: Cell, observed: Observed) -> Observed:
    return {"outcomes": [], "heard": []}


def no_own_question(cell: Cell, observed: Observed) -> Observed:
    """Without the question, and without what the TypeScript SDK makes of it: progress of the call for which it was asked."""
    heard = [event for event in observed["heard"] if event != ROOTS and not str(event.get("message")).startswith(FULFILLING)]
    return {**observed, "heard": heard}


def once_each(cell: Cell, observed: Observed) -> Observed:
    heard = {str(event): event for event in observed["heard"]}
    return {**observed, "heard": [heard[key] for key in sorted(heard)]}


BY_DESIGN = (
    ByDesign("names and URIs that several servers have begin with the server's name", own_names, among_all),
    ByDesign("a list has what all servers and the hub offer, by name", own_entries, among_all, LISTS),
    ByDesign("the hub introduces itself, with what its servers can do together", versions, among_all, ("greeting",)),
    ByDesign("the hub refuses in its own words", codes, among_all, REFUSED),
    ByDesign("the list of tools is the hub's own also for one server", unsigned, to_one, ("tools of both pages",)),
    ByDesign("the hub hands out lists in one piece, so it refuses a cursor in its own words", codes, anywhere, ("a page that is none",)),
    ByDesign("the hub itself asks a client for its roots, to know the servers of its project", no_own_question),
    ByDesign(
        "a legacy server that clients share is not told of sampling: it could not say whose model it asks",
        nothing,
        shared_by_checking_server,
        ("sampling", "three questions at once"),
    ),
    ByDesign("a change may be told more than once", once_each, anywhere, ("lists that change",)),
)

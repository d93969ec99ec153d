"""The REST interface as its own description says: schemathesis asks a real hub everything that fits it, and much that does not.

No answer may be a server's error or something that the description does not tell. What would leave the test's own home (addresses,
programs, folders) is put in another place before it is sent; what would leave the machine all the same finds a proxy that is not there.
"""

import contextlib
import functools
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance, status_code_conformance
from tests.end2end.processes import World, new_world

from tooltray.carriers.control.control_client import ControlClient
from tooltray.carriers.rest.operations import document
from tooltray.foundation.home.home import Home

EXAMPLES = 100
WRONG = 40  # of them, where something can be wrong
FEW = 5  # of operations that take nothing, so that there is one request and no other
SEED = 6
LONGEST_S = 60.0  # a start that fails gives up before that
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
SERVERS = Path(__file__).parents[1] / "end2end" / "servers"
CLOSED = "http://127.0.0.1:9/"  # nothing listens there
ADDRESSES = ("url", "baseUrl", "customNpmRegistry", "issuer")
ELSEWHERE = {"command": "no-such-program", "cwd": "/nowhere", **dict.fromkeys(ADDRESSES, CLOSED)}
ALONE = {"no_proxy": "127.0.0.1,localhost", **{f"{kind}_proxy": CLOSED for kind in ("http", "https", "all")}, "npm_config_offline": "true"}
NOT_ASKED = ("events", "registries-refresh_npm_registry")
"""The first has no end; the second asks registries all over the world, and takes nothing."""

MEASURED = ("registries-set_custom_npm_registry", "registries-test_npm_registry")
"""To ask an address takes a while, so most of what they are asked for is none."""

KEPT = ("put-servers-server", "delete-servers-server", "projects-set_deferred")
"""What would take away the servers on which all others are tried."""


@dataclass
class Hub:
    url: str
    token: str
    session: requests.Session

    def ask(self, method: str, path: str, **options: Any) -> requests.Response:
        shown = {"Authorization": f"Bearer {self.token}"}
        return self.session.request(method, self.url + path, headers=shown, timeout=LONGEST_S, **options)

    def operation(self, name: str) -> Any:
        return next(each for each in self.operations if id_of(each) == name)

    @functools.cached_property
    def operations(self) -> list[Any]:
        schema = schemathesis.openapi.from_dict(self.ask("GET", "/api/openapi.json").json())
        return [found.ok() for found in schema.get_all_operations()]

    def server_names(self) -> list[str]:
        return [server["name"] for server in self.ask("GET", "/api/mcp/servers").json()]


def hub_in(world: World) -> Hub:
    description = world.home / "description.txt"
    description.write_text("Saves a note.")
    servers = {
        "notes": {"command": sys.executable, "args": [str(SERVERS / "notes.py"), str(description)], "autoApprove": ["all"]},
        "featured": {"command": sys.executable, "args": [str(SERVERS / "featured.py"), "both"], "autoApprove": ["all"]},
        "off": {"url": CLOSED, "disable": True},
    }
    document = {
        "version": 1,
        "mcpServers": servers,
        "defaultServers": ["notes", "featured"],
        "secrets": {"backend": "memory"},
        "autoDetectNpmRegistry": False,
        "discovery": {"registry": False},
        "publish": {"http": {"enabled": True, "port": 0, "api": {"enabled": True}}},
    }
    world.root.mkdir()
    (world.root / "settings.json").write_text(json.dumps(document))
    world.start_hub(environ=ALONE)
    url = json.loads((world.root / "run" / "hub.json").read_text())["http"]
    with ControlClient.connect(Home(world.root), is_at_terminal=True) as person:  # type: ignore[union-attr]
        token = person.call("create_api_token", name="tries", trusted=True)["token"]
    return Hub(url, token, requests.Session())


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    with new_world() as world:
        found = hub_in(world)
        with found.session:
            yield found


def kept_here(value: Any) -> Any:
    """The same, leading nowhere else."""
    if isinstance(value, dict):
        return {key: ELSEWHERE[key] if key in ELSEWHERE and isinstance(inner, str) else kept_here(inner) for key, inner in value.items()}
    return [kept_here(inner) for inner in value] if isinstance(value, list) else value


def prepared(case: schemathesis.Case, known: str | None) -> None:
    """Keeps a request from switching off what it is sent to; half of them are about servers that there are."""
    operation = id_of(case.operation)
    if known == "off" or operation not in MEASURED or "//" in json.dumps(case.body, default=repr):
        case.body = kept_here(case.body)
    if isinstance(case.body, dict):
        fixed = {
            "access-set_http_enabled": {"enabled": True, "port": None},
            "registries-set_auto_detect_npm_registry": {"enabled": False},
        }
        case.body = {**case.body, **fixed.get(operation, {})}
        if operation == "settings-change_settings" and isinstance(case.body.get("changes"), dict):
            case.body["changes"].pop("publish", None)
        if known and operation not in KEPT:
            known_names = {"server": known, "tool": "save_note", "name": known if operation.startswith("servers-") else None}
            case.body |= {name: value for name, value in known_names.items() if value and name in case.body}
    if known and operation not in KEPT:
        for name, value in (("server", known), ("tool", "save_note")):
            if name in case.path_parameters:
                case.path_parameters[name] = value


def id_of(operation: Any) -> str:
    return str(operation.definition.raw["operationId"])


def find_faults(hub: Hub, operation: Any, mode: GenerationMode, examples: int) -> tuple[int, list[str]]:
    """How many requests there were, and what was wrong with their answers."""
    faults: list[str] = []
    asked = 0

    @seed(SEED)
    @settings(max_examples=examples, phases=[Phase.generate], database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode), known=st.sampled_from([None, None, None, "notes", "featured", "off"]))
    def ask(case: schemathesis.Case, known: str | None) -> None:
        nonlocal asked
        prepared(case, known)
        shown = {"Authorization": f"Bearer {hub.token}"}
        response = case.call(base_url=hub.url, session=hub.session, headers=shown, timeout=LONGEST_S)
        asked += 1
        try:
            case.validate_response(response, checks=CHECKS)
        except FailureGroup as failures:
            faults.append(f"{case.as_curl_command()}: {response.status_code} {response.text[:300]}; {failures.exceptions}")

    with contextlib.suppress(Unsatisfiable):  # nothing can be wrong with a request that takes nothing
        ask()
    return asked, faults


OPERATIONS = [operation["operationId"] for methods in document()["paths"].values() for operation in methods.values()]


@pytest.mark.timeout(300)  # hundreds of requests
@pytest.mark.parametrize("name", [name for name in OPERATIONS if name not in NOT_ASKED])
def test_every_answer_is_one_that_the_description_tells(hub: Hub, name: str) -> None:
    raw = hub.operation(name).definition.raw
    takes_nothing = not raw.get("parameters") and "requestBody" not in raw
    before = hub.server_names()
    asked, faults = find_faults(hub, hub.operation(name), GenerationMode.NEGATIVE, FEW if takes_nothing else WRONG)
    faults += find_faults(hub, hub.operation(name), GenerationMode.POSITIVE, FEW if takes_nothing else EXAMPLES - asked)[1]
    for added in set(hub.server_names()) - set(before):
        hub.ask("DELETE", f"/api/mcp/servers/{quote(added, safe='')}")
    assert not faults, "\n\n".join(faults[:20])

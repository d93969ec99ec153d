"""`tooltray registry ...`, with a running hub and without."""

import json
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import as_json
from tooltray.foundation.snapshots.hub import NpmRegistryStatus, RegistryMeasurement
from tooltray.servers.npm_mirrors.measuring import Measured, RegistryCache

OWN = RegistryMeasurement("https://own.example/", "npm", "npm", "", 80.4)
MIRROR = RegistryMeasurement("https://m.example/", "Mirror", "mirror", "Here", 20.0)
SILENT = RegistryMeasurement("https://s.example/", "Silent", "mirror", "There", None, "no whole answer within 10 s")


def registry_status(**changes: Any) -> dict[str, Any]:
    """An NpmRegistryStatus as the control channel carries it."""
    status = NpmRegistryStatus("https://m.example/", "mirror", measured_at=1_700_000_000.0, measurements=(MIRROR, OWN, SILENT))
    plain: dict[str, Any] = json.loads(json.dumps(as_json(status)))
    return plain | changes


def test_status_says_what_servers_get_and_how_all_answered(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_npm_registry_status": registry_status()}):
        lines = tooltray("registry", "status").out.splitlines()
    assert lines[0] == "Servers get npm packages from https://m.example/ (the fastest)."
    assert "tooltray registry auto off" in lines[1]
    assert lines[2].startswith("Measured 2023-11-1")
    rows = [" ".join(line.split()) for line in lines[4:]]
    assert rows[0] == "Mirror Here 20 ms in use https://m.example/"
    assert rows[1] == "npm - 80 ms reachable https://own.example/"
    assert rows[2] == "Silent There - no whole answer within 10 s https://s.example/"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"url": "", "origin": "npm"}, "Servers get npm packages as configured in npm."),
        ({"origin": "custom", "custom_url": "https://m.example/"}, "(chosen by you)"),
        ({"custom_url": "https://m.example/"}, "tooltray registry clear"),
        ({"is_auto_detect": False}, "tooltray registry auto on"),
        ({"url": "", "origin": "npm"}, "npm's own configuration names a registry"),
        ({"is_measuring": True}, "Being measured now."),
        ({"measured_at": 0.0, "measurements": []}, "Not measured yet."),
    ],
)
def test_status_says_why(tooltray: Tooltray, hub_home: Home, changes: dict[str, Any], words: str) -> None:
    with FakeControlHub(hub_home, {"get_npm_registry_status": registry_status(**changes)}):
        assert words in tooltray("registry", "status").out


def test_npm_s_own_registry_is_in_use_where_nothing_is_set(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_npm_registry_status": registry_status(url="", origin="npm")}):
        printed = tooltray("registry", "status").out
    assert [line.split()[0] for line in printed.splitlines() if "in use" in line] == ["npm"]


@pytest.mark.parametrize(
    ("words", "verb", "params"),
    [
        (("status",), "get_npm_registry_status", {}),
        (("measure",), "refresh_npm_registry", {}),
        (("set", "https://m.example"), "set_custom_npm_registry", {"url": "https://m.example"}),
        (("clear",), "set_custom_npm_registry", {"url": ""}),
        (("auto", "on"), "set_auto_detect_npm_registry", {"enabled": True}),
        (("auto", "off"), "set_auto_detect_npm_registry", {"enabled": False}),
    ],
)
def test_each_command_is_one_verb_and_prints_the_outcome(
    tooltray: Tooltray, hub_home: Home, words: tuple[str, ...], verb: str, params: dict[str, Any]
) -> None:
    with FakeControlHub(hub_home, {"get_npm_registry_status": registry_status(), verb: registry_status()}) as hub:
        assert tooltray("registry", *words, "--json").json == registry_status()
        assert hub.params_of(verb) == params
        assert "Servers get npm packages from" in tooltray("registry", *words).out


@pytest.mark.parametrize("words", [("set", "https://own.example"), ("clear",), ("auto", "off")])
@pytest.mark.parametrize("changes", [{}, {"url": "", "origin": "npm"}])
def test_servers_are_only_said_to_get_it_later_where_they_get_another(
    tooltray: Tooltray, hub_home: Home, words: tuple[str, ...], changes: dict[str, Any]
) -> None:
    after = registry_status(**changes)
    verbs = {"set_custom_npm_registry": after, "set_auto_detect_npm_registry": after, "get_npm_registry_status": registry_status()}
    with FakeControlHub(hub_home, verbs):
        assert ("after a restart" in tooltray("registry", *words).err) is bool(changes)


def test_without_a_hub_no_server_runs_that_would_get_it_later(tooltray: Tooltray, hub_home: Home) -> None:
    hub_home.prepare()
    hub_home.settings.write_text(json.dumps({"version": 1, "customNpmRegistry": "https://m.example/"}))
    assert tooltray("registry", "clear").err == ""


def test_a_registry_that_was_measured_alone_is_no_measurement_of_all(tooltray: Tooltray, hub_home: Home) -> None:
    alone = registry_status(measured_at=0.0, measurements=[as_json(MIRROR)])
    with FakeControlHub(hub_home, {"get_npm_registry_status": alone}):
        printed = tooltray("registry", "status").out
    assert "The others are not measured yet. Do it now with: tooltray registry measure\n" in printed


def test_what_an_earlier_hub_measured_is_said_to_lack_what_did_not_answer(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_npm_registry_status": registry_status(is_from_cache=True)}):
        assert "; what did not answer then is not listed.\n" in tooltray("registry", "status").out
    with FakeControlHub(hub_home, {"get_npm_registry_status": registry_status()}):
        assert "is not listed" not in tooltray("registry", "status").out


def test_a_registry_that_is_refused_is_an_error_with_the_reason(tooltray: Tooltray, hub_home: Home) -> None:
    def refuses(**params: Any) -> None:
        raise TooltrayError("this npm registry cannot be used", "it answered with a web page", "Check the address")

    with FakeControlHub(hub_home, {"get_npm_registry_status": registry_status(), "set_custom_npm_registry": refuses}):
        printed = tooltray("registry", "set", "https://page.example/")
    assert printed.code == 1
    assert "a web page" in printed.err


def test_without_a_hub_the_settings_answer(tooltray: Tooltray, hub_home: Home) -> None:
    hub_home.prepare()
    RegistryCache(hub_home.registries).save(Measured(1_700_000_000.0, (OWN, MIRROR)))
    status = tooltray("registry", "status", "--json").json
    assert (status["url"], status["origin"], status["is_from_cache"]) == ("", "npm", True)
    assert [each["name"] for each in status["measurements"]] == ["npm", "Mirror"]
    assert tooltray("registry", "auto", "off", "--json").json["is_auto_detect"] is False
    assert json.loads(hub_home.settings.read_text())["autoDetectNpmRegistry"] is False
    assert tooltray("registry", "auto", "on", "--json").json["is_auto_detect"] is True


def test_without_a_hub_a_custom_registry_is_checked_and_cleared_all_the_same(tooltray: Tooltray, hub_home: Home) -> None:
    hub_home.prepare()
    hub_home.settings.write_text(json.dumps({"version": 1, "customNpmRegistry": "https://m.example/"}))
    assert tooltray("registry", "status", "--json").json["custom_url"] == "https://m.example/"
    refused = tooltray("registry", "set", "https://me:hunter2@m.example/")
    assert refused.code == 1
    assert "hunter2" not in refused.err + refused.out
    assert tooltray("registry", "clear", "--json").json["custom_url"] == ""
    assert "customNpmRegistry" not in json.loads(hub_home.settings.read_text())

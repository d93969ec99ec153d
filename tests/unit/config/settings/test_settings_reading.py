"""settings_reading.py, settings.py: settings read as far as they can be used."""

import copy
import json
from typing import Any

import pytest

from tooltray.config.settings import settings_reading
from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.settings import (
    ANY_CLIENT,
    ANY_SERVER,
    ActivitySettings,
    ApprovalSettings,
    ClientSettings,
    DiscoverySettings,
    FileServerSettings,
    PublishSettings,
    Settings,
    TelemetrySettings,
)
from tooltray.config.settings.settings_reading import UNREADABLE_PROFILE, SettingsPlaces, Slip, check_counts, misspelt, read_settings
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.setup import FileProblem

HELD_CLIENT = ClientSettings(auto_approve=(), call_rules=(), flow_guard=True, profile=UNREADABLE_PROFILE)
HELD_SERVER = FileServerSettings(auto_approve=(), call_rules=(), disable=True)
NOTHING_NEW = ActivitySettings(line=False, contents=False, contents_days=3650, days=3650, megabytes=100_000)


def test_what_nobody_has_chosen_is_this() -> None:
    chosen = {
        "version": 1,
        "mcp_enabled": True,
        "paused_until": 0.0,
        "publish": {
            "naming": "conflict",
            "http": {
                "enabled": False,
                "host": "127.0.0.1",
                "port": 7717,
                "require_token": True,
                "api": {"enabled": False, "trusted": False},
            },
            "lazy_load": False,
            "clients": {},
            "feedback": True,
        },
        "auto_detect_npm_registry": True,
        "hot_reload": True,
        "updates": {"address": ""},
        "window": {"size": 100, "keeps_running": True, "starts_hidden": False, "first_steps": False},
        "activity": {"line": True, "contents": False, "contents_days": 7, "days": 30, "megabytes": 200},
        "telemetry": {"otlp": ""},
        "results": {"megabytes": 500},
        "approvals": {"same_for_seconds": 0, "flow_guard": False},
    }
    found = Settings().model_dump(exclude_none=True)
    assert {name: value for name, value in found.items() if name in chosen or value} == chosen


def test_null_is_no_client_no_profile_and_no_override() -> None:
    document = {"publish": {"clients": {"a": None, "b": {"mode": None}}}, "profiles": {"p": None, "q": {"tools": {"s": None}}}}
    reading = read_settings(document)
    assert reading.problems == ()
    assert (list(reading.settings.publish.clients), list(reading.settings.profiles)) == (["b"], ["q"])
    assert reading.settings.profiles["q"].tools == {}
    assert read_entry("s", {"command": "x", "toolOverrides": {"t": None}}).tool_overrides == {}


def test_a_whole_document_is_read() -> None:
    document = {
        "version": 1,
        "mcpServers": {"a": {"command": "x"}},
        "defaultServers": ["a", "hub", "a"],
        "mcpEnabled": False,
        "publish": {"naming": "always"},
        "secrets": {"backend": "file"},
    }
    reading = read_settings(document)
    settings = reading.settings
    assert reading.problems == ()
    assert (settings.version, list(settings.mcp_servers), settings.default_servers) == (1, ["a"], ("a", "hub"))
    assert (settings.mcp_enabled, settings.publish.naming, settings.secrets.backend) == (False, "always", "file")


@pytest.mark.parametrize("document", [{}, dict.fromkeys(["version", "mcpServers", "defaultServers", "mcpEnabled", "publish", "secrets"])])
def test_an_empty_document_means_the_defaults(document: dict[str, Any]) -> None:
    reading = read_settings(document)
    assert reading.problems == ()
    assert reading.settings.mcp_enabled
    assert (reading.settings.mcp_servers, reading.settings.default_servers) == ({}, ())
    assert (reading.settings.publish.naming, reading.settings.secrets.backend) == ("conflict", None)


def test_bad_entries_are_skipped_and_the_others_load() -> None:
    entries = {"good": {"command": "x"}, "bad": {}, "a/b": {"command": "x"}, "hub": {"command": "x"}, "last": {"url": "https://h"}}
    reading = read_settings({"mcpServers": entries}, ("hub",))
    assert list(reading.settings.mcp_servers) == ["good", "last"]
    assert [problem.title for problem in reading.problems] == [
        "'a/b' cannot be the name of a server",
        "'hub' cannot be the name of a server",
        "The entry of server 'bad' cannot be used",
    ]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"mcpServers": []}, "mcpServers: must be an object"),
        ({"defaultServers": "a"}, "defaultServers: must be a list"),
        ({"defaultServers": ["a", 3]}, "defaultServers: 1: must be text"),
        ({"mcpEnabled": "yes"}, "mcpEnabled: must be true or false"),
        ({"publish": {"http": {"port": -1}}}, "publish: http.port: must be 0 or more"),
        ({"publish": {"http": {"port": "80"}}}, "publish: http.port: must be a whole number"),
        ({"publish": {"naming": "never"}}, "publish: naming: must be one of 'conflict', 'always'"),
        ({"secrets": {"backend": "plain"}}, "secrets: backend: must be one of 'keyring', 'file', 'memory'"),
        ({"secrets": "file"}, "secrets: must be an object"),
        ({"publish": {"clients": ["acme"]}}, "publish: clients: must be an object"),
        ({"publish": {"clients": {"acme": {"autoApprove": "all"}}}}, "publish: clients.acme.autoApprove: must be a list"),
        ({"profiles": ["work"]}, "profiles: must be an object"),
        ({"profiles": {"work": {"tools": {"files": "read"}}}}, "profiles: work.tools.files: must be a list"),
        ({"readyAnswers": [{}]}, "readyAnswers: 0: must be text"),
        ({"publish": "all"}, "publish: must be an object"),
        ({"publish": {"clients": {"acme": ["read"]}}}, "publish: clients.acme: must be an object"),
        ({"profiles": {"work": 3}}, "profiles: work: must be an object"),
        (
            {"publish": {"clients": {"acme": {"profile": 1, "autoApprove": [2, "x", 3]}}}},
            "publish: clients.acme.profile: must be text; "
            "clients.acme.autoApprove.0: must be text; clients.acme.autoApprove.2: must be text",
        ),
        (
            {"publish": {"http": {"port": "80", "enabled": 1}}},
            "publish: http.enabled: must be true or false; http.port: must be a whole number",
        ),
    ],
)
def test_a_part_that_cannot_be_read_is_named_and_all_others_count(document: dict[str, Any], message: str) -> None:
    reading = read_settings({"mcpServers": {"a": {"command": "x"}}} | document)
    assert [problem.message for problem in reading.problems] == [message]
    assert document.keys() == {"mcpServers"} or "a" in reading.settings.mcp_servers
    assert reading.settings.secrets.backend is None


def test_what_ai_clients_see_falls_back_without_its_own_parts() -> None:
    publish = {
        "naming": "never",
        "mode": "lazy",
        "feedback": True,
        "http": {"enabled": True, "port": 80},
        "clients": {"zz": {"flowGuard": "bogus"}, "careful": {"autoApprove": ["read"], "profile": "work"}},
    }
    reading = read_settings({"publish": publish, "profiles": {"odd": {"servers": "all"}, "work": {"servers": ["a"]}}})
    used = reading.settings.publish
    assert (used.naming, used.mode, used.feedback) == ("conflict", None, False)
    assert (used.http.enabled, used.http.port) == (True, 80)
    assert used.clients == {"zz": HELD_CLIENT, "careful": ClientSettings(auto_approve=("read",), profile="work")}
    assert list(reading.settings.profiles) == ["work"]
    assert [(problem.title, problem.hint) for problem in reading.problems] == [
        ("publish in the settings is not used", "Correct it in settings.json"),
        ("The settings of AI client 'zz' cannot be used", "Correct it in settings.json; until then it sees nothing"),
        ("The profile 'odd' cannot be used", "Correct it in settings.json; until then AI clients that have it see nothing"),
    ]


def test_a_part_within_another_that_falls_back_has_a_slip_of_its_own() -> None:
    reading = read_settings({"publish": {"naming": "never", "http": {"port": "80"}}})
    assert [(slip.part, slip.problem.message) for slip in reading.slips] == [
        (("publish",), "publish: naming: must be one of 'conflict', 'always'"),
        (("publish", "http"), "publish: http.port: must be a whole number"),
    ]


STRICT: list[tuple[dict[str, Any], str, object, str]] = [
    ({"mcpEnabled": "false"}, "mcp_enabled", False, "all servers are paused"),
    ({"approvals": "on"}, "approvals", ApprovalSettings(flow_guard=True), "the flow guard is on"),
    ({"approvals": {"flowGuard": "yes"}}, "approvals", ApprovalSettings(flow_guard=True), "the flow guard is on"),
    ({"approvals": {"flowGuard": False, "sameForSeconds": 301}}, "approvals", ApprovalSettings(flow_guard=True), "the flow guard is on"),
    ({"newServers": "open"}, "new_servers", "careful", "new servers are careful"),
    ({"activity": []}, "activity", NOTHING_NEW, "the journal keeps no details of calls, and deletes nothing"),
    (
        {"activity": {"contents": True, "days": 365, "line": 0}},
        "activity",
        NOTHING_NEW,
        "the journal keeps no details of calls, and deletes nothing",
    ),
    ({"discovery": {"registry": 7}}, "discovery", DiscoverySettings(registry=False), "no registry is used"),
    ({"fileServers": "off"}, "file_servers", {ANY_SERVER: HELD_SERVER}, "servers of other files do not start"),
    ({"fileServers": {"s": "off"}}, "file_servers", {"s": HELD_SERVER}, "it does not start"),
    (
        {"fileServers": {"s": {"disabledTools": ["rm"], "confinement": "own", "callTimeout": "long"}}},
        "file_servers",
        {"s": HELD_SERVER},
        "it does not start",
    ),
    ({"allowedFolders": ["/a", 3]}, "allowed_folders", (), ""),
    ({"secretCommands": {"op": "op read"}}, "secret_commands", {}, ""),
    ({"telemetry": {"otlp": 5}}, "telemetry", TelemetrySettings(), ""),
    ({"profiles": ["work"]}, "profiles", {}, "AI clients that have a profile see nothing"),
    ({"publish": {"http": {"enabled": True, "requireToken": 1}}}, "publish", PublishSettings(), "AI clients cannot connect over HTTP"),
    ({"publish": {"clients": ["c"]}}, "publish", PublishSettings(clients={ANY_CLIENT: HELD_CLIENT}), "AI clients see nothing"),
    ({"publish": 5}, "publish", PublishSettings(clients={ANY_CLIENT: HELD_CLIENT}, feedback=False), "AI clients see nothing"),
    *(
        ({"publish": {"clients": {"c": client}}}, "publish", PublishSettings(clients={"c": HELD_CLIENT}), "it sees nothing")
        for client in (
            *(["read"], {"autoApprove": ["read", 1]}, {"callRules": [{"tool": "t"}, 1], "profile": "work"}),
            *({"profile": ["work"]}, {"flowGuard": 0, "autoApprove": []}, {"reads": "some", "profile": "work", "autoApprove": []}),
        )
    ),
]


@pytest.mark.parametrize(("document", "name", "used", "meanwhile"), STRICT)
def test_a_part_that_cannot_be_read_restricts_as_much_as_it_can(document: dict[str, Any], name: str, used: object, meanwhile: str) -> None:
    before = copy.deepcopy(document)
    reading = read_settings(document)
    assert getattr(reading.settings, name) == used
    assert [problem.hint for problem in reading.problems] == [
        f"Correct it in settings.json; until then {meanwhile}".removesuffix("; until then ")
    ]
    assert document == before


@pytest.mark.parametrize(
    ("odd", "name", "meanwhile"),
    [
        ({"mode": "eveything"}, "mode", "the mode for all AI clients counts for it"),
        ({"resultLimit": "10k"}, "resultLimit", "its results have only the limits of their servers"),
        ({"result_limit": 1}, "result_limit", "its results have only the limits of their servers"),
        ({"csvTables": "yes"}, "csvTables", "it gets CSV as its servers and tools have it"),
    ],
)
def test_a_mistake_in_a_field_that_restricts_nothing_costs_an_ai_client_this_field(odd: dict[str, Any], name: str, meanwhile: str) -> None:
    careful = {"profile": "work", "autoApprove": [], "later": 1}
    reading = read_settings({"publish": {"clients": {"c": careful | odd}}})
    assert reading.settings.publish.clients == {"c": ClientSettings.model_validate(careful)}
    (slip,) = reading.slips
    assert slip.problem.title == f"publish.clients.c.{name} in the settings is not used"
    assert (slip.path, slip.problem.hint) == (("publish", "clients", "c", name), f"Correct it in settings.json; until then {meanwhile}")
    both = read_settings({"publish": {"clients": {"c": odd | {"flowGuard": 0}}}})
    assert both.settings.publish.clients == {"c": HELD_CLIENT}
    (slip,) = both.slips
    assert slip.problem.message.count(": must be") == 2


def test_a_change_beside_a_part_that_cannot_be_read_counts_and_one_in_it_does_not() -> None:
    document = {"publish": {"clients": {"c": []}}}
    check_counts(document)
    check_counts(document, ("publish", "clients", "other"), ("publish", "http"))
    with pytest.raises(TooltrayError, match="must be an object"):
        check_counts(document, ("publish", "http"), ("publish", "clients", "c"))


def test_a_client_s_odd_name_is_shown_without_its_control_characters() -> None:
    (problem,) = read_settings({"publish": {"clients": {"a\nb": 1}}}).problems
    assert problem.title == "The settings of AI client 'a?b' cannot be used"
    (problem,) = read_settings({"publish": {"clients": {"a\nb": {"mode": 1}}}}).problems
    assert problem.title == "publish.clients.a?b.mode in the settings is not used"


@pytest.mark.parametrize(
    ("member", "message"),
    [
        ({"toolOverrides": {"t": "look", "v": {"name": "look"}}}, "toolOverrides.t: must be an object"),
        ({"callRules": [{"tool": "t"}, {"tool": "t", "argments": {}}]}, "callRules.1.argments: is not known here"),
        ({"confinement": "onw"}, "confinement.files: must be one of 'open', 'own', 'read'"),
    ],
)
def test_an_entry_that_cannot_be_read_is_set_aside_whole(member: dict[str, Any], message: str) -> None:
    reading = read_settings({"mcpServers": {"s": {"command": "x"} | member, "other": {"command": "x"}}})
    assert list(reading.settings.mcp_servers) == ["other"]
    (slip,) = reading.slips
    assert (slip.entry, slip.problem.message) == ("s", message)


@pytest.mark.parametrize(
    ("publish", "lazy"),
    [
        ({}, ["own"]),
        ({"lazyLoad": True}, ["none", "own"]),
        ({"mode": "lazy"}, ["none", "own"]),
        ({"mode": "everything", "lazyLoad": True}, []),
        ({"mode": "search", "lazyLoad": True}, []),
        ({"mode": "automatic", "lazyLoad": True}, []),
    ],
)
def test_a_server_is_lazy_for_clients_that_have_no_mode_of_their_own(publish: dict[str, Any], lazy: list[str]) -> None:
    entries = {"none": {"command": "x"}, "own": {"command": "x", "lazyLoad": True}, "not": {"command": "x", "lazyLoad": False}}
    settings = read_settings({"mcpServers": entries, "publish": publish}).settings
    assert [name for name, server in settings.mcp_servers.items() if settings.publish.shows_lazily(server)] == lazy


def test_http_is_off_and_asks_for_a_token_until_somebody_says_otherwise() -> None:
    http = read_settings({}).settings.publish.http
    assert (http.enabled, http.host, http.port, http.require_token) == (False, "127.0.0.1", 7717, True)
    given = {"enabled": True, "host": "::1", "port": 0, "requireToken": False}
    http = read_settings({"publish": {"http": given}}).settings.publish.http
    assert (http.enabled, http.host, http.port, http.require_token) == (True, "::1", 0, False)


@pytest.mark.parametrize("registry", [None, True, False, "", "https://r.example"])
def test_a_registry_of_servers_is_chosen_or_switched_off(registry: object) -> None:
    reading = read_settings({"discovery": {"registry": registry}})
    assert (reading.settings.discovery.registry, reading.problems) == (registry, ())


def test_a_language_that_there_is_not_is_said_and_the_rest_counts() -> None:
    reading = read_settings({"language": "xx", "window": {"theme": "dark"}, "notifications": {"failed": False}})
    assert [str(problem.message) for problem in reading.problems] == ["language: language 'xx' not found"]
    assert (reading.settings.language, reading.settings.window.theme, reading.settings.notifications) == (None, "dark", {"failed": False})
    assert read_settings({"language": "zh_TW"}).settings.language == "zh_TW"
    assert read_settings({"language": 7}).settings.language is None
    odd = read_settings({"window": {"theme": "pink"}, "notifications": {"failed": "no"}})
    assert len(odd.problems) == 2
    assert (odd.settings.window.theme, odd.settings.notifications) == (None, {})


def test_contents_are_kept_until_their_time_is_over() -> None:
    assert not ActivitySettings().keeps_contents(1.0)
    assert ActivitySettings(contents=True).keeps_contents(1e10)
    until = ActivitySettings(contents=True, contents_until=5.0)
    assert (until.keeps_contents(4.9), until.keeps_contents(5.0)) == (True, False)


NOT_THE_DEFAULT: dict[str, object] = {
    "mcpServers": {"one": {"command": "run"}},
    "defaultServers": ["one"],
    "mcpEnabled": False,
    "pausedUntil": 9.0,
    "publish": {"lazyLoad": True},
    "secrets": {"backend": "file"},
    "secretCommands": {"op": ["op", "read", "op://Work/key"]},
    "autoDetectNpmRegistry": False,
    "customNpmRegistry": "http://127.0.0.1/",
    "npmRegistries": [{"url": "http://127.0.0.1/"}],
    "profiles": {"work": {}},
    "allowedFolders": ["/work"],
    "readyAnswers": ["Yes."],
    "hotReload": False,
    "fileServers": {"one": {"disable": True}},
    "discovery": {"registry": False},
    "language": "zh_TW",
    "updates": {"check": False},
    "window": {"theme": "dark"},
    "notifications": {"calls": False},
    "activity": {"days": 9},
    "telemetry": {"otlp": "http://127.0.0.1:4318"},
    "results": {"megabytes": 5},
    "approvals": {"flowGuard": True},
    "newServers": "careful",
}


@pytest.mark.parametrize("key", sorted(field.alias or name for name, field in Settings.model_fields.items() if name != "version"))
def test_every_setting_is_read_from_the_file(key: str) -> None:
    name = next(name for name, field in Settings.model_fields.items() if field.alias == key)
    reading = read_settings({key: NOT_THE_DEFAULT[key]})
    assert getattr(reading.settings, name) != getattr(Settings(), name)
    assert not reading.problems


@pytest.mark.parametrize(
    ("document", "field", "known"),
    [
        ({"aprovals": {}}, "aprovals", "approvals"),
        ({"approvals": {"flowGaurd": True}}, "approvals.flowGaurd", "flowGuard"),
        ({"results": {"megabyte": 5}}, "results.megabyte", "megabytes"),
        ({"mcpServers": {"s": {"confinment": "own"}}}, "mcpServers.s.confinment", "confinement"),
        ({"mcpServers": {"s": {"maxcalls": 1}}}, "mcpServers.s.maxcalls", "maxCalls"),
        ({"publish": {"clients": {"c": {"callrules": []}}}}, "publish.clients.c.callrules", "callRules"),
    ],
)
def test_what_was_to_hold_something_back_is_told_with_what_was_meant(document: dict[str, Any], field: str, known: str) -> None:
    (slip,) = misspelt(document)
    assert slip.problem.title == f"{field} in the settings means nothing"
    assert slip.problem.message == f"it looks like '{known}'"
    assert ".".join(map(str, slip.path)) == field


@pytest.mark.parametrize(
    "document",
    [
        {"mcpServers": {"s": {"timeout": 5, "description": "x", "icon": "y", "confinement": "own", "command": "p"}}, "theme": "dark"},
        {"mcpServers": {"s": {"disable": True, "disabled": True}}},
        {"mcpServers": [], "publish": {"clients": 5}, "approvals": None},
        {"publish": 5, "mcpServers": {"s": 5}},
    ],
)
def test_fields_of_other_programs_and_what_is_no_object_are_no_slips(document: dict[str, Any]) -> None:
    assert list(misspelt(document)) == []


TEXT = """\
{
  "version": 1,
  "mcpServers": {
    "good": {"command": "x"},
    "neither": {
      "args": []
    },
    "odd/name": {"command": "x"},
    "deep": {
      "command": "x",
      "args": [
        "a",
        {}
      ]
    },
    "shown": {
      "command": "x",
      "toolOverrides": {"t": 1}
    },
    "url": {"type": "http",
      "url": "ftp://h"
    },
    "nothing": 3
  },
  "publish": {
    "http": {
      "port": -1
    },
    "clients": {
      "acme": {
        "mode": "some"
      }
    }
  },
  "profiles": {
    "small": 1
  },
  "fileServers": {
    "far": []
  },
  "allowedFolders": [
    "/a",
    3
  ],
  "defaultServers": "good",
  "secrets": {
    "backend": "plain"
  },
  "mcpEnabled": 1
}
"""


def located(text: str, encoding: str = "utf-8") -> tuple[FileProblem, ...]:
    slips = read_settings(json.loads(text)).slips
    return SettingsPlaces(text.encode(encoding)).located(slips)


def test_each_slip_has_the_line_on_which_it_stands_and_the_server_that_is_not_used() -> None:
    lines = TEXT.splitlines()
    assert [(lines[each.line - 1].strip(), each.entry) for each in located(TEXT)] == [
        ('"odd/name": {"command": "x"},', "odd/name"),
        ('"neither": {', "neither"),
        ("{}", "deep"),
        ('"toolOverrides": {"t": 1}', "shown"),
        ('"url": {"type": "http",', "url"),
        ('"nothing": 3', "nothing"),
        ('"defaultServers": "good",', ""),
        ('"mcpEnabled": 1', ""),
        ('"port": -1', ""),
        ('"mode": "some"', ""),
        ('"backend": "plain"', ""),
        ('"small": 1', ""),
        ("3", ""),
        ('"far": []', ""),
    ]


def test_what_is_wrong_is_said_with_its_line_and_can_be_said_in_another_language() -> None:
    problems = {each.entry: each.problem for each in located(TEXT) if each.entry}
    assert problems["neither"] == Problem(
        "The entry of server 'neither' cannot be used", "line 5: it has neither a command nor a URL", "Correct it in settings.json"
    )
    assert problems["deep"].message == "line 13: args.1: must be text"
    parts = [part for each in located(TEXT) for part in (each.problem.title, each.problem.message, each.problem.hint)]
    assert {type(part) for part in parts} == {Phrase}


def test_lines_are_counted_behind_a_mark_and_with_any_line_ends() -> None:
    text = TEXT.replace("\n", "\r\n")
    assert [each.line for each in located(text, "utf-8-sig")] == [each.line for each in located(TEXT)]


@pytest.mark.parametrize("path", [(), ("nowhere",), ("mcpServers", "good", "args", 0)])
def test_what_is_not_there_has_the_line_of_the_part_that_lacks_it(path: tuple[Any, ...]) -> None:
    [found] = SettingsPlaces(TEXT.encode()).located([Slip(Problem("it"), path)])
    assert found.line == {0: 0, 1: 1}.get(len(path), 4)


def test_a_text_that_is_too_much_to_look_through_is_told_without_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_reading, "MAX_VALUES", 1000)
    text = json.dumps({"mcpEnabled": 1, "more": list(range(1000))})
    assert [(each.line, each.problem.message) for each in located(text)] == [(0, "mcpEnabled: must be true or false")]
    assert "'a' occurs twice" in SettingsPlaces(text.encode()).repeated("a")


def test_a_key_that_stands_twice_has_the_line_of_the_second() -> None:
    places = SettingsPlaces(b'{"mcpServers": {\n "a": {},\n "a": {}}}')
    assert places.repeated("a") == "line 3: 'a' occurs twice; the last one counts"
    assert places.repeated("b") == "'b' occurs twice; the last one counts"


@pytest.mark.parametrize(
    ("address", "is_usable"),
    [
        ("", True),
        ("https://releases.example/releases.json", True),
        ("http://127.0.0.1:8000/releases.json", True),
        ("http://localhost/releases.json", True),
        ("http://releases.example/releases.json", False),
        ("https://", False),
        ("https://user:key@releases.example/", False),
        ("file:///etc/passwd", False),
        ("https://[", False),
        (7, False),
    ],
)
def test_a_list_of_releases_comes_over_https_or_from_this_computer(address: object, is_usable: bool) -> None:
    reading = read_settings({"updates": {"check": True, "address": address}})
    assert (reading.settings.updates.is_on, bool(reading.problems)) == (is_usable and address != "", not is_usable)

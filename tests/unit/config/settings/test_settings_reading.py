"""Settings read as far as they can be used."""

from typing import Any

import pytest

from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.settings import ActivitySettings, ApprovalSettings, ClientSettings, Settings
from tooltray.config.settings.settings_reading import UNREADABLE_PROFILE, read_settings


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


def test_what_is_published_where_that_is_no_object_is_the_default() -> None:
    for odd in (5, []):
        assert read_settings({"publish": odd}).settings.publish == read_settings({}).settings.publish


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
        "The entry of server 'bad' cannot be used",
        "'a/b' cannot be the name of a server",
        "'hub' cannot be the name of a server",
    ]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"mcpServers": []}, "mcpServers: must be an object"),
        ({"defaultServers": "a"}, "defaultServers: must be a list of names"),
        ({"defaultServers": ["a", 3]}, "defaultServers: must be a list of names"),
        ({"mcpEnabled": "yes"}, "mcpEnabled: must be true or false"),
        ({"publish": {"http": {"port": 70000}}}, "publish: http.port: must be 65535 or less"),
        ({"publish": {"http": {"port": -1}}}, "publish: http.port: must be 0 or more"),
        ({"publish": {"http": {"port": "80"}}}, "publish: http.port: must be a whole number"),
        ({"publish": {"http": {"requireToken": 1}}}, "publish: http.requireToken: must be true or false"),
        ({"publish": {"naming": "never"}}, "publish: naming: must be one of 'conflict', 'always'"),
        ({"secrets": {"backend": "plain"}}, "secrets: backend: must be one of 'keyring', 'file', 'memory'"),
        ({"secrets": "file"}, "secrets: must be an object"),
        ({"publish": {"lazyLoad": "yes"}}, "publish: lazyLoad: must be true or false"),
        ({"publish": {"feedback": 0}}, "publish: feedback: must be true or false"),
        ({"publish": {"mode": "some"}}, "publish: mode: must be one of 'everything', 'lazy', 'search', 'automatic'"),
        ({"publish": {"clients": ["acme"]}}, "publish: clients: must be an object"),
        (
            {"publish": {"clients": {"acme": {"mode": "some"}}}},
            "publish: clients.acme.mode: must be one of 'everything', 'lazy', 'search', 'automatic'",
        ),
        ({"publish": {"clients": {"acme": {"profile": 1}}}}, "publish: clients.acme.profile: must be text"),
        ({"publish": {"clients": {"acme": {"autoApprove": "all"}}}}, "publish: clients.acme.autoApprove: must be a list"),
        ({"profiles": ["work"]}, "profiles: must be an object"),
        ({"profiles": {"work": {"servers": "files"}}}, "profiles: work.servers: must be a list"),
        ({"profiles": {"work": {"tools": {"files": "read"}}}}, "profiles: work.tools.files: must be a list"),
        ({"allowedFolders": "/srv"}, "allowedFolders: must be a list"),
        ({"allowedFolders": [1]}, "allowedFolders: 0: must be text"),
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
def test_a_bad_part_is_told_and_the_rest_is_used(document: dict[str, Any], message: str) -> None:
    reading = read_settings({"mcpServers": {"a": {"command": "x"}}} | document)
    assert [problem.message for problem in reading.problems] == [message]
    assert document.keys() == {"mcpServers"} or "a" in reading.settings.mcp_servers
    assert reading.settings.secrets.backend is None


def test_of_a_list_with_odd_members_the_names_are_used() -> None:
    assert read_settings({"defaultServers": ["a", 3, "b"]}).settings.default_servers == ("a", "b")
    reading = read_settings({"allowedFolders": ["/a", 3, "/b", None], "readyAnswers": [{}, "Yes"]})
    assert (reading.settings.allowed_folders, reading.settings.ready_answers) == (("/a", "/b"), ("Yes",))
    assert [str(problem) for problem in reading.problems] == [
        "allowedFolders in the settings is not fully used: allowedFolders: 1: must be text; allowedFolders: 3: must be text. "
        "Correct it in settings.json",
        "readyAnswers in the settings is not fully used: readyAnswers: 0: must be text. Correct it in settings.json",
    ]


def test_a_slip_in_what_ai_clients_see_costs_nothing_else_of_it() -> None:
    publish = {
        "naming": "never",
        "mode": "some",
        "lazyLoad": True,
        "feedback": False,
        "later": 1,
        "http": {"enabled": True, "port": "80"},
        "clients": {"zz": {"mode": "bogus"}, "careful": {"autoApprove": ["read"], "profile": "work"}},
    }
    reading = read_settings({"publish": publish, "profiles": {"odd": {"servers": "all"}, "work": {"servers": ["a"]}}})
    used = reading.settings.publish
    assert (used.naming, used.mode, used.lazy_load, used.feedback, used.model_extra) == ("conflict", None, True, False, {"later": 1})
    assert (used.http.enabled, used.http.port) == (False, 7717)
    assert used.clients == {"zz": ClientSettings(), "careful": ClientSettings(auto_approve=("read",), profile="work")}
    assert list(reading.settings.profiles) == ["work"]
    assert [(problem.title, problem.hint) for problem in reading.problems] == [
        ("publish.naming in the settings is not used", "Correct it in settings.json"),
        ("publish.http in the settings is not used", "Correct it in settings.json; until then AI clients cannot connect over HTTP"),
        ("publish.mode in the settings is not used", "Correct it in settings.json"),
        ("The settings of AI client 'zz' are not fully used", "Correct it in settings.json"),
        ("The profile 'odd' cannot be used", "Correct it in settings.json; until then AI clients that have it see nothing"),
    ]


@pytest.mark.parametrize(
    ("client", "used", "meanwhile"),
    [
        ({"mode": 1, "autoApprove": []}, ClientSettings(auto_approve=()), ""),
        ({"autoApprove": "none"}, ClientSettings(auto_approve=()), "each of its calls is asked about"),
        ({"autoApprove": ["read", 1], "mode": "lazy"}, ClientSettings(auto_approve=(), mode="lazy"), "each of its calls is asked about"),
        ({"auto_approve": "none"}, ClientSettings(auto_approve=()), "each of its calls is asked about"),
        ({"autoApprove": "none", "auto_approve": ["all"]}, ClientSettings(auto_approve=()), "each of its calls is asked about"),
        (["read"], ClientSettings(auto_approve=()), "each of its calls is asked about"),
        ({"profile": ["work"]}, ClientSettings(profile=UNREADABLE_PROFILE), "it sees nothing"),
        ({"flowGuard": 0}, ClientSettings(flow_guard=True), "the flow guard is on for it"),
        (
            {"profile": 1, "autoApprove": 2},
            ClientSettings(profile=UNREADABLE_PROFILE, auto_approve=()),
            "each of its calls is asked about and it sees nothing",
        ),
    ],
)
def test_by_a_slip_no_client_may_do_more_than_was_meant(client: Any, used: ClientSettings, meanwhile: str) -> None:
    reading = read_settings({"publish": {"clients": {"a\nb": client}}})
    assert reading.settings.publish.clients["a\nb"] == used
    (problem,) = reading.problems
    assert problem.title == "The settings of AI client 'a?b' are not fully used"
    assert problem.hint == f"Correct it in settings.json; until then {meanwhile}".removesuffix("; until then ")


@pytest.mark.parametrize(
    ("overrides", "used", "messages"),
    [
        (None, [], []),
        ({"t": {"name": "look"}, "u": None}, ["t"], []),
        (
            {"t": "look", "u": {"name": 3}, "v": {"name": "look"}},
            ["v"],
            ["toolOverrides.t: must be an object; toolOverrides.u.name: must be text"],
        ),
        (["t"], [], ["toolOverrides: must be an object"]),
    ],
)
def test_an_override_that_cannot_be_used_costs_no_server(overrides: Any, used: list[str], messages: list[str]) -> None:
    reading = read_settings({"mcpServers": {"s": {"command": "x", "toolOverrides": overrides}}})
    assert list(reading.settings.mcp_servers["s"].tool_overrides) == used
    assert [problem.message for problem in reading.problems] == messages
    assert {problem.title for problem in reading.problems} <= {"The overrides of tools of server 's' are not fully used"}
    (problem,) = read_settings({"mcpServers": {"s": {"args": [], "toolOverrides": overrides}}}).problems
    assert "neither a command nor a URL" in problem.message


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


def test_a_hub_is_not_paused_until_somebody_pauses_it() -> None:
    assert [read_settings(document).settings.mcp_enabled for document in ({}, {"mcpEnabled": False})] == [True, False]


@pytest.mark.parametrize("odd", [[], "text", 1])
def test_choices_for_servers_of_files_that_are_no_object_are_said_and_hold_all_of_them_if_there_were_any(odd: Any) -> None:
    reading = read_settings({"fileServers": odd})
    assert [chosen.disable for chosen in reading.settings.file_servers.values()] == ([True] if odd else [])
    assert ["fileServers" in str(problem) for problem in reading.problems] == [True]


@pytest.mark.parametrize("registry", [None, True, False, "", "https://r.example"])
def test_a_registry_of_servers_is_chosen_or_switched_off(registry: object) -> None:
    reading = read_settings({"discovery": {"registry": registry}})
    assert (reading.settings.discovery.registry, reading.problems) == (registry, ())


def test_a_choice_of_a_registry_that_cannot_be_read_is_said() -> None:
    (problem,) = read_settings({"discovery": {"registry": 7}}).problems
    assert "discovery" in str(problem)


def test_a_language_that_there_is_not_is_said_and_the_rest_counts() -> None:
    reading = read_settings({"language": "xx", "window": {"theme": "dark"}, "notifications": {"failed": False}})
    assert [str(problem.message) for problem in reading.problems] == ["language: there is no language 'xx'"]
    assert (reading.settings.language, reading.settings.window.theme, reading.settings.notifications) == (None, "dark", {"failed": False})
    assert read_settings({"language": "zh_TW"}).settings.language == "zh_TW"
    assert read_settings({"language": 7}).settings.language is None
    odd = read_settings({"window": {"theme": "pink"}, "notifications": {"failed": "no"}})
    assert len(odd.problems) == 2
    assert (odd.settings.window.theme, odd.settings.notifications) == (None, {})


@pytest.mark.parametrize(
    ("given", "kept", "message"),
    [
        (None, ActivitySettings(), ""),
        ({"days": 3, "megabytes": 5}, ActivitySettings(days=3, megabytes=5), ""),
        ({"contents": True, "contentsUntil": 5}, ActivitySettings(contents=True, contents_until=5), ""),
        ([], ActivitySettings(line=False), "activity: must be an object"),
        ({"line": 0, "contents": True}, ActivitySettings(line=False, contents=True), "activity: line: must be true or false"),
        ({"contents": True, "contentsUntil": "soon"}, ActivitySettings(), "activity: contentsUntil: must be a number"),
        ({"contents": "yes", "days": 9}, ActivitySettings(days=9), "activity: contents: must be true or false"),
        ({"contents": True, "days": 0}, ActivitySettings(contents=True), "activity: days: must be more than 0"),
        ({"megabytes": 10**9}, ActivitySettings(), "activity: megabytes: must be 100000 or less"),
    ],
)
def test_by_a_slip_the_journal_keeps_less_and_never_more(given: Any, kept: ActivitySettings, message: str) -> None:
    reading = read_settings({"activity": given})
    found = reading.settings.activity
    assert {name: getattr(found, name) for name in ActivitySettings.model_fields} == kept.model_dump()
    assert [str(problem.message) for problem in reading.problems] == ([message] if message else [])


@pytest.mark.parametrize(
    ("given", "used", "problem"),
    [
        (None, ApprovalSettings(), ""),
        ({"sameForSeconds": 30}, ApprovalSettings(same_for_seconds=30), ""),
        ("on", ApprovalSettings(flow_guard=True), "approvals: must be an object"),
        ({"flowGuard": "yes"}, ApprovalSettings(flow_guard=True), "approvals: flowGuard: must be true or false"),
        ({"sameForSeconds": 301, "flowGuard": False}, ApprovalSettings(), "approvals: sameForSeconds: must be 300 or less"),
        ({"sameForSeconds": True}, ApprovalSettings(), "approvals: sameForSeconds: must be a whole number"),
    ],
)
def test_by_a_slip_more_is_asked_about_and_never_less(given: Any, used: ApprovalSettings, problem: str) -> None:
    reading = read_settings({"approvals": given})
    assert reading.settings.approvals == used
    assert [str(each.message) for each in reading.problems] == ([problem] if problem else [])


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
    "window": {"theme": "dark"},
    "notifications": {"calls": False},
    "activity": {"days": 9},
    "telemetry": {"otlp": "http://127.0.0.1:4318"},
    "results": {"megabytes": 5},
    "approvals": {"flowGuard": True},
}


@pytest.mark.parametrize("key", sorted(field.alias or name for name, field in Settings.model_fields.items() if name != "version"))
def test_every_setting_is_read_from_the_file(key: str) -> None:
    name = next(name for name, field in Settings.model_fields.items() if field.alias == key)
    reading = read_settings({key: NOT_THE_DEFAULT[key]})
    assert getattr(reading.settings, name) != getattr(Settings(), name)
    assert not reading.problems

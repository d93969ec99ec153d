"""`tooltray servers sign-in` and `sign-out`, and what `servers add` says about signing in."""

import json
import sys
import webbrowser
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub, hub_snapshot, problem, server_snapshot
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home

URL = "https://sign-in.example/page?state=abc"
PAGE = {"server": "far", "url": URL, "ends_at": 0.0}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was opened in a browser, which there is."""
    opened: list[str] = []
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.setattr(webbrowser, "open", lambda url: not opened.append(url))
    return opened


def signing_in(home: Home, *, finish: Any = None, notices: tuple[Any, ...] = (), **server: Any) -> FakeControlHub:
    far = server_snapshot("far", **{"tool_count": 3, **server})
    verbs: dict[str, Any] = dict.fromkeys(("start_server", "sign_out", "cancel_sign_in"))
    told = {"begin_sign_in": PAGE, "finish_sign_in": finish, "get_tools": [{}] * 3, "get_snapshot": hub_snapshot(far, notices=notices)}
    return FakeControlHub(home, verbs | told)


def refuse(**params: Any) -> None:
    raise TooltrayError("the sign-in was declined", "", "Try again")


def test_the_page_opens_and_its_address_is_printed_all_the_same(tooltray: Tooltray, hub_home: Home, opened: list[str]) -> None:
    with signing_in(hub_home) as hub:
        result = tooltray("servers", "sign-in", "far")
    assert (result.code, opened) == (0, [URL])
    assert result.out.splitlines()[1:] == [URL, "Signed in to far; it is running and has 3 tools."]
    assert ("finish_sign_in", {"name": "far", "callback_url": None}) in hub.calls


def test_a_sign_in_that_ends_with_tooltray_is_said_to(tooltray: Tooltray, hub_home: Home, opened: list[str]) -> None:
    lost = problem("the sign-in to 'far' will not outlive Tooltray", "There is no keyring", "Use an encrypted file")
    with signing_in(hub_home, notices=(problem("the sign-in to 'farther' will not outlive Tooltray"), lost)):
        result = tooltray("servers", "sign-in", "far")
    assert (result.code, result.out.splitlines()[-1]) == (0, "Signed in to far; it is running and has 3 tools.")
    assert result.err == "the sign-in to 'far' will not outlive Tooltray. There is no keyring. Use an encrypted file\n"


def test_without_a_browser_the_address_is_enough_and_the_way_back_is_said(tooltray: Tooltray, hub_home: Home, opened: list[str]) -> None:
    with signing_in(hub_home):
        result = tooltray("servers", "sign-in", "far", "--no-browser")
    assert (result.code, opened) == (0, [])
    assert result.out.startswith(f"Open this address in a browser:\n{URL}\n")
    assert "tooltray servers sign-in far --paste" in result.err


def raising(error: Exception) -> Any:
    def open_page(url: str) -> bool:
        raise error

    return open_page


@pytest.mark.parametrize("open_page", [lambda url: False, raising(webbrowser.Error()), raising(OSError())])
def test_a_browser_that_does_not_open_is_no_obstacle(
    tooltray: Tooltray, hub_home: Home, opened: list[str], monkeypatch: pytest.MonkeyPatch, open_page: Any
) -> None:
    monkeypatch.setattr(webbrowser, "open", open_page)
    with signing_in(hub_home):
        result = tooltray("servers", "sign-in", "far")
    assert (result.code, URL in result.out) == (0, True)
    assert "--paste" in result.err


@pytest.mark.parametrize(("platform", "is_opened"), [("linux", False), ("darwin", True)])
def test_where_there_is_no_screen_no_browser_takes_the_terminal(
    tooltray: Tooltray, hub_home: Home, opened: list[str], monkeypatch: pytest.MonkeyPatch, platform: str, is_opened: bool
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    with signing_in(hub_home):
        monkeypatch.setattr(sys, "platform", platform)
        tooltray("servers", "sign-in", "far")
    assert bool(opened) is is_opened


def test_for_programs_the_outcome_is_json_and_the_address_goes_to_standard_error(
    tooltray: Tooltray, hub_home: Home, opened: list[str]
) -> None:
    with signing_in(hub_home):
        result = tooltray("servers", "sign-in", "far", "--json")
    assert (result.json["name"], result.json["state"]) == ("far", "running")
    assert URL in result.err


def test_who_declines_is_told_and_nothing_starts(tooltray: Tooltray, hub_home: Home, opened: list[str]) -> None:
    with signing_in(hub_home, finish=refuse) as hub:
        result = tooltray("servers", "sign-in", "far")
    assert result.code == 1
    assert "declined" in result.err
    assert "start_server" not in hub.methods()


def test_a_server_that_is_switched_off_stays_off(tooltray: Tooltray, hub_home: Home, opened: list[str]) -> None:
    with signing_in(hub_home, is_disabled=True, state="stopped") as hub:
        assert tooltray("servers", "sign-in", "far").out.endswith("Signed in to far.\n")
    assert "start_server" not in hub.methods()


def test_a_pasted_address_ends_a_sign_in_that_has_begun(tooltray: Tooltray, hub_home: Home, opened: list[str]) -> None:
    address = "http://127.0.0.1:1/callback?code=c&state=abc"
    with signing_in(hub_home) as hub:
        result = tooltray("servers", "sign-in", "far", "--paste", stdin=f" {address}\n")
        nothing = tooltray("servers", "sign-in", "far", "--paste")
    assert result.code == 0
    assert "begin_sign_in" not in hub.methods()
    assert ("finish_sign_in", {"name": "far", "callback_url": address}) in hub.calls
    assert (nothing.code, "Standard input is empty" in nothing.err) == (1, True)


def test_a_person_at_a_terminal_is_asked_for_the_address(tooltray: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooltray.cli.server_commands.sign_in_command.is_person_there", lambda: True)
    with signing_in(hub_home):
        assert "The address at which the browser ended: " in tooltray("servers", "sign-in", "far", "--paste", stdin="http://a\n").err


def test_who_interrupts_gives_it_up(tooltray: Tooltray, hub_home: Home, opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from tooltray.carriers.control.control_client import ControlClient

    call = ControlClient.call

    def interrupted(self: ControlClient, method: str, /, **params: Any) -> Any:
        if method == "finish_sign_in":
            raise KeyboardInterrupt
        return call(self, method, **params)

    monkeypatch.setattr(ControlClient, "call", interrupted)
    with signing_in(hub_home) as hub:
        assert tooltray("servers", "sign-in", "far").code == 130
    assert ("cancel_sign_in", {"name": "far"}) in hub.calls


def test_signing_out_is_said(tooltray: Tooltray, hub_home: Home) -> None:
    with signing_in(hub_home) as hub:
        assert tooltray("servers", "sign-out", "far").out == "Signed out of far; it has stopped.\n"
        assert tooltray("servers", "sign-out", "far", "--json").json == {"server": "far", "signed_in": False}
    assert hub.methods().count("sign_out") == 2


def test_a_list_says_what_waits_for_a_sign_in(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_snapshot": hub_snapshot(server_snapshot("far", state="needs_sign_in"))}):
        assert "needs sign-in" in tooltray("servers", "list").out


# adding


def entry_of(home: Home) -> dict[str, Any]:
    entry: dict[str, Any] = json.loads(home.settings.read_bytes())["mcpServers"]["far"]
    return entry


def test_how_to_sign_in_is_added_with_the_server(tooltray: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLTRAY_PASSPHRASE", "open sesame")
    assert tooltray("secrets", "backend", "file").code == 0
    monkeypatch.setenv("TOOLTRAY_PASSPHRASE", "open sesame")
    words = ["--client-id", "me", "--client-secret", "--client-credentials", "--scope", "a", "--scope", "b", "--redirect-port", "8123"]
    result = tooltray("servers", "add", "far", "--url", "https://far.example/mcp", *words, stdin="dummy-secret\n")
    assert (result.code, result.err) == (0, "")
    assert entry_of(hub_home)["oauth"] == {
        "clientId": "me",
        "clientSecret": "${secret:far/CLIENT_SECRET}",
        "scopes": ["a", "b"],
        "redirectPort": 8123,
        "grant": "client_credentials",
    }
    assert b"dummy-secret" not in hub_home.settings.read_bytes()


def test_usually_nothing_has_to_be_said(tooltray: Tooltray, hub_home: Home) -> None:
    assert tooltray("servers", "add", "far", "--url", "https://far.example/mcp").code == 0
    assert "oauth" not in entry_of(hub_home)


def test_a_server_that_wants_a_sign_in_is_added_and_says_how(tooltray: Tooltray, hub_home: Home) -> None:
    far = server_snapshot("far", state="needs_sign_in", tool_count=0)
    answers = {"get_mcp_servers": {}, "add_mcp_server": None, "start_server": refuse, "get_snapshot": hub_snapshot(far)}
    with FakeControlHub(hub_home, answers):
        result = tooltray("servers", "add", "far", "--url", "https://far.example/mcp")
        in_json = tooltray("servers", "add", "far", "--url", "https://far.example/mcp", "--json")
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines()[0] == "Added far; it wants you to sign in. Do so with: tooltray servers sign-in far"
    assert (in_json.code, in_json.json["started"], in_json.json["needs_sign_in"]) == (0, False, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--client-id", "c", "--", "x"], "--client-id goes with --url"),
        (["--scope", "a", "--", "x"], "--scope goes with --url"),
        (["--redirect-port", "1", "--", "x"], "--redirect-port goes with --url"),
        (["--url", "https://a.b", "--client-secret"], "--client-secret goes with --client-id"),
        (["--url", "https://a.b", "--client-id", "c", "--client-credentials"], "--client-credentials goes with"),
    ],
)
def test_what_does_not_go_together_is_refused(tooltray: Tooltray, words: list[str], said: str) -> None:
    result = tooltray("servers", "add", "far", *words)
    assert (result.code, said in result.err) == (2, True)

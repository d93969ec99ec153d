"""import_offers.py: secrets leave an entry, and what was asked for comes into it."""

from typing import Any

import pytest

from tooltray.config.foreign_configs.config_source import CannotUse
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.ai_clients import FoundSecret, ImportCandidate, ImportSource
from tooltray.foundation.snapshots.forms import FormField
from tooltray.sources.clients.import_offers import Offer, found_secrets, masked
from tooltray.sources.clients.import_sources import Found
from tooltray.sources.foreign_entries.entry_reading import RawServer, ReadServer

SOURCE = ImportSource("cursor", "/f", "s")


def offer(entry: dict[str, Any], *asks: FormField, read: tuple[str, ...] = (), client: str = "cursor") -> Offer:
    source = ImportSource(client, "/f", "s")
    return Offer(ImportCandidate("1", "s", "new", (source,)), (Found(RawServer("s", entry), source),), ReadServer(entry, asks, read))


def test_a_secret_gets_the_servers_name_and_where_the_server_is_from_is_kept() -> None:
    entry, values = offer({"command": "x", "env": {"API_KEY": "dummy-value"}}).stored_as("git", {}, ())
    assert entry == {"command": "x", "env": {"API_KEY": "${secret:git/API_KEY}"}, "origin": {"kind": "client", "client": "cursor"}}
    assert values == {"git/API_KEY": "dummy-value"}
    assert offer({"command": "x"}, client="").stored_as("s", {}, ())[0]["origin"] == {"kind": "text", "client": ""}


def test_what_was_asked_for_is_filled_in_and_a_secret_goes_among_the_secrets() -> None:
    asks = (FormField("key", "Key", is_secret=True), FormField("place", "Place", "choice", choices=("eu", "us"), default="eu"))
    made = offer({"command": "x", "args": ["${input:place}"], "env": {"key": "dummy-other", "K": "Bearer ${input:key}"}}, *asks)
    entry, values = made.stored_as("s", {"key": "${odd} dummy-key"}, ())
    assert (entry["args"], entry["env"]) == (["eu"], {"key": "${secret:s/key}", "K": "Bearer ${secret:s/key_asked}"})
    assert values == {"s/key": "dummy-other", "s/key_asked": "${odd} dummy-key"}
    assert made.stored_as("s", {"key": "dummy-key", "place": "us"}, ())[0]["args"] == ["us"]


def test_a_plain_value_that_turns_out_to_be_a_secret_goes_among_the_secrets() -> None:
    made = offer({"url": "https://a.example/?token=${input:t}"}, FormField("t", "T"))
    entry, values = made.stored_as("s", {"t": "dummy-token"}, ())
    assert (entry["url"], values) == ("https://a.example/?token=${secret:s/token}", {"s/token": "dummy-token"})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "'Place' is missing"),
        ({"place": ""}, "is missing"),
        ({"place": 5}, "is missing"),
        ({"place": "mars"}, "none of the choices"),
        ({"place": "eu", "plain": "${HOME}"}, "taken for a placeholder"),
    ],
)
def test_a_value_that_is_missing_or_odd_is_named(given: Any, said: str) -> None:
    asks = (FormField("place", "Place", "choice", choices=("eu", "us")), FormField("plain", "Plain"))
    with pytest.raises(TooltrayError) as refused:
        offer({"command": "x"}, *asks).stored_as("s", given, ())
    assert said in str(refused.value)


def test_what_is_broken_is_not_stored() -> None:
    candidate = ImportCandidate("1", "s", "broken", (SOURCE,), problem=Problem("it is broken"))
    with pytest.raises(TooltrayError, match="it is broken"):
        Offer(candidate, ()).stored_as("s", {}, ())


def test_content_of_a_file_and_known_secrets_are_found_everywhere() -> None:
    made = offer({"command": "x", "args": ["say-dummy-file", "dummy-known"]}, read=("dummy-file",))
    entry, values = made.stored_as("s", {}, {"dummy-known"})
    assert entry["args"] == ["${secret:s/ARGUMENT}", "${secret:s/ARGUMENT_2}"]
    assert set(values.values()) == {"say-dummy-file", "dummy-known"}


@pytest.mark.parametrize(
    "text", ["postgres://me:${PW}@host/db", "https://a.example/?key=${KEY}", "pre-${TOKEN}", "Bearer ${TOKEN}", "Basic x${TOKEN}"]
)
def test_a_secret_that_is_a_placeholder_already_stays_as_it_is(text: str) -> None:
    found = masked("s", {"command": "x", "env": {"API_KEY": text}, "url": text}, ())
    assert (found.entry["env"], found.entry["url"], found.values) == ({"API_KEY": text}, text, {})


@pytest.mark.parametrize("text", ["ghp_0123456789${X}", "${X}", "x dummy-known ${X}"])
def test_a_secret_beside_a_placeholder_in_one_text_is_refused(text: str) -> None:
    entry = {"command": "x", "env": {"ODD": text}}
    if text == "${X}":
        assert masked("s", entry, {"dummy-known"}).entry == entry
        return
    with pytest.raises(CannotUse, match="in one text"):
        masked("s", entry, {"dummy-known"})
    with pytest.raises(TooltrayError, match="in one text"):
        offer(entry).stored_as("s", {}, {"dummy-known"})


def test_it_is_shown_by_what_a_secret_was_recognised() -> None:
    assert found_secrets({"s/KEY": "dummy", "s/ODD": "ghp_0123456789"}) == (FoundSecret("KEY", "name"), FoundSecret("ODD", "form"))


def test_keys_whose_placeholders_lead_to_each_other_stay_as_they_are_written() -> None:
    env = {f"API_KEY_{number}": f"${{secret:s/API_KEY_{number + 1}}}" * 2 for number in range(60)}
    assert masked("s", {"command": "x", "env": env}, ()).entry["env"] == env

"""What pages say of clients, modes, projects, costs and times is a plain function of what the engine tells."""

from datetime import datetime

import pytest
from PySide6.QtWidgets import QApplication

from tooltray.foundation.snapshots.clients import ClientModeSnapshot, ProfileSnapshot, SessionProject, SessionSnapshot
from tooltray.ui.clients import client_words
from tooltray.ui.figures import default_tokens, since, tokens

NOW = datetime(2026, 11, 21, 12, 0)


def test_every_mode_has_a_name_and_a_sentence_of_its_own(app: QApplication) -> None:
    assert len({client_words.mode_name(mode) for mode in client_words.MODES}) == len(client_words.MODES)
    assert len({client_words.mode_text(mode) for mode in client_words.MODES}) == len(client_words.MODES)


@pytest.mark.parametrize(
    ("shown", "of", "words"),
    [
        (1, 1, "1 token"),
        (0, 0, "0 tokens"),
        (2310, 2310, "2,310 tokens"),
        (88, 6480, "88 of 6,480 tokens"),
        (0, 1497, "1,497 tokens, none in context"),
        (520, 328, "520 tokens"),
    ],
)
def test_costs_are_said_with_their_unit_and_twice_only_where_they_differ(shown: int, of: int, words: str) -> None:
    assert tokens(shown, of) == words


def test_what_tools_cost_by_default_is_also_true_for_a_client_that_lists_them_in_full(app: QApplication) -> None:
    assert default_tokens(0, 1497) == "1,497 tokens if listed in full"
    assert default_tokens(88, 6480) == "88 of 6,480 tokens unless listed in full"
    assert default_tokens(6480, 6480) == "6,480 tokens"


@pytest.mark.parametrize(
    ("then", "words"),
    [
        (datetime(2026, 11, 21, 9, 5), "since 09:05"),
        (datetime(2026, 11, 19, 9, 5), "since Thursday, 09:05"),
        (datetime(2026, 10, 1, 9, 5), "since Thursday, October 1, 2026"),
    ],
)
def test_a_time_is_said_as_people_say_it(app: QApplication, then: datetime, words: str) -> None:
    assert since(then.timestamp(), NOW) == words


def test_a_time_that_is_not_known_is_not_said() -> None:
    assert since(0.0, NOW) == ""


def test_each_source_of_a_project_is_said_differently() -> None:
    sources = ("feedback", "roots", "folder", "person")
    assert len({client_words.project_source(SessionProject("/p", "p", source)) for source in sources}) == 4
    assert client_words.project_name(None) == "Project not known"
    assert client_words.project_name(SessionProject("/p", "shop", "roots")) == "shop"


def test_a_client_is_called_as_people_know_it() -> None:
    assert client_words.client_name(SessionSnapshot("1", "")) == "A client without a name"
    assert client_words.client_name(SessionSnapshot("1", "cursor", "2.9")) == "cursor"
    assert client_words.client_title(ClientModeSnapshot("cursor", "Cursor", "", "lazy", "")) == "Cursor"
    assert client_words.client_title(ClientModeSnapshot("unknown", "", "", "lazy", "")) == "unknown"


def test_a_profile_says_how_many_servers_it_has() -> None:
    said = [client_words.profile_servers(ProfileSnapshot("p", servers, {})) for servers in (None, ("a",), ("a", "b"))]
    assert said == ["All servers", "1 server", "2 servers"]


def test_a_session_s_facts_are_the_unusual_ones() -> None:
    plain = SessionSnapshot("1", "c", profile="p")
    assert client_words.session_facts(plain, "p") == []
    odd = SessionSnapshot("1", "c", "2", "files", "q", activated=("a", "b"))
    facts = ["Version 2", "It has only the server files.", "It requested the profile q.", "Loaded: a, b"]
    assert client_words.session_facts(odd, "p") == facts
    assert client_words.session_facts(SessionSnapshot("1", "c"), "p") == ["It has no profile."]


def test_rules_are_one_of_the_choices_or_its_own() -> None:
    rules = (None, ("all",), ("read",), (), ("write",))
    assert [client_words.rules_choice(each) for each in rules] == ["", "all", "reads", "nothing", "own"]

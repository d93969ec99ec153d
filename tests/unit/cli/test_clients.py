"""`tooltray clients ...`, with a running hub and without."""

from tests.fakes.fake_control_hub import FakeControlHub
from tests.unit.cli.conftest import Tooltray

from tooltray.access.client_tokens import ClientTokens
from tooltray.home.home import Home


def test_a_hub_makes_lists_and_removes(tooltray: Tooltray, hub_home: Home) -> None:
    answers = {
        "create_client_token": "secret",
        "list_client_tokens": [{"name": "a\x1b[1m", "created_at": 0.0}],
        "remove_client_token": None,
    }
    with FakeControlHub(hub_home, answers) as hub:
        made = tooltray("clients", "token", "my client")
        assert made.out == "secret\n"
        assert "cannot be shown again" in made.err
        assert "had before" not in made.err
        assert tooltray("clients", "list").out.splitlines()[1].startswith("a  ")
        assert "cannot connect" in tooltray("clients", "remove", "a").out
    assert hub.params_of("create_client_token") == hub.params_of("remove_client_token") | {"name": "my client"}


def test_every_answer_exists_in_json(tooltray: Tooltray, hub_home: Home) -> None:
    assert tooltray("clients", "list").out.startswith("No AI client has a token yet")
    made = tooltray("clients", "token", "a", "--json").json
    assert (made["client"], made["replaced"]) == ("a", False)
    assert tooltray("clients", "token", "a", "--json").json["replaced"] is True
    (listed,) = tooltray("clients", "list", "--json").json
    assert listed.keys() == {"name", "created_at"}
    assert tooltray("clients", "remove", "a", "--json").json == {"client": "a", "removed": True}


def test_a_token_made_without_a_hub_opens_one_later(tooltray: Tooltray, hub_home: Home) -> None:
    token = tooltray("clients", "token", "a").out.strip()
    assert ClientTokens(hub_home.clients).owner(token) == "a"
    assert tooltray("clients", "remove", "a").code == 0
    assert ClientTokens(hub_home.clients).owner(token) is None


def test_who_has_a_token_is_told_that_another_one_ends_it(tooltray: Tooltray, hub_home: Home) -> None:
    before = tooltray("clients", "token", "a").out.strip()
    again = tooltray("clients", "token", "a")
    assert again.err.splitlines()[0] == "The token that a had before is not valid any more."
    assert ClientTokens(hub_home.clients).owner(before) is None
    assert ClientTokens(hub_home.clients).owner(again.out.strip()) == "a"


def test_a_client_that_there_is_not_is_an_error(tooltray: Tooltray, hub_home: Home) -> None:
    assert tooltray("clients", "remove", "a").code == 1
    assert tooltray("clients", "token", " ").code == 1

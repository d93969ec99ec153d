"""`tooltray api`, with a running hub."""

import pytest
from tests.fakes.fake_control_hub import FakeControlHub
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.home.home import Home


def test_without_a_verb_all_are_listed_with_what_they_take(tooltray: Tooltray, hub_home: Home) -> None:
    lines = [line.split() for line in tooltray("api").out.splitlines()]
    assert lines[0] == ["VERB", "ARGUMENTS", "DESCRIPTION"]
    assert ["get_tool_use", "[days]"] in [words[:2] for words in lines]


def test_a_verb_is_called_with_values_of_its_types_and_its_result_is_printed(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"call_tool": {"content": []}}) as hub:
        result = tooltray("api", "call_tool", "name=7", 'arguments={"a": [1]}', "project=/p")
    assert result.json == {"content": []}
    assert [call for call in hub.calls if call[0] == "call_tool"] == [
        ("call_tool", {"name": "7", "arguments": {"a": [1]}, "project": "/p"})
    ]


def test_what_is_no_json_is_a_text(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"set_result_limit": None}) as hub:
        assert tooltray("api", "set_result_limit", "tokens=none", "server=s").out == "null\n"
    assert ("set_result_limit", {"tokens": "none", "server": "s"}) in hub.calls


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["get_nothing"], "There is no verb 'get_nothing'"),
        (["start_server"], "there is no name"),
        (["start_server", "files"], "It takes: name"),
        (["start_server", "server=files"], "It takes: name"),
        (["initialize", "a=1"], "It takes: nothing"),
    ],
)
def test_a_line_that_cannot_be_carried_out_names_what_can(tooltray: Tooltray, hub_home: Home, words: list[str], said: str) -> None:
    with FakeControlHub(hub_home, {}) as hub:
        result = tooltray("api", *words)
    assert (result.code, said in result.err) == (1, True)
    assert not hub.calls

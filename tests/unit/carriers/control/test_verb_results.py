"""verb_results.py: what comes as JSON becomes what the verb returned."""

import inspect
from typing import Any, get_type_hints

import pytest
from tests.fakes.verb_table import VERBS

from tooltray.carriers.control.verb_results import result_type, typed_result, verb_entries
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.tools import ToolSnapshot


def test_the_table_has_every_verb_as_it_is_declared() -> None:
    assert {verb: list(entry.takes) for verb, entry in verb_entries().items()} == {
        verb: list(inspect.signature(kind).parameters)[1:] for verb, kind in VERBS.items()
    }
    results = {verb: get_type_hints(kind)["return"] for verb, kind in VERBS.items()}
    assert {verb: result_type(verb) for verb in VERBS} == {
        verb: kind if "tooltray." in repr(kind) else Any for verb, kind in results.items()
    }


def test_a_list_of_snapshots_is_converted_and_plain_json_stays() -> None:
    tool = {
        "name": "a",
        "server": "s",
        "original_name": "a",
        "description": "",
        "category": "read",
        "is_enabled": True,
        "is_approved": True,
    }
    assert typed_result("get_tools", [tool]) == [ToolSnapshot(**tool)]
    assert typed_result("call_tool", tool) is tool


@pytest.mark.parametrize("answer", [{}, None, [{"name": 1}]])
def test_an_answer_of_another_shape_is_an_error_with_a_way_out(answer: Any) -> None:
    with pytest.raises(TooltrayError, match="makes no sense") as caught:
        typed_result("get_tools", answer)
    assert "tooltray stop" in caught.value.problem.hint

"""verb_results.py: what comes as JSON becomes what the verb returned."""

from typing import Any, get_type_hints

import pytest
from tests.fakes.verb_table import VERBS

from tooltray.carriers.control.verb_results import RESULTS, result_type, typed_result
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.tools import ToolSnapshot


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_s_result_is_of_the_type_that_its_annotation_names(verb: str) -> None:
    kind = get_type_hints(VERBS[verb])["return"]
    if "tooltray." not in repr(kind):
        assert verb not in RESULTS
    else:
        assert result_type(verb) == kind


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

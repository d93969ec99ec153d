"""results.py, with the SDK's own types."""

from typing import Any

import pytest
from copilot import ToolBinaryResult, ToolResult
from copilot.tools import tool_result_to_external_tool_text_result_for_llm
from hypothesis import given
from hypothesis import strategies as st

from tooltray.carriers.copilot.results import failed, tool_result
from tooltray.catalogue.formats.contents import NOTHING_SAID
from tooltray.foundation.snapshots.tools import MCPToolResponse

TEXT = {"type": "text", "text": "hello"}
PNG = "iVBORw0KGgo="


def of_result(result: dict[str, Any]) -> ToolResult:
    return tool_result(MCPToolResponse("tool", "server", "client", "ok", 0.1, 2, 2, tool_call_id="c", result=result))


def of(*blocks: Any, **members: Any) -> ToolResult:
    return of_result({"content": list(blocks), **members})


def test_texts_are_joined_and_the_call_succeeded() -> None:
    assert of(TEXT, {"type": "text", "text": "there"}) == ToolResult(text_result_for_llm="hello\n\nthere", result_type="success")


def test_an_error_is_a_failure_with_its_text() -> None:
    assert of(TEXT, isError=True) == ToolResult(text_result_for_llm="hello", result_type="failure", error="hello")


@pytest.mark.parametrize("flag", [False, None, 0, "true"])
def test_only_the_flag_itself_makes_a_failure(flag: Any) -> None:
    assert of(TEXT, isError=flag).result_type == "success"


@pytest.mark.parametrize(
    ("block", "binary"),
    [
        ({"type": "image", "data": PNG, "mimeType": "image/png"}, ToolBinaryResult(PNG, "image/png", "image", "image")),
        ({"type": "audio", "data": "UklG", "mimeType": "audio/wav"}, ToolBinaryResult("UklG", "audio/wav", "resource", "audio")),
        ({"type": "image", "data": PNG}, ToolBinaryResult(PNG, "application/octet-stream", "resource", "image")),
        (
            {"type": "resource", "resource": {"uri": "file:///a.pdf", "mimeType": "application/pdf", "blob": "JVBE"}},
            ToolBinaryResult("JVBE", "application/pdf", "resource", "file:///a.pdf"),
        ),
        (
            {"type": "resource", "resource": {"blob": "JVBE", "uri": "a:b"}},
            ToolBinaryResult("JVBE", "application/octet-stream", "resource", "a:b"),
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///a.png", "mimeType": "image/PNG; q=1", "blob": PNG}},
            ToolBinaryResult(PNG, "image/png", "image", "file:///a.png"),
        ),
    ],
)
def test_binary_data_goes_beside_the_text(block: dict[str, Any], binary: ToolBinaryResult) -> None:
    result = of(TEXT, block)
    assert (result.text_result_for_llm, result.binary_results_for_llm) == ("hello", [binary])
    assert of(block).text_result_for_llm == ""
    assert tool_result_to_external_tool_text_result_for_llm(result).binary_results_for_llm


def test_a_failure_keeps_its_pictures() -> None:
    result = of({"type": "image", "data": PNG, "mimeType": "image/png"}, isError=True)
    assert result.result_type == "failure"
    assert result.binary_results_for_llm


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"type": "resource", "resource": {"uri": "file:///a.txt", "text": "inside"}}, "file:///a.txt]\ninside"),
        ({"type": "resource_link", "uri": "file:///b", "name": "b"}, "file:///b"),
        ({"type": "image", "data": "no base64!", "mimeType": "image/png"}, "image/png"),
        ({"type": "hologram", "名": "x"}, "名"),
        ("just text", "just text"),
    ],
)
def test_what_is_no_text_and_no_data_is_put_into_words(block: Any, words: str) -> None:
    result = of(TEXT, block)
    assert result.text_result_for_llm.startswith("hello\n\n")
    assert words in result.text_result_for_llm
    assert result.binary_results_for_llm is None


def test_structured_content_is_given_where_there_is_no_other() -> None:
    assert of(structuredContent={"sum": 5}).text_result_for_llm == '{"sum": 5}'
    assert of(TEXT, structuredContent={"content": "hello"}).text_result_for_llm == "hello"
    assert of({"type": "text", "text": '{"sum":5}'}, structuredContent={"sum": 5}).text_result_for_llm == '{"sum":5}'


@pytest.mark.parametrize("result", [{}, {"content": []}, {"content": [{"type": "text", "text": ""}]}])
def test_a_result_of_nothing_says_so(result: dict[str, Any]) -> None:
    assert of_result(result) == ToolResult(text_result_for_llm=NOTHING_SAID, result_type="success")


def test_a_call_that_did_not_come_about_says_why() -> None:
    assert failed("no hub") == ToolResult(text_result_for_llm="no hub", result_type="failure", error="no hub")
    assert failed("too slow", "timeout").result_type == "timeout"


values = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.dictionaries(st.sampled_from(["text", "blob", "uri"]), st.text())
)
kinds = st.sampled_from(["text", "image", "audio", "resource", "resource_link"])
members = dict.fromkeys(("text", "data", "mimeType", "resource", "uri", "name"), values)
blocks = st.fixed_dictionaries({"type": kinds}, optional=members)


@given(content=st.lists(blocks | values), is_error=values)
def test_whatever_a_server_sends_becomes_a_result_that_the_sdk_can_send(content: list[Any], is_error: Any) -> None:
    result = of(*content, isError=is_error)
    assert tool_result_to_external_tool_text_result_for_llm(result).to_dict()["textResultForLlm"] == result.text_result_for_llm
    assert result.text_result_for_llm or result.binary_results_for_llm

"""anthropic.py"""

import re

from tests.contract.results import PIXEL, RESULTS, responded

from tooltray.catalogue.formats.anthropic import Anthropic

ANTHROPIC = Anthropic()
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}


def test_a_tool_has_its_schema_whole() -> None:
    schema = {"type": "object", "properties": {"a.b": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"enum": [1, "b", None]}}, "required": ["a.b"]}
    assert ANTHROPIC.tools([{"name": "add", "description": "Adds", "inputSchema": schema}]) == [
        {"name": "add", "description": "Adds", "input_schema": schema}
    ]


def test_arguments_whose_names_the_api_refuses_get_others() -> None:
    (tool,) = ANTHROPIC.tools([{"name": "天气", "inputSchema": {"properties": {"城市": {"type": "string"}}, "required": ["城市"]}}])
    (name,) = tool["input_schema"]["properties"]
    assert re.fullmatch("argument_[0-9a-f]{8}", name)
    assert tool["input_schema"]["required"] == [name]
    assert re.fullmatch("tool_[0-9a-f]{8}", tool["name"])


def test_a_result_has_blocks_and_a_mark() -> None:
    assert ANTHROPIC.response(responded(RESULTS["image"])) == {
        "type": "tool_result",
        "tool_use_id": "call_1",
        "content": [{"type": "text", "text": "here"}, IMAGE],
        "is_error": False,
    }


def test_an_error_is_marked_and_its_text_stays() -> None:
    found = ANTHROPIC.response(responded(RESULTS["error with an image"]))
    assert found["is_error"] is True
    assert found["content"] == [{"type": "text", "text": "no such file"}, IMAGE]


def test_a_pdf_is_a_document_and_other_files_are_named() -> None:
    assert ANTHROPIC.response(responded(RESULTS["pdf"]))["content"][1] == {
        "type": "document",
        "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjQ="},
        "title": "report.pdf",
    }
    assert ANTHROPIC.response(responded(RESULTS["audio"]))["content"] == [
        {"type": "text", "text": "[Audio: audio/wav, 4 bytes; it cannot be shown here]"}
    ]

"""openai.py"""

from tests.contract.results import PIXEL, RESULTS, responded

from tooltray.catalogue.formats.openai import OpenAiChat, OpenAiResponses

CHAT = OpenAiChat()
SCHEMA = {"type": "object", "properties": {"城市": {"$ref": "#/$defs/City"}}, "$defs": {"City": {"type": "string", "default": "北京"}}}
RESPONSES = OpenAiResponses()
IMAGE = {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}", "detail": "auto"}


def test_a_tool_of_the_chat_api_is_a_function_whose_schema_goes_whole_and_not_strict() -> None:
    assert CHAT.tools([{"name": "add", "description": "Adds", "inputSchema": SCHEMA}]) == [
        {"type": "function", "function": {"name": "add", "description": "Adds", "parameters": SCHEMA, "strict": False}}
    ]


def test_a_tool_without_a_schema_takes_an_empty_object() -> None:
    (tool,) = CHAT.tools([{"name": "add"}])
    assert tool["function"] == {"name": "add", "parameters": {"type": "object", "properties": {}}, "strict": False}


def test_a_result_is_a_message_of_text() -> None:
    assert CHAT.response(responded(RESULTS["texts"])) == {"role": "tool", "tool_call_id": "call_1", "content": "one\n\ntwo"}


def test_an_image_is_named_in_words_since_tool_messages_are_text() -> None:
    assert CHAT.response(responded(RESULTS["image"]))["content"] == "here\n\n[Image: image/png, 70 bytes; it cannot be shown here]"


def test_an_error_is_in_the_text_of_a_message() -> None:
    assert CHAT.response(responded(RESULTS["error"]))["content"] == "Error: no such file"


def output(result: str) -> object:
    return RESPONSES.response(responded(RESULTS[result]))["output"]


def test_a_tool_is_a_flat_function_that_is_not_strict() -> None:
    assert RESPONSES.tools([{"name": "add", "description": "Adds"}]) == [
        {"type": "function", "name": "add", "description": "Adds", "parameters": {"type": "object", "properties": {}}, "strict": False}
    ]


def test_text_is_a_plain_output() -> None:
    found = RESPONSES.response(responded(RESULTS["texts"]))
    assert found == {"type": "function_call_output", "call_id": "call_1", "output": "one\n\ntwo"}


def test_images_and_pdf_are_parts_of_the_output() -> None:
    assert output("image") == [{"type": "input_text", "text": "here"}, IMAGE]
    assert output("pdf") == [
        {"type": "input_text", "text": "[Resource: file:///a/report.pdf]"},
        {"type": "input_file", "filename": "report.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjQ="},
    ]


def test_what_the_api_does_not_take_is_named_in_words() -> None:
    assert output("binary resource") == "[File: file:///a.bin, application/octet-stream, 8 bytes; it cannot be shown here]"


def test_an_error_says_so_before_anything_else() -> None:
    assert output("error") == "Error: no such file"
    assert output("error with an image") == [
        {"type": "input_text", "text": "Error:"},
        {"type": "input_text", "text": "no such file"},
        IMAGE,
    ]

"""formats/openai_chat.py"""

from tests.contract.results import RESULTS, responded

from tooltray.formats.openai_chat import OpenAiChat

CHAT = OpenAiChat()
SCHEMA = {"type": "object", "properties": {"城市": {"$ref": "#/$defs/City"}}, "$defs": {"City": {"type": "string", "default": "北京"}}}


def test_a_tool_is_a_function_whose_schema_goes_whole_and_not_strict() -> None:
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


def test_an_error_says_so_in_the_text() -> None:
    assert CHAT.response(responded(RESULTS["error"]))["content"] == "Error: no such file"

"""Tools that ask the AI client something before they answer. Names, keys and schemas are fixed by the conformance suite."""

import json
from collections.abc import Mapping
from typing import Any

from questions import ROOTS, Json, answers, field, form, sampling, state
from tool_table import Context, said, strings, tool

CONFIRMATION = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
STATES = ["active", "inactive", "pending"]
DEFAULTS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "User name", "default": "John Doe"},
        "age": {"type": "integer", "description": "User age", "default": 30},
        "score": {"type": "number", "description": "User score", "default": 95.5},
        "status": {"type": "string", "description": "User status", "enum": STATES, "default": "active"},
        "verified": {"type": "boolean", "description": "Verification status", "default": True},
    },
    "required": [],
}


def choices(**titles: str) -> list[dict[str, str]]:
    return [{"const": value, "title": title} for value, title in titles.items()]


ENUMS = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": choices(value1="First Option", value2="Second Option", value3="Third Option")},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {"type": "array", "items": {"anyOf": choices(value1="First Choice", value2="Second Choice", value3="Third Choice")}},
    },
    "required": [],
}
NAME_QUESTION = form("What is your name?", strings("name"))
CONFIRM_QUESTION = form("Please confirm", CONFIRMATION)


# those of the legacy wire


@tool(strings("prompt"))
async def test_sampling(context: Context, arguments: Mapping[str, Any]) -> Json:
    """Asks the client's model."""
    found = await answers(context, answer=sampling(arguments.get("prompt", "")))
    return said(f"LLM response: {said_by_model(found['answer'])}")


@tool(strings("message"))
async def test_elicitation(context: Context, arguments: Mapping[str, Any]) -> Json:
    """Asks the person."""
    return await elicit(context, arguments.get("message", ""), strings("response"), "User response")


@tool()
async def test_elicitation_sep1034_defaults(context: Context, arguments: Mapping[str, Any]) -> Json:
    """Asks the person with a default for each kind of value."""
    return await elicit(context, "Please review these values", DEFAULTS, "Elicitation completed")


@tool()
async def test_elicitation_sep1330_enums(context: Context, arguments: Mapping[str, Any]) -> Json:
    """Asks the person to choose, with each kind of choice."""
    return await elicit(context, "Please choose", ENUMS, "Elicitation completed")


async def elicit(context: Context, message: str, schema: Json, lead: str) -> Json:
    answer = (await answers(context, answer=form(message, schema)))["answer"]
    return said(f"{lead}: action={answer['action']}, content={json.dumps(answer.get('content') or {})}")


# those of the modern wire


@tool()
async def test_input_required_result_elicitation(context: Context, arguments: Mapping[str, Any]) -> Json:
    """Asks for a name."""
    found = await answers(context, user_name=NAME_QUESTION)
    return said(f"Hello, {field(found['user_name'], 'name')}!")


@tool()
async def test_streaming_elicitation(context: Context, arguments: Mapping[str, Any]) -> Json:
    """Asks after it has reported progress on the response's stream."""
    await context.session.report_progress(1, 2, "half way")
    found = await answers(context, user_name=NAME_QUESTION)
    return said(f"Hello, {field(found['user_name'], 'name')}!")


@tool()
async def test_input_required_result_sampling(context: Context, arguments: Mapping[str, Any]) -> Json:
    """Asks the client's model."""
    found = await answers(context, capital_question=sampling("What is the capital of France?"))
    return said(f"The model said: {said_by_model(found['capital_question'])}")


@tool()
async def test_input_required_result_list_roots(context: Context, arguments: Mapping[str, Any]) -> Json:
    """Asks for the client's roots."""
    found = await answers(context, client_roots=ROOTS)
    return said(f"{len(found['client_roots'].get('roots') or ())} roots")


@tool()
async def test_input_required_result_request_state(context: Context, arguments: Mapping[str, Any]) -> Json:
    """Asks, and wants its state back."""
    await answers(context, "waiting for a confirmation", confirm=CONFIRM_QUESTION)
    return said("state-ok")


@tool()
async def test_input_required_result_multiple_inputs(context: Context, arguments: Mapping[str, Any]) -> Json:
    """Asks three things at once."""
    await answers(context, "three questions", user_name=NAME_QUESTION, greeting=sampling("Greet somebody."), client_roots=ROOTS)
    return said("All of it came.")


@tool()
async def test_input_required_result_multi_round(context: Context, arguments: Mapping[str, Any]) -> Json:
    """Asks twice, one after the other."""
    known = json.loads(state(context) or "{}")
    if "name" not in known:
        first = await answers(context, json.dumps({"step": 1}), step1=NAME_QUESTION)
        known = {"name": field(first["step1"], "name")}
    second = await answers(context, json.dumps(known), step2=form("Which colour do you like?", strings("color")))
    return said(f"{known['name']} likes {field(second['step2'], 'color')}.")


@tool()
async def test_input_required_result_tampered_state(context: Context, arguments: Mapping[str, Any]) -> Json:
    """Asks with a state that nobody may change."""
    await answers(context, "sealed", confirm=CONFIRM_QUESTION)
    return said("untouched")


@tool()
async def test_input_required_result_capabilities(context: Context, arguments: Mapping[str, Any]) -> Json:
    """Asks only what the client said it can answer."""
    capabilities = context.session.client_capabilities
    questions = {}
    if capabilities and capabilities.sampling is not None:
        questions["sample"] = sampling("Say hello.")
    if capabilities and capabilities.elicitation is not None:
        questions["ask"] = NAME_QUESTION
    await answers(context, "as far as it can", **questions)
    return said("asked")


def said_by_model(answer: Json) -> Any:
    return (answer.get("content") or {}).get("text")

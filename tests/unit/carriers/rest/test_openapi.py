"""openapi.py and table.py: everything that there is, is described, and nothing else."""

import json

from jsonschema import Draft202012Validator
from tests.fakes.verb_table import VERBS

from tooltray.carriers.rest.openapi import document
from tooltray.carriers.rest.operations import NOT_OFFERED, OF_THE_DESKTOP, OPERATIONS, operations_at


def test_every_verb_is_reached_but_those_that_are_the_persons_alone() -> None:
    reached = {verb.__name__ for operation in OPERATIONS for verb in (operation.verb, *operation.also)}
    assert reached == set(VERBS) - NOT_OFFERED - OF_THE_DESKTOP
    of_tokens = {"list_api_tokens", "create_api_token", "revoke_api_token"}
    of_confirming = {"get_confirmations", "answer_confirmation", "get_passphrase_state", "confirm_with_passphrase"}
    of_confirming |= {"set_passphrase", "remove_passphrase"}
    assert {"set_api_enabled", "get_api_token", "rotate_api_token", *of_tokens, *of_confirming} == NOT_OFFERED


def test_the_description_has_every_operation_and_all_that_it_points_to() -> None:
    whole = document()
    described = {(method.upper(), path) for path, methods in whole["paths"].items() for method in methods}
    own = {("GET", path) for path in ("/api/mcp", "/api/events", "/api/openapi.json")}
    assert described == {(operation.method, f"/api{operation.path}") for operation in OPERATIONS} | own
    text = json.dumps(whole)
    wanted = {part.partition('"')[0] for part in text.split('"$ref": "#/components/schemas/')[1:]}
    assert wanted <= whole["components"]["schemas"].keys()
    for schema in whole["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_every_operation_says_what_it_does_and_how_it_may_fail() -> None:
    for path, methods in document()["paths"].items():
        for operation in methods.values():
            assert operation["summary"], path
            assert {"401", "403", "404"} <= operation["responses"].keys(), path


def test_what_is_written_out_goes_before_a_name() -> None:
    assert operations_at(("mcp", "feedback", "history"))["GET"][0].verb.__name__ == "get_feedback_history"
    operation, path = operations_at(("mcp", "servers", "default"))["GET"]
    assert (operation.verb.__name__, path) == ("get_snapshot", {"name": "default"})
    assert operations_at(("mcp", "servers", "")) == {}

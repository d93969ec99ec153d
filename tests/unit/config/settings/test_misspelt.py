"""misspelt.py"""

from typing import Any

import pytest

from tooltray.config.settings.misspelt import misspelt


@pytest.mark.parametrize(
    ("document", "field", "known"),
    [
        ({"aprovals": {}}, "aprovals", "approvals"),
        ({"approvals": {"flowGaurd": True}}, "approvals.flowGaurd", "flowGuard"),
        ({"results": {"megabyte": 5}}, "results.megabyte", "megabytes"),
        ({"mcpServers": {"s": {"confinment": "own"}}}, "mcpServers.s.confinment", "confinement"),
        ({"mcpServers": {"s": {"maxcalls": 1}}}, "mcpServers.s.maxcalls", "maxCalls"),
        ({"publish": {"clients": {"c": {"callrules": []}}}}, "publish.clients.c.callrules", "callRules"),
    ],
)
def test_what_was_to_hold_something_back_is_told_with_what_was_meant(document: dict[str, Any], field: str, known: str) -> None:
    (slip,) = misspelt(document)
    assert slip.problem.title == f"{field} in the settings means nothing"
    assert slip.problem.message == f"it looks like '{known}'"
    assert ".".join(map(str, slip.path)) == field


@pytest.mark.parametrize(
    "document",
    [
        {"mcpServers": {"s": {"timeout": 5, "description": "x", "icon": "y", "confinement": "own", "command": "p"}}, "theme": "dark"},
        {"mcpServers": {"s": {"disable": True, "disabled": True}}},
        {"mcpServers": [], "publish": {"clients": 5}, "approvals": None},
        {"publish": 5, "mcpServers": {"s": 5}},
    ],
)
def test_fields_of_other_programs_and_what_is_no_object_are_no_slips(document: dict[str, Any]) -> None:
    assert list(misspelt(document)) == []

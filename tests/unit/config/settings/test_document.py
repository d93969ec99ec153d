from typing import Any

import pytest

from tooltray.config.settings.document import CURRENT_VERSION, members, migrate, part, texts, version_of
from tooltray.foundation.errors import TooltrayError


def test_a_document_without_a_version_becomes_one_of_today_and_keeps_everything() -> None:
    document = {"mcpServers": {"a": {"command": "x"}}, "defaultServers": ["a"], "mcpEnabled": False, "theme": "dark"}
    assert migrate(dict(document)) == {"version": CURRENT_VERSION} | document
    assert next(iter(migrate(dict(document)))) == "version"


def test_a_single_default_server_becomes_a_list() -> None:
    assert migrate({"defaultServer": "a"}) == {"version": 1, "defaultServers": ["a"]}


def test_a_single_default_server_beside_a_list_gives_way() -> None:
    assert migrate({"defaultServer": "a", "defaultServers": ["b"]}) == {"version": 1, "defaultServers": ["b"]}


def test_a_document_of_today_stays() -> None:
    document = {"mcpServers": {}, "version": CURRENT_VERSION, "defaultServer": "kept, it means nothing now"}
    assert migrate(dict(document)) == document


@pytest.mark.parametrize("version", [None, "1", True, -1, 1.0, [], 0])
def test_an_odd_version_counts_as_none(version: Any) -> None:
    assert version_of({"version": version}) == 0
    assert migrate({"version": version}) == {"version": CURRENT_VERSION}


def test_a_version_is_what_it_says() -> None:
    assert version_of({"version": 7}) == 7


@pytest.mark.parametrize("odd", ["/work", {}, ["/work", 1]])
def test_what_is_no_list_of_texts_is_not_replaced(odd: Any) -> None:
    document = {"allowedFolders": odd}
    with pytest.raises(TooltrayError, match=r"allowedFolders: must be a list of texts. Correct it in settings.json"):
        texts(document, "allowedFolders")
    assert document == {"allowedFolders": odd}


@pytest.mark.parametrize("odd", [[], "text", 1])
def test_what_is_no_object_is_read_as_empty_and_never_replaced(odd: Any) -> None:
    document = {"mcpServers": odd}
    assert members(document, "mcpServers") == {}
    with pytest.raises(TooltrayError, match=r"mcpServers: must be an object. Correct it in settings.json"):
        part(document, "mcpServers")
    assert document == {"mcpServers": odd}


def test_an_object_that_is_missing_is_made() -> None:
    document: dict[str, object] = {"mcpServers": None}
    part(document, "mcpServers")["a"] = 1
    for folder in ("/work", "/home"):
        texts(document, "allowedFolders").append(folder)
    assert document == {"mcpServers": {"a": 1}, "allowedFolders": ["/work", "/home"]}


def test_an_object_that_is_there_is_changed_in_place() -> None:
    document: dict[str, object] = {"mcpServers": {"a": 1}}
    part(document, "mcpServers")["b"] = 2
    assert document == {"mcpServers": {"a": 1, "b": 2}}

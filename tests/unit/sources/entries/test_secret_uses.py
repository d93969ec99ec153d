"""secret_uses.py: who uses which secret; when in doubt, one counts as used."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.events import EventBus
from tooltray.foundation.files.atomic_file import set_aside
from tooltray.sources.entries.server_secrets import SecretUses, Uses, mentioned

SETTINGS = {
    "version": 1,
    "mcpServers": {
        "a": {"command": "x", "env": {"K": "${secret:one}"}},
        "odd": {"args": [{"k": "${secret:one} ${secret:two}"}]},
    },
    "customNpmRegistry": "https://${secret:npm}@registry.example/",
}


async def uses(folder: Path, settings: Mapping[str, Any] | str = SETTINGS, **asked: Any) -> Uses:
    """Of a set-up that has been loaded with SETTINGS, while the file has others."""
    path = folder / "settings.json"
    path.write_text(json.dumps(SETTINGS))
    config = McpConfHelper(path, EventBus())
    await config.load()
    path.write_text(settings if isinstance(settings, str) else json.dumps(settings))
    given = {name: (lambda value=value: value) for name, value in {"projects": {}, **asked}.items()}
    return await SecretUses(config=config, **given).all()


async def test_a_server_uses_what_its_entry_names_and_the_file_what_stands_beside(tmp_path: Path) -> None:
    found = await uses(tmp_path)
    assert (found.by("a"), found.by("odd")) == ({"one"}, {"one", "two"})
    assert found.of("npm") == (str(tmp_path / "settings.json"),)
    assert (found.of("one"), found.of("one", besides="a"), found.of("none")) == (("a", "odd"), ("odd",), ())
    assert not found.unreadable


async def test_what_is_loaded_counts_as_much_as_what_is_saved_by_now(tmp_path: Path) -> None:
    found = await uses(tmp_path, {"mcpServers": {"b": {"command": "${secret:new}"}}})
    assert (found.of("one"), found.of("new")) == (("a", "odd"), ("b",))


@pytest.mark.parametrize(
    "text",
    [
        *('{"mcpServers": {"b": "${secret:half}"', '["${secret:half}"]', "[" * 9_000 + "${secret:half}"),
        *(
            r'{"a": "$\u007bsecret:half}',
            r'{"a": "\u0024\u007bsecret:half\u007d',
            r'{"a": "${secret:h\u0061lf}',
            r'{"a": "\q${secret:half}',
        ),
    ],
)
async def test_in_a_file_that_cannot_be_parsed_each_placeholder_counts(tmp_path: Path, text: str) -> None:
    assert (await uses(tmp_path, text)).of("half") == (str(tmp_path / "settings.json"),)


async def test_settings_that_were_set_aside_may_come_back(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{${secret:old}")
    aside = set_aside(path)
    assert (await uses(tmp_path)).of("old") == (str(aside),)


async def test_a_project_s_server_is_called_as_in_the_hub_and_else_by_its_file(tmp_path: Path) -> None:
    file = tmp_path / ".mcp.json"
    entries = {"k": {"command": "${secret:known}"}, "u": {"command": "${secret:unknown}"}, "n": None}
    file.write_text(json.dumps({"mcpServers": entries}))
    found = await uses(tmp_path, projects={str(tmp_path): {"k": "k-shop"}})
    assert (found.of("known"), found.of("unknown")) == (("k-shop",), (str(file),))


@pytest.mark.parametrize("text", ['{"mcpServers": {"k": "${secret:half}"', '{"mcpServers": "${secret:half}"}'])
async def test_a_project_s_file_that_is_half_written_uses_what_is_in_it(tmp_path: Path, text: str) -> None:
    (tmp_path / ".mcp.json").write_text(text)
    found = await uses(tmp_path, projects={str(tmp_path): {"k": "k-shop"}})
    assert found.of("half") == (str(tmp_path / ".mcp.json"),)


async def test_where_no_object_is_the_file_itself_uses_what_is_in_it(tmp_path: Path) -> None:
    found = await uses(tmp_path, {"mcpServers": ["${secret:listed}"]})
    assert found.of("listed") == (str(tmp_path / "settings.json"),)


async def test_a_project_without_servers_or_without_a_file_uses_nothing(tmp_path: Path) -> None:
    for text in ("{}", '{"mcpServers": null}'):
        (tmp_path / ".mcp.json").write_text(text)
        found = await uses(tmp_path, projects={str(tmp_path): {}, str(tmp_path / "gone"): {}})
        assert set(found.users) == {"one", "two", "npm"}


async def test_a_file_that_the_hub_was_started_with_uses_what_is_in_its_text(tmp_path: Path) -> None:
    served = tmp_path / "served.json"
    served.write_text("{ // ${secret:served}\n}")
    assert (await uses(tmp_path, served=[str(served)])).of("served") == (str(served),)


async def test_what_waits_for_a_yes_will_use_its_secrets(tmp_path: Path) -> None:
    assert (await uses(tmp_path, proposed={"new": {"env": {"K": "${secret:wanted}"}}})).of("wanted") == ("new",)


async def test_a_file_that_cannot_be_read_may_use_any_secret(tmp_path: Path) -> None:
    folder, lost = tmp_path / "folder.json", tmp_path / "lost.json"
    folder.mkdir()
    lost.touch()
    found = await uses(tmp_path, served=[str(folder)], lost=[str(lost), str(tmp_path / "deleted")])
    assert found.unreadable == {str(folder), str(lost)}
    assert found.of("anything") == (str(folder), str(lost))


def test_names_are_found_wherever_a_value_has_them() -> None:
    assert list(mentioned({"a": ["${secret:x}${secret:y}", ({"b": "${secret:z}"},), 3, None, "${other:w}"]})) == ["x", "y", "z"]

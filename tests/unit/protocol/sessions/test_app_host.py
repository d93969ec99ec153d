"""app_host.py"""

from typing import Any

import pytest
from msgspec import Raw

from tooltray.protocol.envelope import dump
from tooltray.protocol.sessions.app_host import EXTENSION, shows_views


@pytest.mark.parametrize("settings", [{}, {"mimeTypes": ["text/html;profile=mcp-app"]}])
def test_a_client_shows_views_if_it_declares_the_extension(settings: Any) -> None:
    assert shows_views(dump({"roots": {}, "extensions": {EXTENSION: settings}}))
    assert shows_views(Raw(b'{"extensions":{"io.modelcontextprotocol\\/ui":{}}}'))


@pytest.mark.parametrize(
    "capabilities",
    [
        {},
        {"extensions": {}},
        {"extensions": {EXTENSION: True}},
        {"extensions": {EXTENSION: None}},
        {"extensions": [EXTENSION]},
        {"experimental": {EXTENSION: {}}},
        [EXTENSION],
    ],
)
def test_all_else_declares_nothing(capabilities: Any) -> None:
    assert not shows_views(dump(capabilities))

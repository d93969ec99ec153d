"""call_log.py: calls in the log, for servers whose config asks for that."""

import logging
from pathlib import Path

import pytest
from tests.fakes.served_hub import FILE, entry

from tooltray.carriers.mcp.served.call_log import ServedCallLog
from tooltray.config.settings.file_server import FileServer
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.events import EventBus, ToolCallResult
from tooltray.foundation.snapshots.calls import MCPToolResponse


async def test_calls_of_servers_that_ask_for_it_are_logged_and_no_others(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    bus = EventBus()
    config = McpConfHelper(tmp_path / "settings.json", bus)
    await config.load()
    entries = (entry("told", logs_calls=True), entry("quiet"))
    config.set_file_servers({each.name: FileServer(each, FILE, "served") for each in entries})
    ServedCallLog(config=config, bus=bus)
    with caplog.at_level(logging.INFO, logger="tooltray"):
        for server in ("told", "quiet", "of the settings"):
            bus.publish(ToolCallResult(MCPToolResponse("fetch", server, "an editor", "ok", 0.25, 10, 20)))
    assert [record.getMessage() for record in caplog.records] == ["an editor called fetch of 'told': ok after 250 ms"]

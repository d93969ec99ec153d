"""Uses a server inside the hub as the guide says: lists it, adds it, says yes, calls its tool and reads its resource.

Says on its stdout what it saw, as JSON.
"""

import asyncio
import json
import sys
from pathlib import Path

from tests.fakes.hub_parts import hub_parts

ENTRY = {"type": "inmemory", "command": "notes", "args": ["first"], "autoApprove": ["all"]}


async def main(folder: Path) -> None:
    async with hub_parts(folder, servers={}) as hub:
        seen = {"listed": [[each.name, each.package, each.version, each.summary] for each in await hub.presenter.get_inmemory_servers()]}
        await hub.presenter.add_mcp_server("mine", ENTRY)
        (request,) = await hub.presenter.get_trust_requests()
        seen["careful"] = list(request.warnings)
        seen["was_imported"] = "notes_server" in sys.modules or "mcp" in sys.modules
        await hub.presenter.trust_entries("", {"mine": request.digest})
        await hub.presenter.start_server("mine")
        seen["tools"] = [each.original_name for each in await hub.presenter.get_tools("mine")]
        seen["kept"] = (await hub.call("keep", arguments={"text": "second"}))["result"]["structuredContent"]
    print(json.dumps(seen))


asyncio.run(main(Path(sys.argv[1])))

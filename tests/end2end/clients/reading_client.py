"""The `mcp` SDK's own client: calls a tool whose result is cut, and reads the rest in every way. Prints one JSON object.

Usage: reading_client.py MODE ROWS TOKEN URL | MODE ROWS "" COMMAND [ARG ...]
MODE: legacy or auto; ROWS: as servers/large.py got it. Then, for each line on stdin, a handle that it tries to read; ends with stdin.
"""

import asyncio
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "servers"))
from activating_client import transport_to
from large import text
from mcp.client.client import Client


async def main(mode, count, token, target):
    whole = text(count)
    async with transport_to(token, target) as transport, Client(transport, mode=mode, read_timeout_seconds=120) as client:
        await client.list_tools()
        first, notice = [part.text for part in (await client.call_tool("rows", {})).content]
        handle = re.search(r'"handle": "(\w+)"', notice)[1]

        async def read(**arguments):
            parts = (await client.call_tool("read_result", {"handle": handle, **arguments})).content
            return parts[0].text, parts[-1].text

        utf8, half = whole.encode(), len(whole.encode()) // 2 + 1
        page, note = await read(offset=len(first.encode()))
        middle, _ = await read(offset=half)
        last, end = await read(offset=len(utf8) - 1000)
        lines, _ = await read(lines="1000-1002")
        found, _ = await read(grep=f"row {count - 2} of")
        matched, more = await read(grep="row 12345")
        rows = whole.split("\n")
        at = utf8.find(middle.encode(), half - 4)
        checks = {
            "beginning": whole.startswith(first) and len(first) > 10_000,
            "next page": utf8[len(first.encode()) :].startswith(page.encode()) and f'"offset": {len((first + page).encode())}' in note,
            "middle": half - 3 <= at <= half + 3 and len(middle) > 10_000,
            "end": utf8.endswith(last.encode()) and len(last.encode()) == 1000 and "the end" in end,
            "lines": lines == "\n".join(rows[999:1002]) + "\n",
            "grep": found == f"{count}: {rows[count - 1]}\n",
            "all of them": matched.count("\n") == sum("row 12345" in row for row in rows) and "these are all matches" in more,
        }
        print(json.dumps({"handle": handle, "size": len(utf8), "checks": checks}), flush=True)
        while handle := (await asyncio.to_thread(sys.stdin.readline)).strip():
            print(json.dumps(await read()), flush=True)


asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]))

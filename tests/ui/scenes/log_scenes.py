"""Scenes of logs: of a server that failed, searched, its protocol messages, a line in full, of the hub, and one that is not kept."""

from msgspec.structs import replace
from tests.fakes.desk import Desk, until
from tests.ui.scenes.opened_desk import desk
from tests.ui.scenes.shot import Shot
from tests.ui.seen import control

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.activity import LogLine, LogPage
from tooltray.servers.logs.log_lines import level_behind
from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import TooltrayLog
from tooltray.ui.logs.log_view import LogSheet, LogView
from tooltray.ui.theme import Theme

BEGAN = 1_795_600_000.0
OUTPUT = """\
= starting
INFO  postgres_mcp.server  Starting PostgreSQL MCP server 0.3.0 in restricted mode
DEBUG postgres_mcp.sql.pool  opening pool: min 1, max 5, timeout 30 s
{"level":30,"time":1795600001,"msg":"transport stdio ready"}
= running
INFO  postgres_mcp.server  Processing request of type ListToolsRequest
WARNING postgres_mcp.sql  statement took 4,812 ms: SELECT date_trunc('day', placed_at) AS day, count(*) FROM orders JOIN order_lines USING \
(order_id) WHERE placed_at > now() - interval '90 days' GROUP BY 1 ORDER BY 1 DESC
資料庫連線已建立：主機 127.0.0.1、連接埠 5432、資料庫 訂單
INFO  postgres_mcp.server  Processing request of type CallToolRequest
Traceback (most recent call last):
  File "/home/ann/.cache/uv/archive-v0/psycopg_pool/pool_async.py", line 157, in getconn
    raise PoolTimeout(f"couldn't get a connection after {timeout:.2f} sec")
psycopg_pool.PoolTimeout: couldn't get a connection after 30.00 sec
ERROR postgres_mcp.server  connection refused: 127.0.0.1:5432 (password=***)
= restarting It ended with exit code 1: connection refused. Start PostgreSQL or correct DATABASE_URI
= starting
ERROR postgres_mcp.server  connection refused: 127.0.0.1:5432 (password=***)
= error It ended with exit code 1: connection refused. Start PostgreSQL or correct DATABASE_URI"""


def lines(text: str = OUTPUT) -> list[LogLine]:
    made: list[LogLine] = []
    for number, line in enumerate(text.splitlines()):
        at = BEGAN + number * 0.731
        if line.startswith("= "):
            state, _, why = line[2:].partition(" ")
            made.append(LogLine("", at, state, "error" if state == "error" else "", "mark", why))
        else:
            made.append(LogLine("", at, line, level_behind(line, made[-1].level)))
    return made


def messages() -> list[LogLine]:
    call = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"query","arguments":{"sql":"SELECT count(*) FROM orders"}}}'
    reply = '{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"41,207"}],"isError":false}}'
    refused = '{"jsonrpc":"2.0","id":8,"error":{"code":-32602,"message":"Unknown tool: qurey"}}'
    return [
        LogLine("", BEGAN, "initialize #1", kind="message", direction="out", detail='{"jsonrpc":"2.0","id":1,"method":"initialize"}'),
        LogLine("", BEGAN + 1.2, "initialize #1", kind="message", direction="in", ms=1208.0, detail="{}"),
        LogLine("", BEGAN + 1.3, "notifications/initialized", kind="message", direction="out", detail="{}"),
        LogLine("", BEGAN + 4.0, "tools/call query #7", kind="message", direction="out", detail=call),
        LogLine("", BEGAN + 4.1, "tools/call query #7", kind="message", direction="in", ms=8.4, detail=reply),
        LogLine("", BEGAN + 9.0, "tools/call qurey #8", kind="message", direction="out", detail="{}"),
        LogLine("", BEGAN + 9.1, "tools/call qurey #8", "error", "message", refused, "in", 2.1),
    ]


def records() -> list[LogLine]:
    detail = (
        '{"timestamp":"2026-11-25T14:31:02.120Z","component":"tooltray.app.engine","event":"service_started","pid":4711,"kind":"desktop"}'
    )
    said = (
        ("info", "tooltray: Tooltray started, home /home/ann/.tooltray"),
        ("info", "client 'claude-code': tools/call query"),
        ("info", "client 'claude-code': answered in 12.4 ms"),
        ("warning", "tooltray: 'serena' has ended (attempt 1): exit code 137"),
        ("error", "tooltray: 'postgres' did not start (attempt 3): connection refused"),
    )
    return [LogLine("", BEGAN + at, text, level, "record", detail) for at, (level, text) in enumerate(said)]


async def _sheet(theme: Theme, source: str, log: list[LogLine]) -> tuple[Desk, LogSheet]:
    result = await desk(theme)
    result.engine.logs[source.removeprefix("server:")] = log
    if source == "hub":
        result.window.go(TooltrayLog())
    else:
        result.wishes.log_requested.emit(source.removeprefix("server:"))
    panel = result.window.findChild(LogSheet)
    assert panel is not None
    if log:
        await until(lambda: panel.log.lines)
    return result, panel


async def log(theme: Theme) -> Shot:
    result, _ = await _sheet(theme, "server:postgres", lines())
    return Shot(result)


async def log_small(theme: Theme) -> Shot:
    result, _ = await _sheet(theme, "server:postgres", lines())
    return Shot(result, size=(900, 600))


async def log_tab(theme: Theme) -> Shot:
    result = await desk(theme)
    result.engine.logs["postgres"] = lines()
    view = result.open_server("postgres", "log").view("log")
    assert isinstance(view, LogView)
    await until(lambda: view.lines)
    return Shot(result)


async def log_searched(theme: Theme) -> Shot:
    result, panel = await _sheet(theme, "server:postgres", [line for _ in range(40) for line in lines()])
    panel.log.bar.field.setText("refused")
    await until(lambda: panel.log.search.found and not panel.log.search.is_running)
    panel.log.step(1)
    return Shot(result)


async def log_line(theme: Theme) -> Shot:
    result, panel = await _sheet(theme, "server:postgres", lines())
    result.engine.logs["messages:postgres"] = messages()
    control(panel.log, tr("Messages")).click()
    await until(lambda: len(panel.log.lines) == len(messages()))
    panel.log.list.select_row(4)
    panel.log.details.show_line(panel.log.lines[4])
    return Shot(result)


async def log_messages_off(theme: Theme) -> Shot:
    result, panel = await _sheet(theme, "server:postgres", lines())
    control(panel.log, tr("Messages")).click()
    await until(lambda: not panel.log.lines)
    return Shot(result)


async def log_of_hub(theme: Theme) -> Shot:
    result, _ = await _sheet(theme, "hub", records())
    return Shot(result)


async def log_not_kept(theme: Theme) -> Shot:
    result, panel = await _sheet(theme, "server:postgres", lines())
    full = Problem("The log is not kept on disk", "No space left on device")
    shown = tuple(replace(line, at=0.0) for line in lines() if line.kind != "mark")
    result.engine.logs["postgres"] = LogPage(lines=shown, problem=full, total_bytes=1)
    panel.log.read_newest()
    await until(lambda: panel.log.reader.page is not None and panel.log.reader.page.problem)
    return Shot(result)


SCENES = (log, log_tab, log_small, log_searched, log_line, log_messages_off, log_of_hub, log_not_kept)

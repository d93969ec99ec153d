"""A stdio server made with FastMCP: a tool, one that asks, a resource, a template, a prompt. Runs in FastMCP's own environment."""

from dataclasses import dataclass

from fastmcp import Context, FastMCP

server = FastMCP("fast")


@dataclass
class Name:
    name: str


@server.tool
async def add(a: int, b: int, ctx: Context) -> int:
    await ctx.report_progress(1, 1)
    return a + b


@server.tool
async def ask(ctx: Context) -> str:
    answer = await ctx.elicit("Who is there?", Name)
    return f"{answer.action} {getattr(getattr(answer, 'data', None), 'name', '')}"


@server.resource("fast://fixed")
def fixed() -> str:
    return "a fixed text"


@server.resource("fast://items/{id}")
def item(id: str) -> str:
    return f"item {id}"


@server.prompt
def greet(who: str) -> str:
    return f"Greet {who}."


server.run(transport="stdio", show_banner=False)

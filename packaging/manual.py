"""Manual pages of the two programs, made of the parser.

Reads the tree of commands. The format is that of man(7); dates are those of the source.
"""

import re
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "desktop"))

from tooltray.cli.commands.completion_command import CommandNode, command_tree  # noqa: E402
from tooltray_bridge.cold import PURPOSE, USAGE  # noqa: E402


def tooltray_page(version: str, day: str) -> str:
    """The page tooltray(1): all commands, each with what stands behind it."""
    tree = command_tree()
    lines = [
        f'.TH TOOLTRAY 1 "{day}" "Tooltray {version}" "User Commands"',
        ".SH NAME",
        r"tooltray \- one home for your MCP servers",
        ".SH SYNOPSIS",
        ".B tooltray",
        r"[\fIOPTION\fR]... [\fICOMMAND\fR [\fIARGUMENT\fR]...]",
        ".SH DESCRIPTION",
        escaped(tree.about),
        *options(tree),
        ".SH COMMANDS",
        *(line for node in tree.walk() if node is not tree and not node.commands for line in command(node)),
        ".SH FILES",
        ".TP",
        r"\fI~/.tooltray\fR",
        "Settings, logs and what else Tooltray keeps; another folder with \\fB\\-\\-home\\fR or TOOLTRAY_HOME.",
        ".SH SEE ALSO",
        r"\fBtooltray\-bridge\fR(1)",
    ]
    return "\n".join(lines) + "\n"


def bridge_page(version: str, day: str) -> str:
    """The page tooltray-bridge(1), of the bridge's own words."""
    found = re.findall(r"^  (--[a-z-]+)(?: ([A-Z]+))?\s+(.+)$", USAGE, re.MULTILINE)
    lines = [
        f'.TH TOOLTRAY\\-BRIDGE 1 "{day}" "Tooltray {version}" "User Commands"',
        ".SH NAME",
        r"tooltray\-bridge \- connects an AI client to Tooltray",
        ".SH SYNOPSIS",
        ".B tooltray\\-bridge",
        " ".join(f"[{bold(name)}{f' {italic(value)}' if value else ''}]" for name, value, _ in found),
        ".SH DESCRIPTION",
        escaped(PURPOSE),
        ".SH OPTIONS",
        *(line for name, value, text in found for line in (".TP", f"{bold(name)} {italic(value)}".strip(), escaped(text) + ".")),
        ".SH SEE ALSO",
        r"\fBtooltray\fR(1)",
    ]
    return "\n".join(lines) + "\n"


def command(node: CommandNode) -> list[str]:
    """What is said of one command."""
    arguments = " ".join(italic(each.name) for each in node.arguments)
    lines = [f".SS {bold(node.words.partition(' ')[2])} {arguments}".rstrip(), escaped(node.about)]
    for each in node.arguments:
        if text := each.help or " | ".join(each.choices):
            lines += [".TP", italic(each.name), escaped(text)]
    return [*lines, *options(node, head=False)]


def options(node: CommandNode, *, head: bool = True) -> list[str]:
    lines = [".SH OPTIONS"] if head else []
    for each in node.options:
        if not head and "--help" in each.names:  # of every command; said once
            continue
        names = ", ".join(map(bold, each.names)) + (f" {italic(each.value)}" if each.value else "")
        lines += [".TP", names, escaped(each.help)]
    return lines


def bold(text: str) -> str:
    return rf"\fB{escaped(text)}\fR"


def italic(text: str) -> str:
    return rf"\fI{escaped(text)}\fR" if text else ""


def escaped(text: str) -> str:
    """As man(7) reads it back: hyphens stay hyphens, and no line begins with a request."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("~", r"\(ti").replace("^", r"\(ha").replace("`", r"\(ga")
    return rf"\&{text}" if text.startswith((".", "'")) else text


def write_pages(folder: Path, version: str, epoch: int) -> list[Path]:
    """Writes both pages and returns their paths."""
    day = time.strftime("%Y-%m-%d", time.gmtime(epoch))
    folder.mkdir(parents=True, exist_ok=True)
    pages = [folder / "tooltray.1", folder / "tooltray-bridge.1"]
    for page, text in zip(pages, (tooltray_page(version, day), bridge_page(version, day)), strict=True):
        page.write_text(text)
    return pages

"""The `instructions` that the hub gives an AI client which has all servers together: text for its model.

Above it: Introduction, which knows what a session sees. Below it: nothing. Some clients cut such texts at 2 kB, so what a model cannot do
without stands in front: which servers there are, which of them load on demand, and how the rest is found. What servers say of themselves
comes last, indented, so that a server cannot speak as the hub or as its neighbour.
"""

from collections.abc import Mapping, Sequence

import msgspec

OWN_WORDS_BYTES = 4096  # of UTF-8, for what all servers say of themselves together; a model reads it with each request
MOST_NAMED = 100  # servers; their names alone are another 1 to 2 kB
ELLIPSIS = "…"
INDENT = "  "


class Introduced(msgspec.Struct, frozen=True, kw_only=True):
    """What a session is told.

    Attributes:
        servers: names, in the order in which they are told.
        said: what each says of itself, by name; those that say nothing are left out.
        on_demand: the servers whose tools are listed once they are activated, with the names of the tools that do that.
        find, call: the names of the tools that find and call others; empty where they are not listed.
        is_search: no tools of servers are listed.
        about: the hub's own tools that tell of servers.
    """

    servers: Sequence[str]
    said: Mapping[str, str]
    on_demand: Mapping[str, str]
    find: str = ""
    call: str = ""
    is_search: bool = False
    about: Sequence[str] = ()


def instructions(told: Introduced) -> str:
    """The whole text; the same for the same arguments."""
    lines = ["Tools of several MCP servers, published by Tooltray."]
    if told.servers:
        lines.append(f"Servers: {_listed(told.servers)}.")
    if told.on_demand:
        named = _listed([f"{server} ({tool})" for server, tool in told.on_demand.items()])
        lines.append(
            f"Loaded on demand, by calling the tool in brackets or any of their tools by name: {named}. Their tools are not listed before."
        )
    if told.find:
        what = "The servers' tools are not listed" if told.is_search else "Not all tools are listed"
        lines.append(f"{what}: {told.find} finds them, {told.call} calls them.")
    if told.about:
        lines.append(f"{' and '.join(told.about)} {'tells' if len(told.about) == 1 else 'tell'} what runs.")
    shares = shared_out({server: told.said[server] for server in told.servers if told.said.get(server)})
    blocks = [f"What {server} says of itself:\n{_indented(text)}" for server, text in shares.items()]
    return "\n\n".join(["\n".join(lines), *blocks])


def shared_out(texts: Mapping[str, str], room_bytes: int = OWN_WORDS_BYTES) -> dict[str, str]:
    """Each text, cut to a fair share of the room: what short ones do not need goes to the long ones. Texts of which nothing is left go."""
    sizes = {name: len(_encoded(text)) for name, text in texts.items()}
    left_bytes, shares = room_bytes, {}
    for place, name in enumerate(sorted(sizes, key=lambda name: (sizes[name], name))):
        shares[name] = min(sizes[name], left_bytes // (len(sizes) - place))
        left_bytes -= shares[name]
    return {name: cut for name, text in texts.items() if (cut := shortened(text, shares[name]))}


def shortened(text: str, most_bytes: int) -> str:
    """The beginning of a text, at most so many bytes of UTF-8: up to the end of a line or else of a word, and an ellipsis.

    Text without spaces (Chinese, Japanese) is cut between two characters.
    """
    whole = _encoded(text)
    if len(whole) <= most_bytes:
        return whole.decode()
    kept = whole[: max(0, most_bytes - len(_encoded(ELLIPSIS)))].decode(errors="ignore")
    if not text[len(kept) : len(kept) + 1].isspace():
        end = max(kept.rfind("\n"), kept.rfind(" "))
        kept = kept[:end] if end > len(kept) // 2 else kept  # one long word is better cut than left out
    kept = kept.rstrip()
    return kept + ELLIPSIS if kept else ""


def _encoded(text: str) -> bytes:
    """Halves of surrogate pairs, which no client could read, are question marks."""
    return text.encode("utf-8", "replace")


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _indented(text: str) -> str:
    return "\n".join(f"{INDENT}{line}".rstrip() for line in text.splitlines())

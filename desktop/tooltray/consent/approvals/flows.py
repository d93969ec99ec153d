"""Which tools read what strangers wrote, and which send or publish: tables of words, and what hints say.

Above it: FlowGuard. Below it: catalogue/approval, which takes names apart. Pure. A person can say otherwise for each tool (`flow` in
`toolOverrides`). Names are believed over hints that make a tool look harmless. What counts is whether strangers can have written what is
read, not whether they did; so a tracker or a mailbox counts as a whole.
"""

from typing import NamedTuple

from tooltray.catalogue.approval import Tool, words_of
from tooltray.config.settings.tool_override import ToolOverride

_READS_ANYTHING = "browse browser crawl fetch goto http https navigate scrape url urls web webpage webpages website"
"""It brings pages, whatever else it does."""
_BY_STRANGERS = """
    article articles comment comments conversation conversations discussion discussions email emails feed feeds forum gmail inbox internet
    issue issues mail mails message messages news notification notifications online page pages post posts pr prs pull reddit review reviews
    rss sms thread threads ticket tickets tweet tweets youtube
"""
"""What a tool that reads may bring of others."""
_SENDS = """
    deploy email forward invite mail message notify pay post publish push reply send share sms submit transfer tweet upload webhook
"""
"""It brings something out of the session, if it changes anything at all."""
_CHANGES = "add append assign close comment create edit fill insert merge open patch put review set update write"
_SEEN_BY_OTHERS = """
    article comment comments discussion event gist invoice issue issues listing message order page post pr pull release repo repository
    review reviews thread ticket tweet webhook
"""
"""What others see of it: `create_issue` sends, `create_folder` does not."""
_TYPES_INTO_PAGES = "evaluate fill submit type upload"
READS_ANYTHING, BY_STRANGERS = frozenset(_READS_ANYTHING.split()), frozenset(_BY_STRANGERS.split())
SENDS, CHANGES, SEEN_BY_OTHERS = frozenset(_SENDS.split()), frozenset(_CHANGES.split()), frozenset(_SEEN_BY_OTHERS.split())
TYPES_INTO_PAGES = frozenset(_TYPES_INTO_PAGES.split())
"""How a browser sends."""
BODIES = frozenset(["body", "data", "payload", "form", "json", "content", "postdata", "formdata", "requestbody", "multipart", "files"])
"""Arguments with which a tool that fetches sends something, too."""


class Flow(NamedTuple):
    """Attributes:
    reads: its result may have been written by strangers.
    sends: it sends or publishes.
    fetches: it brings pages; with a body in its arguments it sends, too.
    """

    reads: bool
    sends: bool
    fetches: bool = False


NO_FLOW = Flow(False, False)
_CHOSEN = {"reads": Flow(True, False), "sends": Flow(False, True), "both": Flow(True, True), "none": NO_FLOW}


def flow_of(tool: Tool, override: ToolOverride | None, *, is_remote: bool) -> Flow:
    """What a tool does.

    Args:
        is_remote: its server runs elsewhere, and is reached over HTTP.
    """
    if override and override.flow:
        return _CHOSEN[override.flow]
    words = words_of(tool.name)
    is_open = tool.hints.get("openWorldHint")
    reaches_out = is_open is True or (is_remote and is_open is not False)
    fetches = not words.isdisjoint(READS_ANYTHING)
    if tool.category == "read":
        return Flow(fetches or reaches_out or not words.isdisjoint(BY_STRANGERS), False, fetches)
    changes_what_others_see = not (words.isdisjoint(CHANGES) or words.isdisjoint(SEEN_BY_OTHERS))
    types = fetches and not words.isdisjoint(TYPES_INTO_PAGES)
    sends = not words.isdisjoint(SENDS) or changes_what_others_see or types or (reaches_out and not fetches)
    return Flow(fetches, sends, fetches)

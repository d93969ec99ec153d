"""How one tool is shown to AI clients in place of its own words: an entry of `toolOverrides`.

Everything in it is bounded, because it goes to each AI client with each list of tools. Which calls run without asking follows the server's
own hints: hints in an override can make a tool stricter, never laxer (see catalogue/tool_words.py).
"""

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from tooltray.config.settings.json_kinds import After, Before, Between, Sized
from tooltray.config.settings.json_model import JsonModel
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase

LONGEST_TITLE = 200  # characters; clients show one line
LONGEST_ADDRESS = 2048  # characters of an icon's address
LONGEST_IMAGE = 2**16  # characters of an icon within the settings; 48 kB, a drawing has a tenth
LEAST_TOKENS = 500  # of a result: the note about the cut takes a part of them
MOST_TOKENS = 10_000_000  # more than any model reads
MOST_ICONS, MOST_SIZES = 8, 8
_SRC = lazy_pattern(r"https://[^\s\"<>\\^`{|}]+|data:image/[^\s\"<>\\^`{|}]+", re.ASCII)


def _blank_is_absent(value: object) -> object:
    return None if isinstance(value, str) and not value.strip() else value


def _is_icon(src: str) -> str:
    if not _SRC.fullmatch(src):
        raise ValueError(Phrase("must begin with https:// or data:image/"))
    if len(src) > (LONGEST_IMAGE if src.startswith("data:") else LONGEST_ADDRESS):
        raise ValueError(Phrase("is too long"))
    return src


Given = Annotated[str | None, Before(_blank_is_absent)]
Short = Annotated[str, Sized(most=LONGEST_TITLE)]
Tokens = Annotated[int, Between(least=LEAST_TOKENS, most=MOST_TOKENS)]
Title = Annotated[Short | None, Before(_blank_is_absent)]


class ToolHints(JsonModel):
    """The `annotations` of a tool; a missing one is the server's own."""

    title: Title = None
    read_only_hint: bool | None = None
    destructive_hint: bool | None = None
    idempotent_hint: bool | None = None
    open_world_hint: bool | None = None

    def members(self) -> Mapping[str, object]:
        """Returns the given members, in the protocol's spelling."""
        return _given(self)


class ToolIcon(JsonModel):
    """An icon of a tool.

    Attributes:
        src: its address, or the image itself; programs that show it fetch and run nothing else.
    """

    src: Annotated[str, After(_is_icon)]
    mime_type: Short | None = None
    sizes: Annotated[tuple[Short, ...], Sized(most=MOST_SIZES)] | None = None
    theme: Literal["light", "dark"] | None = None

    def members(self) -> Mapping[str, object]:
        """Returns the given members, in the protocol's spelling."""
        return _given(self)


class ToolOverride(JsonModel):
    """How one tool is shown to AI clients; a missing member is the tool's own.

    Attributes:
        result_limit: tokens of a result that clients get at once, in place of the server's; see gateway/kept_results.
        csv_tables: whether tables in its results are given as CSV, in place of the server's choice.
        flow: for the flow guard: it "reads" what strangers wrote, "sends" or publishes, "both" or "none"; None: by its name and hints.
    """

    name: Given = None
    description: str | None = None
    title: Title = None
    annotations: ToolHints | None = None
    icons: Annotated[tuple[ToolIcon, ...], Sized(most=MOST_ICONS)] | None = None
    result_limit: Tokens | None = None
    csv_tables: bool | None = None
    flow: Literal["reads", "sends", "both", "none"] | None = None


def _given(model: JsonModel) -> Mapping[str, object]:
    """Returns only the known members; others stay in the settings."""
    return model.model_dump(by_alias=True, exclude_none=True, exclude=model.model_extra)

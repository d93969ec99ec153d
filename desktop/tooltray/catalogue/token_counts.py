"""How many tokens a text is for a model. The data of the tokenizer `o200k_base` take 30 MB of memory, so it works in a process of its
own, which ends when it has counted. Every model has its own tokenizer; the counts differ by ten or twenty percent.
"""

import json
import logging
import subprocess
import sys
from collections.abc import Sequence

import msgspec
from msgspec import Raw

from tooltray.foundation.programs import module_command
from tooltray.protocol.envelope import load
from tooltray.protocol.member_scanner import opened

logger = logging.getLogger(__name__)
TOKENIZER = "o200k_base"
ESTIMATE = "estimate"
COUNTED = ("name", "description", "inputSchema")  # the members of a definition that every client sends its model
BYTES_PER_TOKEN = 4.6  # of these in JSON; measured: 4.5 to 4.8 for the servers that are used most, 4 for tools without descriptions
LONGEST_S = 60.0  # 5,000 definitions take about 1 s, most of it the start


def estimated(size_bytes: int) -> int:
    """Estimates the number of tokens from the size of JSON, without reading the text."""
    return round(size_bytes / BYTES_PER_TOKEN)


def roughly(tokens: int) -> str:
    """Returns an estimate as text, rounded up to two digits: it must not look like a count, which the window shows elsewhere."""
    unit = 10 ** max(0, len(str(tokens)) - 2)
    return f"{-(-tokens // unit) * unit:,}"


def counted_size(definition: Raw) -> int:
    """Returns the size in bytes, as JSON without spaces, of the counted members of a definition; 5,000 definitions take about 30 ms.

    Args:
        definition: an object.
    """
    sizes = [len(key) + len('"":,') + _compact_size(value) for key, value in opened(definition).items() if key in COUNTED]
    return sum(sizes) + len("{}") - (1 if sizes else 0)


def _compact_size(value: Raw) -> int:
    try:
        return len(msgspec.json.encode(msgspec.json.decode(value)))
    except (ValueError, RecursionError):  # half a surrogate pair, or nested too deeply
        return len(memoryview(value))


def counted_text(definition: Raw) -> str:
    """Returns the counted text of a definition; the unchanged definition where Python cannot hold it."""
    try:
        members = {key: load(value) for key, value in opened(definition).items() if key in COUNTED}
        return json.dumps(members, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        return bytes(definition).decode("utf-8", "replace")


def counted(texts: Sequence[str]) -> list[int] | None:
    """Returns the number of tokens of each text; None if the process fails. Blocks for about a second.

    Halves of surrogate pairs count as their replacement character.
    """
    if not texts:
        return []
    written = (json.dumps(text.encode("utf-8", "replace").decode()).encode() for text in texts)  # one by one: releases Python's lock
    question = b"[%b]" % b",".join(written)
    command = module_command("tooltray.catalogue.token_counts")
    try:
        done = subprocess.run(command, input=question, capture_output=True, timeout=LONGEST_S, check=True)
        counts: list[int] = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        logger.warning("tokens are estimated, not counted: %s", error)
        return None
    return counts


def main() -> None:
    """Counts the texts of a JSON array on standard input; writes a JSON array of their numbers."""
    from tooltray.catalogue.tokenizer import Tokenizer

    json.dump(Tokenizer().count(json.load(sys.stdin)), sys.stdout)


if __name__ == "__main__":
    main()

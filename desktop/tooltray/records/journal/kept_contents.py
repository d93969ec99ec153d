"""Whole arguments and results, if the user wants them recorded: as JSON, without known secrets, and of bounded size.

Secrets are masked in the values, and not in the text, in which the same value can be spelled in many ways. Only in content that is too
large or not JSON the text itself is masked.
"""

import json

import msgspec
from msgspec import Raw

from tooltray.records.activity.masking import MASKED, Mask

LARGEST_BYTES = 262_144  # of arguments, and of a result; the rest is cut
READ_BELOW_BYTES = 2 * LARGEST_BYTES  # of larger ones the beginning is kept
LONGEST_SECRET_BYTES = 16_384  # a cut must not leave half of one; files of keys are no longer
MOST_DIGITS = 5_000  # of a number


def beginning(raw: Raw) -> Raw:
    """Returns the part of a large content that is read."""
    return Raw(bytes(memoryview(raw)[: LARGEST_BYTES + LONGEST_SECRET_BYTES]))


def masked_json(raw: Raw, mask: Mask) -> tuple[str, bool]:
    """Returns the text to store, and whether it was cut. `raw`: JSON, or only its beginning."""
    if not raw:
        return "", False
    data = bytes(raw)
    try:
        text = json.dumps(_masked(msgspec.json.decode(data), mask), ensure_ascii=False) if mask.is_needed else data.decode()
    except (ValueError, RecursionError):
        text = mask.text(data.decode("utf-8", "replace"), len(data))
    return _cut(text)


def _cut(text: str) -> tuple[str, bool]:
    data = text.encode("utf-8", "replace")
    return (text, False) if len(data) <= LARGEST_BYTES else (data[:LARGEST_BYTES].decode("utf-8", "ignore"), True)


def _masked(value: object, mask: Mask) -> object:
    if isinstance(value, str):
        return mask.text(value, len(value))
    if isinstance(value, dict):
        return {mask.text(key, len(key)): _masked(member, mask) for key, member in value.items()}
    if isinstance(value, list):
        return [_masked(member, mask) for member in value]
    is_secret = isinstance(value, int | float) and mask.text(str(value), MOST_DIGITS) != str(value)
    return MASKED if is_secret else value

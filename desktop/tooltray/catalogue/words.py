"""Splits texts into the words by which they are searched.

Above it: the search for tools. Knows nothing of tools. Words are split where names join them, endings of English words make no difference,
and scripts that put no spaces between words become characters and pairs of them.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

LEAST_STEM = 3  # characters that an ending leaves
WORD = re.compile(r"[^\W_]+")

_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_PART = re.compile(rf"[{_UNSPACED}]+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^A-Za-z\d{_UNSPACED}]+")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")


def without_accents(text: str) -> str:
    """Also in letters of usual width."""
    return "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))


def words_of(text: str) -> Iterator[str]:
    """The words of a text, each as often as it stands there."""
    for joined in WORD.findall(without_accents(text)):
        for part in _PART.findall(joined):
            if _IS_UNSPACED.match(part):
                yield from part
                yield from map("".join, pairwise(part))
            else:
                yield _bare(part.casefold())


def _bare(word: str) -> str:
    """Without the endings of English words, so that "files" finds "file", and "merging" finds "merge"."""
    word = _singular(word)
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= LEAST_STEM:
            return stem[:-1] if stem[-1] == stem[-2] and stem[-1] not in "lsz" else stem
    return word[:-1] if word.endswith("e") and len(word) > LEAST_STEM else word


def _singular(word: str) -> str:
    if len(word) <= LEAST_STEM or not word.endswith("s") or word.endswith("ss"):
        return word
    if word.endswith("ies") and len(word) > LEAST_STEM + 1:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "sses", "xes", "zes")) else word[:-1]

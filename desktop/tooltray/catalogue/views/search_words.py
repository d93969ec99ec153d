"""The words of a text and of a query: joined words in names are split, endings of English words make no difference, and scripts without
spaces between words become characters and pairs of them.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise
from pathlib import Path

from tooltray.foundation.lazy_patterns import lazy_pattern

LEAST_STEM = 3  # characters that an ending leaves
WORD = lazy_pattern(r"[^\W_]+")

_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_PART = lazy_pattern(rf"[{_UNSPACED}]+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^A-Za-z\d{_UNSPACED}]+")
_PROPER_NAME = lazy_pattern(r"[A-Z][a-z]+(?:[A-Z][A-Za-z]*)+")  # of a product, such as GitHub, which is one word elsewhere
_IS_UNSPACED = lazy_pattern(rf"[{_UNSPACED}]")
MAX_WORDS = 32  # words of a query; of a long text only the beginning is searched
MAX_QUERY = 2000  # characters of a query that are read; far more than so many words have
SAID, RELATED = 5, 1  # the weights of a word and of one of much the same meaning
MAX_NEEDS = 4  # of a query
STORY = 12  # words, of which more do not each ask for something
LEAST_NEED = 2  # words
_CUT = lazy_pattern(
    r"(?i)[.;?!。；？！]+(?:\s|$)|,? \b(?:and|then|also|plus|but|by the way|additionally|furthermore|moreover)\b|然後|然后|並且|并且|並|再"
)
_FILE_ENDINGS = "txt|md|pdf|csv|json|xml|ya?ml|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|webp|mp[34]|wav|zip|log|html?|css|parquet"
_LITERALS = (  # what a question says of one thing, and the word for things of its kind
    (lazy_pattern(r"(?i)\b(?:https?://|www\.)\S+"), "url"),
    (lazy_pattern(r"(?<![A-Za-z\d_.+-])[A-Za-z\d_.+-]+@[A-Za-z\d-]+\.[A-Za-z.]+"), "email"),
    (lazy_pattern(rf"(?i)(?<![a-z\d_./\\~-])[a-z\d_./\\~-]+\.(?:{_FILE_ENDINGS})(?![a-z\d])"), "file"),
)
_STOP_WORDS = """
a about again all already also am an and any anything are as at be been by can could currently d do does don else everything for from get
has have how i if in instead into is it its just let like ll m make me my need of on only or our please re s should so some something
somewhere t that the their them there these this those to tool tools use used using ve want was we were what when where which who will
with would yet you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())  # words of a question without meaning in a search; each is in a few descriptions
UNCHANGED = frozenset(
    ["care", "evening", "fare", "mining", "news", "note", "plane", "site", "tape", "theme", "tone", "wine"]
)  # else "news" would find what is new
_FITS_NOWHERE = lazy_pattern(r"(?!)")


def without_accents(text: str) -> str:
    """Removes accents, and replaces full-width and half-width letters by ordinary ones."""
    return "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))


def words_of(text: str) -> Iterator[str]:
    """Yields the words of a text without their endings, each as often as it occurs."""
    for part in _parts(text):
        if _IS_UNSPACED.match(part):
            yield from part
            yield from map("".join, pairwise(part))
        else:
            yield _bare(part)


def whole_words(text: str) -> Iterator[str]:
    """Yields the words of a text that say something, in lower case and with their endings, each as often as it occurs."""
    return (part for part in _parts(text) if part not in STOP_WORDS)


def _parts(text: str) -> Iterator[str]:
    for joined in WORD.findall(without_accents(text)):
        yield from map(str.casefold, _PART.findall(joined))
        if _PROPER_NAME.fullmatch(joined):
            yield joined.casefold()


def _bare(word: str) -> str:
    """Removes the endings of English words, so that "files" finds "file", and "merging" finds "merge"."""
    word = singular(word)
    if word in UNCHANGED:
        return word
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= LEAST_STEM:
            return stem[:-1] if stem[-1] == stem[-2] and stem[-1] not in "lsz" else stem
    return word[:-1] if word.endswith("e") and len(word) > LEAST_STEM else word


def singular(word: str) -> str:
    """Removes the ending of a plural."""
    if len(word) <= LEAST_STEM or not word.endswith("s") or word.endswith("ss") or word in UNCHANGED:
        return word
    if word.endswith("ies") and len(word) > LEAST_STEM + 1:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "sses", "xes", "zes")) else word[:-1]


class QueryWords:
    """The words of a query without stop words, with words of much the same meaning, and English ones for common Chinese and Japanese ones.

    Most tools are described in English. The table is small and general; a word that is not in it is searched for unchanged.
    """

    def __init__(self, related: Mapping[str, str] | None = None, chinese: Mapping[str, str] | None = None) -> None:
        """
        Args:
            related: by words, the words of much the same meaning, separated by spaces.
            chinese: by words in Chinese or Japanese, the English ones that replace them; empty for words without meaning in a search.
        """
        self._related = {bare: tuple(words_of(value)) for words, value in (related or {}).items() for bare in words_of(words)}
        self._whole = {bare: tuple(whole_words(value)) for words, value in (related or {}).items() for bare in words_of(words)}
        self._english = {word: value for words, value in (chinese or {}).items() for word in without_accents(words).split()}
        longest_first = sorted(self._english, key=len, reverse=True)
        self._chinese = lazy_pattern("|".join(map(re.escape, longest_first))) if longest_first else _FITS_NOWHERE

    def needs(self, query: str) -> list[str]:
        """Returns the parts of a query that ask for something each, such as "find the mail" and "save it"; none if it has no word.

        A part with fewer than LEAST_NEED words belongs to the one before it, or else to the one after it; a story has one need.
        """
        if len(self.whole(query)) > STORY:
            return [query]
        needs: list[str] = []
        counts: list[int] = []
        for part in _CUT.split(without_accents(query[:MAX_QUERY]), MAX_NEEDS - 1):
            count = len(self.whole(part))
            if counts and min(count, counts[-1]) < LEAST_NEED:
                needs[-1] += f" {part}"
                counts[-1] += count
            else:
                needs.append(part)
                counts.append(count)
        return needs if len(needs) > 1 or self.of(query) else []

    def of(self, query: str) -> dict[str, tuple[str, ...]]:
        """Returns the words to search for, each with words of much the same meaning; a query of only stop words keeps them."""
        parts = self._parts(query)
        words = [word for part in parts for word in islice(words_of(part), MAX_WORDS)]
        words = words or list(islice(words_of(query[:MAX_QUERY]), MAX_WORDS))
        return {word: self._related.get(word, ()) for word in words}

    def whole(self, query: str) -> list[str]:
        """Returns the words to search for with their endings."""
        return list(islice(whole_words(" ".join(self._parts(query))), MAX_WORDS))

    def meant(self, whole: Sequence[str]) -> dict[str, int]:
        """Returns the weights of words, and of words of much the same meaning, in the meaning of a query."""
        weights = dict.fromkeys((near for word in whole for bare in words_of(word) for near in self._whole.get(bare, ())), RELATED)
        return weights | dict.fromkeys(whole, SAID)

    def _parts(self, query: str) -> tuple[str, str]:
        """Returns the English words for what is Chinese in a query, and the query without stop words."""
        plain = without_accents(query[:MAX_QUERY])
        for literal, kind in _LITERALS:
            plain = literal.sub(kind, plain)
        english = " ".join(self._english[word] for word in self._chinese.findall(plain))
        rest = self._chinese.sub(lambda found: found[0] if self._english[found[0]] else " ", plain)
        return english, " ".join(word for word in WORD.findall(rest) if word.casefold() not in STOP_WORDS)


def read_query_words(path: Path) -> QueryWords:
    """Reads the table that comes with Tooltray.

    Raises:
        OSError, ValueError: the installation is broken.
    """
    table = json.loads(path.read_bytes())
    return QueryWords(table["related"], table["chinese"] | table["japanese"])

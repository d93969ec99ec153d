"""What a question for tools asks for: its words without those that say nothing, words that mean much the same, and the English ones for
common Chinese ones, as most tools are described in English.

Above it: the search for tools. Below it: `resources/search-words.json`. Knows nothing of tools; the table is small and general, and a word
that it does not have is asked for as it is.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from tooltray.catalogue.words import WORD, without_accents, words_of

MAX_WORDS = 32  # of a query; a model that sends a page of text is served by its beginning
MAX_QUERY = 2000  # characters that are looked at; far more than so many words have
_UNSAID = """
a about all am an and any are as at be by can could d do does don for from get has have how i if in into is it its let like ll m make me my
need of on or our please re s should so some something somewhere t that the their them there these this those to tool tools use used using
ve want was we were what when where which who will with would you your
"""
UNSAID = frozenset(_UNSAID.split())  # words of a question that say nothing of what is looked for; each is in a few descriptions
NOTHING = re.compile(r"(?!)")  # fits nowhere


class AskedWords:
    """Does not change."""

    def __init__(self, related: Mapping[str, str] | None = None, chinese: Mapping[str, str] | None = None) -> None:
        """
        Args:
            related: by words, those that mean much the same; each with spaces between.
            chinese: by words, the English ones in their place; none for words that say nothing.
        """
        self._related = {bare: tuple(words_of(value)) for words, value in (related or {}).items() for bare in words_of(words)}
        self._english = {word: value for words, value in (chinese or {}).items() for word in words.split()}
        longest_first = sorted(self._english, key=len, reverse=True)
        self._chinese = re.compile("|".join(map(re.escape, longest_first))) if longest_first else NOTHING

    def of(self, query: str) -> dict[str, tuple[str, ...]]:
        """The words that are asked for, with those that mean much the same as each; all of a query's where none of them says something."""
        plain = without_accents(query[:MAX_QUERY])
        words = list(self._said(plain)) or list(islice(words_of(plain), MAX_WORDS))
        return {word: self._related.get(word, ()) for word in words}

    def _said(self, query: str) -> Iterator[str]:
        english = " ".join(self._english[word] for word in self._chinese.findall(query))
        yield from islice(words_of(english), MAX_WORDS)
        rest = self._chinese.sub(lambda found: found[0] if self._english[found[0]] else " ", query)
        said = " ".join(word for word in WORD.findall(rest) if word.casefold() not in UNSAID)
        yield from islice(words_of(said), MAX_WORDS)


def read_asked_words(path: Path) -> AskedWords:
    """Those that come with Tooltray.

    Raises:
        OSError, ValueError: the installation is broken.
    """
    table = json.loads(path.read_bytes())
    return AskedWords(table["related"], table["chinese"])

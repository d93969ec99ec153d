"""catalogue.py"""

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import Raw
from tests.fakes.modes import has_mode

from tooltray.catalogue.catalogue import Catalogue, CatalogueStore

TOOLS = [b'{"name":"a"}', b'{\n "name": "b", "x": 1e400,\r\n "d": "\\ud800"}', b'{"name":"c","s":' + b"[" * 50_000 + b"]" * 50_000 + b"}"]


@pytest.fixture
def store(tmp_path: Path) -> CatalogueStore:
    return CatalogueStore(tmp_path / "catalogue")


def tools_of(catalogue: Catalogue | None) -> list[bytes]:
    assert catalogue is not None
    return [bytes(tool) for tool in catalogue.definitions]


def only_file(tmp_path: Path) -> Path:
    (path,) = (tmp_path / "catalogue").iterdir()
    return path


def test_definitions_come_back_byte_for_byte(store: CatalogueStore, tmp_path: Path) -> None:
    store.save("fs", "hash", [Raw(tool) for tool in TOOLS])
    found = CatalogueStore(tmp_path / "catalogue").load("fs", "hash")
    assert tools_of(found) == TOOLS
    assert found is not None
    assert (found.server, found.config_hash) == ("fs", "hash")
    assert abs(found.saved_at - only_file(tmp_path).stat().st_mtime) < 60


def test_a_server_without_tools_is_not_the_same_as_one_never_listed(store: CatalogueStore) -> None:
    assert store.load("fs", "hash") is None
    store.save("fs", "hash", [])
    assert tools_of(store.load("fs", "hash")) == []


def test_the_list_of_another_configuration_is_a_miss_and_is_replaced_by_the_next_save(store: CatalogueStore) -> None:
    store.save("fs", "old", TOOLS[:1])
    assert store.load("fs", "new") is None
    assert tools_of(store.load("fs", "old")) == TOOLS[:1]
    store.save("fs", "new", TOOLS[1:])
    assert tools_of(store.load("fs", "new")) == TOOLS[1:]


def test_a_forgotten_server_is_a_miss_and_forgetting_an_unknown_one_does_nothing(store: CatalogueStore) -> None:
    store.save("fs", "hash", TOOLS)
    store.save("git", "hash", TOOLS[:1])
    store.forget("fs")
    store.forget("never saved")
    assert store.load("fs", "hash") is None
    assert tools_of(store.load("git", "hash")) == TOOLS[:1]


def test_lists_of_other_kinds_have_files_of_their_own_and_are_forgotten_with_the_server(store: CatalogueStore, tmp_path: Path) -> None:
    store.save("fs", "hash", TOOLS[:1])
    store.save("fs", "hash", TOOLS[1:], kind="prompts")
    store.save("fs", "hash", [], kind="resources", is_declared=False)
    store.save("fs2", "hash", TOOLS, kind="prompts")
    assert tools_of(store.load("fs", "hash")) == TOOLS[:1]
    assert tools_of(store.load("fs", "hash", kind="prompts")) == TOOLS[1:]
    declared = [store.load("fs", "hash", kind=kind) for kind in ("tools", "prompts", "resources")]
    assert [each and each.is_declared for each in declared] == [True, True, False]
    store.forget("fs")
    assert [store.load("fs", "hash", kind=kind) for kind in ("tools", "prompts", "resources")] == [None] * 3
    assert tools_of(store.load("fs2", "hash", kind="prompts")) == TOOLS


def test_a_list_in_the_place_of_another_kind_is_a_miss_and_costs_the_others_nothing(store: CatalogueStore, tmp_path: Path) -> None:
    store.save("fs", "hash", TOOLS)
    store.save("fs", "hash", TOOLS[:1], kind="prompts")
    [prompts] = [path for path in (tmp_path / "catalogue").iterdir() if "prompts" in path.name]
    prompts.write_bytes(next(path for path in (tmp_path / "catalogue").iterdir() if path != prompts).read_bytes())
    assert store.load("fs", "hash", kind="prompts") is None
    assert not prompts.exists()
    assert tools_of(store.load("fs", "hash")) == TOOLS


def test_a_file_of_the_first_version_can_be_read(store: CatalogueStore, tmp_path: Path) -> None:
    store.save("fs", "hash", TOOLS)
    head = json.loads(only_file(tmp_path).read_bytes().partition(b"\n")[0])
    assert set(head) == {"format", "server", "configHash", "savedAt", "sizes", "digest"}


@pytest.mark.parametrize(
    ("server", "readable"),
    [
        ("a/../../b", "a-b"),
        ("..", "server"),
        ("CON", "server-con"),
        ("lpt1", "server-lpt1"),
        ("工" * 64, "server"),
        ("a b\tc", "a-b-c"),
        ("x" * 64, "x" * 40),
        ("%2f", "2f"),
        ("é", "server"),
        ("-", "server"),
    ],
)
def test_any_name_of_a_server_makes_one_private_file_in_the_folder(
    store: CatalogueStore, tmp_path: Path, server: str, readable: str
) -> None:
    store.save(server, "hash", TOOLS[:1])
    assert tools_of(store.load(server, "hash")) == TOOLS[:1]
    path = only_file(tmp_path)
    assert path.name.rsplit(".", 2)[::2] == [readable, "jsonl"]
    assert has_mode(path, 0o600)
    assert has_mode(path.parent, 0o700)
    assert [entry.name for entry in tmp_path.iterdir()] == ["catalogue"]


def test_servers_whose_names_differ_in_case_or_foreign_letters_alone_have_files_of_their_own(store: CatalogueStore, tmp_path: Path) -> None:
    servers = ["GitHub", "github", "git工hub", "git具hub"]
    for server in servers:
        store.save(server, server, [server.encode()])
    assert [tools_of(store.load(server, server)) for server in servers] == [[server.encode()] for server in servers]
    assert len({path.name.lower() for path in (tmp_path / "catalogue").iterdir()}) == 4


def cut(content: bytes) -> bytes:
    return content[:-20]


def lengthened(content: bytes) -> bytes:
    return content + b"{}\n"


def changed(content: bytes) -> bytes:
    return content.replace(b'"a"', b'"A"')


def with_other_sizes(content: bytes) -> bytes:
    return content.replace(b'"sizes":[12,', b'"sizes":[13,')


def with_negative_sizes(content: bytes) -> bytes:
    return content.replace(b'"sizes":[12,', b'"sizes":[-2,13,')


def of_another_format(content: bytes) -> bytes:
    return content.replace(b"catalogue 1", b"catalogue 2")


def of_another_server(content: bytes) -> bytes:
    return content.replace(b'"server":"fs"', b'"server":"xx"')


def empty(_: bytes) -> bytes:
    return b""


def foreign(_: bytes) -> bytes:
    return b'{"name":"something else"}\n'


def binary(_: bytes) -> bytes:
    return bytes(range(256)) * 10


def deep(_: bytes) -> bytes:
    return b"[" * 100_000 + b"\n"


@pytest.mark.parametrize(
    "damage",
    [cut, lengthened, changed, with_other_sizes, with_negative_sizes, of_another_format, of_another_server, empty, foreign, binary, deep],
)
def test_a_damaged_or_foreign_file_is_a_miss_and_goes(store: CatalogueStore, tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    store.save("fs", "hash", TOOLS)
    path = only_file(tmp_path)
    content = path.read_bytes()
    assert damage(content) != content
    path.write_bytes(damage(content))
    assert store.load("fs", "hash") is None
    assert not path.exists()
    store.save("fs", "hash", TOOLS)
    assert tools_of(store.load("fs", "hash")) == TOOLS


@pytest.mark.expected_warnings("cannot be saved", "cannot be read")
def test_a_disk_that_refuses_costs_the_cache_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = CatalogueStore(tmp_path / "file" / "catalogue")
    store.save("fs", "hash", TOOLS)
    assert store.load("fs", "hash") is None
    store.forget("fs")


def test_threads_that_save_at_once_leave_one_whole_list(store: CatalogueStore) -> None:
    def save(part: int) -> None:
        for _ in range(5):
            store.save("fs", "hash", [TOOLS[part]] * 50)

    threads = [threading.Thread(target=save, args=(part,)) for part in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert tools_of(store.load("fs", "hash")) in [[tool] * 50 for tool in TOOLS]


def test_the_lists_of_a_renamed_server_are_found_under_its_new_name(store: CatalogueStore, tmp_path: Path) -> None:
    store.save("fs", "hash", TOOLS[:1])
    store.save("fs", "hash", TOOLS[1:], kind="prompts")
    store.save("fs2", "hash", TOOLS)
    for _ in range(2):
        store.rename("fs", "new")
        assert tools_of(store.load("new", "hash")) == TOOLS[:1]
        assert tools_of(store.load("new", "hash", kind="prompts")) == TOOLS[1:]
    assert store.load("fs", "hash") is None
    assert len(list((tmp_path / "catalogue").iterdir())) == 3


def test_a_damaged_list_of_a_renamed_server_goes(store: CatalogueStore, tmp_path: Path) -> None:
    store.save("fs", "hash", TOOLS)
    only_file(tmp_path).write_bytes(b"{")
    store.rename("fs", "new")
    assert list((tmp_path / "catalogue").iterdir()) == []

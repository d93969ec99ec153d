"""From what was seen to the tightest profile, and what it would have refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.foundation.snapshots.confinement import Files, SeenThing, WatchProposal
from tooltray.servers.confinement import proposal
from tooltray.servers.confinement.guarded_folders import GuardedFolders, PrivatePlaces
from tooltray.servers.confinement.proposal import (
    FOLDERS_OF_FOLDER,
    MOST_FOLDERS,
    MOST_SHOWN,
    Proposer,
    Watched,
    fewest,
    is_text,
    printable,
    split,
    without_nested,
)


def test_a_report_is_read_as_it_grows_and_a_line_that_is_cut_waits_for_its_end(tmp_path: Path) -> None:
    report = tmp_path / "r"
    seen = Watched(str(report))
    assert not seen.read()
    report.write_text('{"kind":"read","name":"/a"}\n{"kind":"read","na')
    assert seen.read()
    assert not seen.read()
    with report.open("a") as file:
        file.write('me":"/b"}\n{"kind":"read","name":"/b"}\n{"kind":"name","name":"x.org","addresses":["192.0.2.1", 7]}\n')
    assert seen.read()
    assert (seen["read"], seen.addresses, seen.count) == ({"/a", "/b"}, {"x.org": {"192.0.2.1"}}, 3)


def test_what_is_no_fact_is_left_out(tmp_path: Path) -> None:
    report = tmp_path / "r"
    report.write_bytes(
        b'7\n[]\n\xff\n{"kind":"read"}\n{"kind":"odd","name":"/a"}\n{"kind":"read","name":3}\n'
        b'{"kind":"name","name":"a","addresses":7}\n{"kind":"read","name":"\\udcff"}\n' + b"[" * 50_000 + b"\n"
    )
    seen = Watched(str(report))
    assert seen.read()
    assert (seen["read"], seen.addresses) == ({"\udcff"}, {"a": set()})


def test_a_report_that_a_server_has_made_endless_is_not_read_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proposal, "LONGEST_LINE_BYTES", 10)
    report = tmp_path / "r"
    report.write_text("x" * 100)
    seen = Watched(str(report))
    assert not seen.read()
    with report.open("a") as file:
        file.write('\n{"kind":"read","name":"/a"}\n')
    assert not seen.read()


def test_a_path_is_shown_in_one_line() -> None:
    assert printable("/a\nb\udcff") == "/a\\nb\N{REPLACEMENT CHARACTER}"
    assert is_text("/ä b")
    assert not is_text("/a\nb")
    assert not is_text("/\udcff")


def deep(folder: str) -> bool:
    return folder.count("/") >= 2


def test_several_files_of_one_folder_stand_for_it_and_few_for_themselves() -> None:
    assert fewest(["/p/a/1", "/p/a/2", "/p/a/3", "/p/b/1", "/p/b/2", "/q"], deep) == {"/p/a", "/p/b/1", "/p/b/2", "/q"}


def test_what_may_not_be_opened_stays_as_single_files() -> None:
    assert fewest(["/p/1", "/p/2", "/p/3"], deep) == {"/p/1", "/p/2", "/p/3"}


def test_many_folders_side_by_side_stand_for_the_one_above() -> None:
    objects = [f"/p/git/{i}{j}" for i in range(9) for j in ("/x", "/y", "/z")]
    assert fewest(objects, deep) == {"/p/git"}


def test_a_long_list_is_made_shorter_where_it_can() -> None:
    pairs = [f"/p/{i}/{j}/f" for i in range(MOST_FOLDERS) for j in "ab"]
    assert fewest(pairs, deep) == {f"/p/{i}/{j}/f" for i in range(MOST_FOLDERS) for j in "ab"}
    folders = {f"/p/{i}/{j}" for i in range(MOST_FOLDERS) for j in "ab"}
    assert fewest([], deep, folders) == {f"/p/{i}" for i in range(MOST_FOLDERS)} or fewest([], deep, folders) == {"/p"}
    assert fewest([], lambda folder: folder.count("/") >= 3, folders) == {f"/p/{i}/{j}" for i in range(MOST_FOLDERS) for j in "ab"}


def test_what_lies_in_another_is_said_by_that() -> None:
    assert without_nested(["/a/b/c", "/a/b", "/a/bc", "/a/b"]) == {"/a/b", "/a/bc"}


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=5).map(lambda parts: "/" + "/".join(parts))))
def test_everything_is_covered_whatever_there_is(paths: list[str]) -> None:
    found = fewest(paths, deep)
    assert all(any(path == each or path.startswith(each + "/") for each in found) for path in paths)


class Seen:
    """What a server did, in a home with real files."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        self.watched = Watched("")

    def file(self, name: str) -> str:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        return str(path)

    def __call__(self, kind: str, *names: str) -> "Seen":
        self.watched.things.setdefault(kind, set()).update(names)
        return self

    def name(self, name: str, *addresses: str) -> "Seen":
        self.watched.addresses.setdefault(name, set()).update(addresses)
        return self

    @property
    def proposer(self) -> Proposer:
        places = PrivatePlaces(GuardedFolders(str(self.home), str(self.home / ".tooltray")))
        return Proposer(granted=self._granted, places=places)

    def _granted(self, files: Files, path: str, writes: bool) -> bool:
        return path.startswith("/usr/") if not writes else path.startswith("/state/") or (files == "own" and path.startswith("/project/"))

    @property
    def proposed(self) -> WatchProposal:
        return self.proposer.propose(self.watched)


@pytest.fixture
def seen(tmp_path: Path) -> Seen:
    return Seen(tmp_path)


def test_what_the_profile_grants_by_itself_needs_nothing(seen: Seen) -> None:
    seen("read", "/usr/lib/a")("list", "/usr/lib")("write", "/state/x")
    assert seen.proposed == WatchProposal("read", "none")
    assert seen.proposer.shown(seen.watched) == ()
    seen("create", "/venv/lib/__pycache__/a.pyc")
    assert seen.proposed == WatchProposal("read", "none")
    seen("create", "/project/x")
    assert seen.proposed == WatchProposal("own", "none")


def test_files_are_named_as_tight_as_they_can_be(seen: Seen) -> None:
    seen("read", seen.file("one/.gitconfig"), *(seen.file(f"lib/{name}") for name in "abc"))
    seen("write", seen.file("notes/list.txt"))
    seen("create", seen.file("new/a"), str(seen.home / "tmp" / "gone"), seen.file("made/inside/a"), str(seen.home / "made"))
    (seen.home / "tmp").mkdir()
    found = seen.proposed
    assert found.read == ("~/lib", "~/one/.gitconfig")
    assert found.write == ("~/made", "~/new", "~/notes/list.txt", "~/tmp")
    assert found.refused == ()


def test_keys_the_home_and_other_processes_are_never_proposed(seen: Seen) -> None:
    key, env = seen.file(".ssh/id_ed25519"), seen.file("project/.env")
    beside = [seen.file(f"project/{name}") for name in "abc"]
    home = str(seen.home)
    seen("read", key, env, *beside, "/proc/7/environ")("list", home, "/")("create", f"{home}/.config/new")
    seen("write", f"{home}/\udcff/x", f"{home}/gone/a")
    found = seen.proposed
    assert (found.read, found.write) == (("~/project/a", "~/project/b", "~/project/c"), ())
    assert found.refused[:3] == (
        SeenThing("write", "~/.config/new"),
        SeenThing("write", "~/gone/a"),
        SeenThing("write", "~/\N{REPLACEMENT CHARACTER}/x"),
    )
    assert set(found.refused[3:]) == {
        SeenThing("read", "~/.ssh/id_ed25519", True), SeenThing("read", "~/project/.env", True), SeenThing("read", "/proc/7/environ"),
        SeenThing("list", home), SeenThing("list", "/"),
    }  # fmt: skip
    assert found.refused_count == 8


def test_a_folder_that_was_listed_is_needed_as_a_whole(seen: Seen) -> None:
    seen.file("docs/a")
    odd = seen.file("odd\nname/a").removesuffix("/a")
    seen("list", str(seen.home / "docs"), odd)
    assert (seen.proposed.read, seen.proposed.refused) == (("~/docs",), (SeenThing("list", "~/odd\\nname"),))


def test_what_is_read_where_it_writes_opens_nothing_beside(seen: Seen) -> None:
    seen("create", *(seen.file(f"p/out/{name}") for name in "abc"))("read", *(seen.file(f"p/out/{name}") for name in "abc"))
    for number in range(FOLDERS_OF_FOLDER - 1):
        seen("list", seen.file(f"p/{number}/a").removesuffix("/a"))
    assert (seen.proposed.read, seen.proposed.write) == (("~/p/0", "~/p/1", "~/p/2"), ("~/p/out",))


def test_hosts_are_the_names_that_were_looked_up_for_the_connections(seen: Seen) -> None:
    seen("connect", "192.0.2.1:443", "192.0.2.2:8443", "192.0.2.9:80", "[2001:db8::1]:443", "no address")
    seen.name("api.example.org", "192.0.2.1").name("other.example.org", "192.0.2.2").name("never.example.org", "192.0.2.7")
    found = seen.proposed
    assert (found.network, found.hosts) == ("hosts", ("192.0.2.9", "api.example.org", "other.example.org:8443"))
    assert found.refused == (SeenThing("name", "never.example.org"),)


def test_without_an_answer_every_name_that_was_asked_for_may_be_meant(seen: Seen) -> None:
    seen("connect", "192.0.2.1:443").name("api.example.org").name("localhost")
    assert seen.proposed.hosts == ("api.example.org",)


def test_what_a_proxy_cannot_carry_opens_the_network_and_says_why(seen: Seen) -> None:
    seen("connect", "127.0.0.1:5432", "192.0.2.1:443")("dgram", "192.0.2.1:443")("bind", "0.0.0.0:80")
    seen.name("example.org", "192.0.2.1")
    found = seen.proposed
    assert (found.network, found.hosts) == ("open", ())
    assert found.opens_network == (
        SeenThing("dgram", "192.0.2.1:443"), SeenThing("bind", "0.0.0.0:80"), SeenThing("connect", "127.0.0.1:5432"),
    )  # fmt: skip
    assert found.refused == ()


@pytest.mark.parametrize("peer", ["127.0.0.1:80", "0.0.0.0:80", "[::1]:80", "[::]:80"])
def test_this_computer_itself_is_reached_by_no_proxy(seen: Seen, peer: str) -> None:
    assert seen("connect", peer).proposed.network == "open"


def test_a_long_list_is_shown_from_its_beginning(seen: Seen) -> None:
    seen("connect", *(f"127.0.0.1:{number}" for number in range(10_000, 10_000 + MOST_SHOWN + 1)))
    seen("setuid", *(f"/x/{number}" for number in range(10_000, 10_000 + MOST_SHOWN + 1)))
    found = seen.proposed
    assert (len(found.opens_network), len(found.refused), found.refused_count) == (MOST_SHOWN, MOST_SHOWN, MOST_SHOWN + 1)
    assert found.refused[-1] == SeenThing("setuid", f"/x/{10_000 + MOST_SHOWN - 1}")
    assert [thing.kind for thing in seen.proposer.shown(seen.watched)] == ["connect"] * MOST_SHOWN


def test_local_sockets_and_special_rights_are_refused_by_every_profile(seen: Seen) -> None:
    seen("unix", "/run/docker.sock", "/run/nscd/socket")("setuid", "/usr/bin/sudo")("ptrace", "/usr/bin/gdb")
    expected = {SeenThing("unix", "/run/docker.sock"), SeenThing("setuid", "/usr/bin/sudo"), SeenThing("ptrace", "/usr/bin/gdb")}
    assert {*seen.proposed.refused} == {*seen.proposer.shown(seen.watched)} == expected


def test_what_is_shown_is_what_is_more_than_every_program_does(seen: Seen) -> None:
    key = seen.file(".ssh/id_rsa")
    seen("read", key, *(seen.file(f"lib/{name}") for name in "abc"), "/usr/lib/x")("connect", "192.0.2.1:443")("name", "example.org")
    assert seen.proposer.shown(seen.watched) == (
        SeenThing("connect", "192.0.2.1:443"), SeenThing("name", "example.org"),
        SeenThing("read", "~/.ssh/id_rsa", True), SeenThing("read", "~/lib"),
    )  # fmt: skip


def test_a_peer_without_a_port_has_none() -> None:
    assert split("x") == ("", 0)
    assert split("[::1]:80") == ("::1", 80)

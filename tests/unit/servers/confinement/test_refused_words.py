"""refused_words.py: the path in what a server says, in the spellings of its language."""

import pytest

from tooltray.servers.confinement.refused_words import MAX_PATHS, RefusedPath, refused_paths

NODE_FRAMES = "\n    at async open (node:internal/fs/promises:639:25)\n    at /app/server.js:5:10"


@pytest.mark.parametrize(
    ("said", "path", "is_write"),
    [
        ("Error: EACCES: permission denied, open '/home/u/.ssh/id_rsa'" + NODE_FRAMES, "/home/u/.ssh/id_rsa", False),
        ("EPERM: operation not permitted, mkdir '/srv/it's'", "/srv/it's", True),
        ("Error: EROFS: read-only file system, open '/etc/x'", "/etc/x", True),
        ("PermissionError: [Errno 13] Permission denied: '/home/u/My Notes/a.txt'", "/home/u/My Notes/a.txt", False),
        ("OSError: [Errno 30] Read-only file system: '/usr/x'", "/usr/x", True),
        ("2026/11/26 open /home/u/My Docs/x: permission denied", "/home/u/My Docs/x", False),
        ('level=error msg="mkdir /var/lib/x: operation not permitted"', "/var/lib/x", True),
        ("Failed to read /etc/shadow: Permission denied (os error 13)", "/etc/shadow", False),
        ("failed to open file `/etc/app.toml`: Permission denied (os error 13)", "/etc/app.toml", False),
        ("cat: /srv/x: Permission denied", "/srv/x", False),
        ("touch: cannot touch '/srv/new': Permission denied", "/srv/new", True),
        ("bash: line 1: /srv/x: Permission denied", "/srv/x", False),
        ("permission denied while reading /opt/data/db.sqlite.", "/opt/data/db.sqlite", False),
        ("ls: cannot open directory '/srv/../home/v': Permission denied", "/home/v", False),
        ("path=/srv/a EACCES", "/srv/a", False),
    ],
)
def test_the_path_that_was_refused_is_found(said: str, path: str, is_write: bool) -> None:
    assert [(each.path, each.is_write) for each in refused_paths(said) or ()] == [(path, is_write)]


@pytest.mark.parametrize(
    "said",
    [
        *("Permission denied (os error 13)", "EACCES: permission denied, open 'notes.txt'", "spawn EPERM", "open '/': Permission denied"),
        *("open '//x': permission denied", "open '/a\u202eb': permission denied", f"open '/{'x' * 2000}': permission denied"),
    ],
)
def test_words_without_a_path_that_can_be_shown_say_only_that_something_was_refused(said: str) -> None:
    assert refused_paths(said) == []


@pytest.mark.parametrize("said", ["", "ENOENT: no such file, open '/x'", "listening at /run/x", "x" * 20_000 + "EACCES '/x'"])
def test_other_words_say_nothing(said: str) -> None:
    assert refused_paths(said) is None


def test_both_paths_of_a_rename_are_found_and_no_more_than_some() -> None:
    assert refused_paths("EACCES: permission denied, rename '/a' -> '/b'") == [RefusedPath("/a", True), RefusedPath("/b", True)]
    many = "\n".join(f"EACCES: permission denied, open '/x/{number}'" for number in range(20))
    assert len(refused_paths(many) or []) == MAX_PATHS


def test_where_a_path_may_be_cut_by_a_space_that_is_said() -> None:
    said = ["Permission denied: '/a b'", "open /a b: permission denied", "EACCES /a b"]
    assert [refused_paths(each) for each in said] == [[RefusedPath("/a b")], [RefusedPath("/a b")], [RefusedPath("/a", is_whole=False)]]


def test_a_line_of_slashes_costs_nothing() -> None:
    assert refused_paths("EACCES permission denied " + "/a: " * 4000) is not None

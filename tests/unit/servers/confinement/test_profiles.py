"""profiles.py: what a person chose, as paths."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tooltray.config.settings.confinement import Confinement
from tooltray.servers.confinement.guarded_folders import GuardedFolders
from tooltray.servers.confinement.launch_line import lasting
from tooltray.servers.confinement.profiles import (
    Profile,
    Subject,
    editable_sources,
    hoisted_modules,
    package_of,
    paths_among,
    preparing_policy,
    profile_of,
    program_paths,
    state_folder,
)


def test_modules_are_found_in_each_folder_above_and_not_within_each_other(tmp_path: Path) -> None:
    for folder in ("a/node_modules/b/node_modules", "node_modules"):
        (tmp_path / folder).mkdir(parents=True)
    found = list(hoisted_modules(str(tmp_path / "a/node_modules/b/index.js")))
    assert found[:3] == [str(tmp_path / each) for each in ("a/node_modules/b/node_modules", "a/node_modules", "node_modules")]


class Environment:
    """A virtual environment with one package, which says that its sources are in a folder."""

    def __init__(self, folder: Path) -> None:
        self.root, self.source = folder / "env", folder / "my notes"
        self.site = self.root / "lib/python3.12/site-packages"
        self.note = self.site / "my_notes-1.0.dist-info/direct_url.json"
        self.note.parent.mkdir(parents=True)
        self.source.mkdir()
        self.calls_itself('[project]\nname = "My.Notes"')
        self.says({"url": self.source.as_uri(), "dir_info": {"editable": True}})

    def calls_itself(self, text: str) -> None:
        (self.source / "pyproject.toml").write_text(text)

    def says(self, note: object) -> None:
        self.note.write_text(json.dumps(note))

    @property
    def sources(self) -> list[str]:
        return list(editable_sources(str(self.root), ()))


@pytest.mark.parametrize("text", ['[project]\nname = "My.Notes"', '[tool.poetry]\nname = "my-notes"'])
def test_the_project_of_an_editable_install_is_found_by_its_name(tmp_path: Path, text: str) -> None:
    environment = Environment(tmp_path)
    environment.calls_itself(text)
    assert environment.sources == [str(environment.source)]


@pytest.mark.parametrize("text", ['[project]\nname = "other"', "[project]\nname = 1", "tool = 1", "no toml", ""])
def test_a_folder_that_is_no_project_of_that_name_does_not_count(tmp_path: Path, text: str) -> None:
    environment = Environment(tmp_path)
    environment.calls_itself(text)
    assert environment.sources == []
    (environment.source / "pyproject.toml").unlink()
    assert environment.sources == []


def test_only_a_note_of_an_editable_install_counts(tmp_path: Path) -> None:
    environment = Environment(tmp_path)
    url = environment.source.as_uri()
    for note in ({"url": url, "dir_info": {}}, {"url": url}, [], {"url": "https://example.org", "dir_info": {"editable": True}}):
        environment.says(note)
        assert environment.sources == []
    environment.note.unlink()
    environment.note.mkdir()
    assert environment.sources == []


def test_a_note_that_the_server_may_write_does_not_count(tmp_path: Path) -> None:
    environment = Environment(tmp_path)
    assert list(editable_sources(str(environment.root), [str(environment.site)])) == []


class World:
    """A home with a project, notes, a package, keys and Tooltray's own folder."""

    def __init__(self, tmp_path: Path) -> None:
        self.home = tmp_path / "me"
        for folder in ("shop/.venv", "notes", "docs", ".ssh", "pkg/dist", ".tooltray/bundles/b"):
            (self.home / folder).mkdir(parents=True)
        for file in ("pkg/package.json", "pkg/dist/index.js", "data.db", ".tooltray/bundles/b/server.js", ".ssh/run.js"):
            (self.home / file).touch()
        self.state = state_folder(self.home / ".tooltray/confined", "s")
        self.state.root.parent.mkdir()
        self.state.prepare()

    def profile(self, chosen: Any, *args: str, cwd: str = "", **fields: Any) -> Profile:
        return profile_of(self.subject(*args, cwd=cwd, **fields), Confinement.model_validate(chosen))

    def subject(self, *args: str, cwd: str = "", project: str = "", proxy_port: int = 0) -> Subject:
        return Subject(
            program="/usr/bin/node",
            args=[each.format(home=self.home) for each in args],
            env={"PATH": "/usr/bin"},
            cwd=str(self.home / cwd) if cwd else str(self.state.work),
            state=self.state,
            guarded=GuardedFolders(str(self.home), str(self.home / ".tooltray")),
            bundles=str(self.home / ".tooltray/bundles"),
            project=project,
            proxy_port=proxy_port,
        )

    def own(self, profile: Profile) -> tuple[set[str], set[str]]:
        """What is readable, and what is writable, below the home, beside what every server has there."""
        always = {*self.state.written, str(self.state.packages)}
        read, write = (
            {path.removeprefix(f"{self.home}/") for path in paths if path.startswith(f"{self.home}/") and path not in always}
            for paths in (profile.policy.read, profile.policy.write)
        )
        return read, write


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path.resolve())


def test_own_files_are_the_system_the_program_its_own_folder_and_limits(world: World) -> None:
    policy = world.profile("own").policy
    assert policy.write == world.state.written
    assert (policy.network, policy.private_tmp) == ("all", str(world.state.tmp))
    assert policy.file_bytes
    assert policy.processes
    assert str(world.state.packages) in policy.read
    assert "/dev/tty" not in (*policy.read, *policy.write)
    assert str(world.state.root) not in policy.write


@pytest.mark.parametrize(
    ("chosen", "read", "write"),
    [
        ("own", {"pkg"}, {"notes", "data.db", "shop"}),
        ("read", {"pkg", "notes", "data.db", "shop"}, set()),
    ],
)
def test_what_is_given_is_changed_under_own_and_read_under_read(world: World, chosen: str, read: set[str], write: set[str]) -> None:
    profile = world.profile(
        chosen, "{home}/pkg/dist/index.js", "~/notes", "--db={home}/data.db", "/usr/share", project=f"{world.home}/shop"
    )
    assert world.own(profile) == (read, write)
    assert profile.left_out == ()


def test_folders_that_the_entry_names_and_its_own_count(world: World) -> None:
    chosen = {"files": "own", "read": ["~/docs"], "write": ["~/notes"], "network": "none"}
    profile = world.profile(chosen, cwd="shop")
    assert world.own(profile) == ({"docs"}, {"notes", "shop"})
    assert profile.policy.network == "none"


def test_a_folder_of_the_system_is_not_changed_and_one_in_opt_may_be_a_project(world: World) -> None:
    profile = world.profile("own", "/usr", project="/opt/shop")
    assert "/usr" not in profile.policy.write
    assert "/opt/shop" in profile.policy.write


def test_where_a_link_in_a_folder_that_it_may_write_leads_the_server_has_chosen_itself(world: World) -> None:
    (world.home / "private/bin").mkdir(parents=True)
    (world.home / "private/package.json").touch()
    for name in ("bin/tool", "secret.js", "secret.txt"):
        (world.home / "private" / name).touch(0o755)
    shop = world.home / "shop"
    (shop / ".venv/bin").mkdir()
    (shop / ".venv/bin/python").symlink_to(world.home / "private/bin/tool")
    (shop / "run.js").symlink_to(world.home / "private/secret.js")
    (shop / "data").symlink_to(world.home / "private")
    subject = world.subject(f"{shop}/run.js", f"{shop}/data", cwd="shop")
    profile = profile_of(msgspec.structs.replace(subject, program=str(shop / ".venv/bin/python")), Confinement(files="own"))
    assert not any("private" in path for path in (*profile.policy.read, *profile.policy.write))
    read, write = lasting(profile.policy, subject.program)
    assert not any("private" in path for path in (*read, *write))
    assert str(shop) in write
    (shop / "code").symlink_to(world.home / "pkg")
    assert str(world.home / "pkg") in world.profile("own", f"{shop}/code", "{home}/pkg/dist/index.js", cwd="shop").policy.read


def test_a_bundle_is_read_and_not_changed(world: World) -> None:
    profile = world.profile("own", "{home}/.tooltray/bundles/b/server.js", cwd=".tooltray/bundles/b")
    assert world.own(profile) == ({".tooltray/bundles/b"}, set())


def test_guarded_folders_are_left_out_and_said(world: World) -> None:
    profile = world.profile({"read": ["~/.ssh"], "write": ["~"]}, "/", "{home}", "{home}/.ssh/run.js", cwd=".")
    assert world.own(profile) == (set(), set())
    assert "/" not in (*profile.policy.read, *profile.policy.write)
    assert [str(each).partition(":")[0] for each in profile.left_out] == [
        "It does not get ~/.ssh",
        "It does not get ~",
        f"It does not get {world.home}",
        "It does not get /",
    ]


def test_all_files_with_a_kept_network_are_the_root(world: World) -> None:
    policy = world.profile({"hosts": ["a"]}, proxy_port=7).policy
    assert (policy.read, policy.write, policy.network, policy.proxy_port) == (("/",), ("/",), "proxy", 7)
    assert world.profile({"hosts": ["a"]}).policy.network == "none"


def test_an_installation_gets_the_network_and_nothing_of_what_the_server_may_see(world: World) -> None:
    policy = preparing_policy(world.subject("{home}/notes", cwd="shop"), "/new")
    assert (policy.network, policy.write) == ("all", ("/new",))
    assert not any(path.startswith(str(world.home)) for path in policy.read)


def test_code_of_a_workspace_reads_the_packages_beside_it_and_a_program_its_editable_sources(world: World) -> None:
    for folder in (
        "shelf/node_modules",
        "shelf/packages/one",
        "env/bin",
        "env/lib/python3.12/site-packages/notes-1.dist-info",
        "notes-src",
    ):
        (world.home / folder).mkdir(parents=True)
    for file in ("shelf/packages/one/package.json", "shelf/packages/one/index.js", "env/pyvenv.cfg", "env/bin/notes"):
        (world.home / file).touch()
    (world.home / "notes-src/pyproject.toml").write_text('project = { name = "notes" }')
    note = {"url": (world.home / "notes-src").as_uri(), "dir_info": {"editable": True}}
    (world.home / "env/lib/python3.12/site-packages/notes-1.dist-info/direct_url.json").write_text(json.dumps(note))
    read, _ = world.own(world.profile("own", "{home}/shelf/packages/one/index.js"))
    assert read == {"shelf/packages/one", "shelf/node_modules"}
    subject = msgspec.structs.replace(world.subject(), program=str(world.home / "env/bin/notes"))
    read, _ = world.own(profile_of(subject, Confinement(files="own")))
    assert read == {"env", "env/bin/notes", "notes-src"}


def program(path: Path, text: str = "\x7fELF") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def guarded_in(tmp_path: Path) -> GuardedFolders:
    home = tmp_path / "me"
    home.mkdir(exist_ok=True)
    return GuardedFolders(str(home), str(home / ".tooltray"))


def found(guarded: GuardedFolders, path: Path, **env: str) -> set[str]:
    return program_paths(str(path), env={"PATH": "/nowhere", **env}, cwd="/", guarded=guarded)


def test_each_link_of_a_chain_counts_and_installations_as_a_whole(tmp_path: Path) -> None:
    guarded = guarded_in(tmp_path)
    home = Path(guarded.home)
    python = program(home / ".pyenv/versions/3.12/bin/python3.12")
    (home / ".pyenv/versions/3.12/lib/python3.12").mkdir(parents=True)
    venv = home / "venvs" / "x"
    script = program(venv / "bin" / "x", f"#!{venv}/bin/python\n")
    (venv / "pyvenv.cfg").touch()
    (venv / "bin" / "python").symlink_to(python)
    (home / ".local/bin").mkdir(parents=True)
    (home / ".local/bin/x").symlink_to(script)
    (home / ".local/lib/python3.12").mkdir(parents=True)
    assert found(guarded, home / ".local/bin/x") == {
        str(path)
        for path in (
            *(home / ".local/bin/x", home / ".local/lib/python3.12", script, venv, venv / "bin/python"),
            *(python, home / ".pyenv/versions/3.12"),
        )
    }


def test_a_launcher_brings_what_it_starts_and_env_is_looked_through(tmp_path: Path) -> None:
    guarded = guarded_in(tmp_path)
    node = tmp_path / "node-22"
    program(node / "bin/node")
    (node / "lib/node_modules/npm/bin").mkdir(parents=True)
    (node / "lib/node_modules/npm/package.json").touch()
    program(node / "lib/node_modules/npm/bin/npx-cli.js", "#!/usr/bin/env -S node --no-warnings\n")
    (node / "bin/npx").symlink_to("../lib/node_modules/npm/bin/npx-cli.js")
    paths = found(guarded, node / "bin/npx", PATH=str(node / "bin"))
    assert {str(node / "bin/node"), str(node), str(node / "lib/node_modules/npm")} <= paths


def test_an_environment_that_the_server_may_write_leads_to_runtimes_and_to_nothing_else(tmp_path: Path) -> None:
    guarded = guarded_in(tmp_path)
    home = Path(guarded.home)
    python = program(home / ".pyenv/versions/3.12/bin/python3.12")
    (home / ".pyenv/versions/3.12/lib/python3.12").mkdir(parents=True)
    other = program(home / "other/bin/python")
    (home / "other/package.json").touch()
    shop = home / "shop"
    (shop / "bin").mkdir(parents=True)
    for name, target in (("python", python), ("evil", other)):
        (shop / "bin" / name).symlink_to(target)
    program(shop / "script", f"#!{other}\n")
    env, own = {"PATH": "/nowhere"}, [str(shop)]
    good, *bad = (
        program_paths(str(shop / name), env=env, cwd="/", guarded=guarded, changeable=own) for name in ("bin/python", "bin/evil", "script")
    )
    assert str(home / ".pyenv/versions/3.12") in good
    assert not any("other" in path for paths in bad for path in paths)


def test_a_program_in_the_home_brings_no_home(tmp_path: Path) -> None:
    guarded = guarded_in(tmp_path)
    home = Path(guarded.home)
    (home / "package.json").touch()
    tool = program(home / "bin/tool")
    loop = home / "loop"
    loop.symlink_to(loop)
    assert found(guarded, tool) == {str(tool)}
    assert found(guarded, program(home / "srv/server")) == {str(home / "srv/server")}
    assert found(guarded, program(home / "odd/bin/server")) == {str(home / "odd/bin/server")}
    assert found(guarded, loop) == {str(loop)}


def test_code_brings_the_package_that_it_belongs_to_and_alone_itself(tmp_path: Path) -> None:
    guarded = guarded_in(tmp_path)
    package = Path(guarded.home) / "servers/notes"
    (package / "dist").mkdir(parents=True)
    (package / "package.json").touch()
    assert package_of(str(package / "dist/index.js"), guarded) == str(package)
    assert package_of(f"{guarded.home}/server.py", guarded) == f"{guarded.home}/server.py"
    assert package_of(f"{package}/node_modules/a/node_modules/b/x.js", guarded) == f"{package}/node_modules"


def test_arguments_that_are_paths_are_found_where_they_are_there(tmp_path: Path) -> None:
    guarded = guarded_in(tmp_path)
    notes = Path(guarded.home) / "notes"
    notes.mkdir()
    args = ["-y", "server", "~/notes", f"--root={notes}", "notes", "/not/there", "/a\0b", "x=y"]
    assert list(paths_among(args, guarded)) == [str(notes), str(notes)]

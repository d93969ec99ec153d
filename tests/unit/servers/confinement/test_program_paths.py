"""program_paths.py: where a program lies with what it needs of its own."""

from pathlib import Path

from tooltray.servers.confinement.guarded_folders import GuardedFolders
from tooltray.servers.confinement.profiles import package_of, paths_among, program_paths


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

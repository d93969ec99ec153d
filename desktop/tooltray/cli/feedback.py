"""`tooltray feedback ...`: the reports of models that wait for a person, where no window shows them.

Above it: run. Below it: the running hub; without one nothing waits, and the history is read from its files. Reports are written by models:
all of them goes through the terminal's cleaning.
"""

import argparse
import base64
import contextlib
import mimetypes
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tooltray.cli.terminal import clean, clean_line, count, print_json, print_table
from tooltray.control.control_client import ControlClient
from tooltray.errors import TooltrayError
from tooltray.feedback.feedback_attachments import LIMITS, MOST_FILE_BYTES, MOST_PICTURE_BYTES
from tooltray.feedback.feedback_history import FeedbackHistory, as_lost
from tooltray.feedback.feedbacks import SEE_REPORTS
from tooltray.feedback.kept_answers import ANSWER_KEPT_S
from tooltray.feedback.picture_headers import read_picture
from tooltray.home.home import Home
from tooltray.phrases import as_json

NOTHING_WAITS = "No report waits for an answer."
LONGEST_FIRST_LINE = 80  # characters of a summary in a list


def list_reports(args: argparse.Namespace, home: Home) -> int:
    waiting = _waiting(home)
    if args.json:
        print_json(waiting)
    elif waiting:
        rows = [(each["id"], _day(each["asked_at"]), _client(each), _project(each), _first_line(each)) for each in waiting]
        print_table(("ID", "SINCE", "CLIENT", "PROJECT", "REPORT"), rows)
        print(f"Answer with: tooltray feedback answer {waiting[0]['id']} 'TEXT'")
    else:
        print(NOTHING_WAITS)
    return 0


def show(args: argparse.Namespace, home: Home) -> int:
    """One report, whole, with its answer if it has one."""
    reports = [*_waiting(home), *_history(home, "")]
    found = next((each for each in reports if each["id"] == args.id), None)
    if found is None:
        raise TooltrayError(f"There is no report '{args.id}'", hint=SEE_REPORTS)
    if args.json:
        print_json(found)
        return 0
    print(f"{clean_line(found['client'])} · {clean_line(_project(found))} · {_day(found['asked_at'])}\n\n{clean(found['summary'])}")
    if outcome := found.get("outcome", ""):
        print(f"\n[{clean_line(outcome)}] {clean(found['text'])}".rstrip())
    for name in found.get("attachments", ()):
        print(f"[attached: {clean_line(name)}]")
    return 0


def answer(args: argparse.Namespace, home: Home) -> int:
    attachments = [*map(_picture, args.image), *map(_file, args.file)]
    with _hub(home) as hub:
        left = next((each for each in hub.call("get_feedback_requests") if each["id"] == args.id and not _is_there(each)), None)
        hub.call("answer_feedback", id=args.id, text=args.text or "", attachments=attachments)
    kept_until = time.time() + ANSWER_KEPT_S if left else None
    if args.json:
        print_json({"id": args.id, "answered": True, "attachments": len(attachments), "kept_until": kept_until})
        return 0
    print("Answered" + (f" with {count(len(attachments), 'attachment')}." if attachments else "."))
    if left and kept_until:
        until = time.strftime("%H:%M", time.localtime(kept_until))
        print(f"{clean_line(left['client'])} does not wait for it now: the answer is kept for when it asks again, until {until}.")
    return 0


def dismiss(args: argparse.Namespace, home: Home) -> int:
    with _hub(home) as hub:
        hub.call("dismiss_feedback", id=args.id)
    if args.json:
        print_json({"id": args.id, "dismissed": True})
    else:
        print("Put away; the model is told that there is no answer.")
    return 0


def history(args: argparse.Namespace, home: Home) -> int:
    project = str(Path(args.project).absolute()) if args.project else ""
    entries = _history(home, project)[: args.lines]
    if args.json:
        print_json(entries)
    elif entries:
        rows = [(each["id"], _day(each["asked_at"]), _project(each), each["outcome"], _first_line(each)) for each in entries]
        print_table(("ID", "WHEN", "PROJECT", "OUTCOME", "REPORT"), rows)
    else:
        print("No model has reported yet.")
    return 0


# the hub, or the files


def _waiting(home: Home) -> list[dict[str, Any]]:
    hub = ControlClient.connect(home)
    if hub is None:
        return []
    with contextlib.closing(hub):
        waiting: list[dict[str, Any]] = hub.call("get_feedback_requests")
    return waiting


def _history(home: Home, project: str) -> list[dict[str, Any]]:
    hub = ControlClient.connect(home)
    if hub is None:
        return [as_json(entry) for entry in as_lost(FeedbackHistory(home.feedback).read(project))]
    with contextlib.closing(hub):
        entries: list[dict[str, Any]] = hub.call("get_feedback_history", project_path=project, limit=1000)
    return entries


@contextlib.contextmanager
def _hub(home: Home) -> Iterator[ControlClient]:
    hub = ControlClient.connect(home)
    if hub is None:
        raise TooltrayError("No hub is running", "so no model waits for an answer", "See what was: tooltray feedback history")
    with contextlib.closing(hub):
        yield hub


# attachments


def _picture(name: str) -> dict[str, str]:
    path = Path(name).absolute()
    data = _read(path, MOST_PICTURE_BYTES)
    if data is None:
        raise TooltrayError(f"'{path.name}' cannot be sent", f"it has more than {MOST_PICTURE_BYTES / 2**20:g} MiB", f"{LIMITS}.")
    picture = read_picture(data)
    if picture is None:
        raise TooltrayError(f"'{path.name}' cannot be sent", "it is no PNG, JPEG, GIF or WebP", "Send it as a file: --file")
    return _attachment(path, picture.mime_type, data)


def _file(name: str) -> dict[str, str]:
    """Its content, or where it is if that is too large for a model to read at once."""
    path = Path(name).absolute()
    mime_type = mimetypes.guess_type(path.name)[0] or ""
    data = _read(path, MOST_FILE_BYTES)
    if data is None:
        return {"name": path.name, "mime_type": mime_type, "path": str(path)}
    return _attachment(path, mime_type, data)


def _attachment(path: Path, mime_type: str, data: bytes) -> dict[str, str]:
    return {"name": path.name, "mime_type": mime_type, "data": base64.b64encode(data).decode()}


def _read(path: Path, most: int) -> bytes | None:
    """None if it is larger."""
    try:
        if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():  # reading from a pipe or a device may never end
            raise TooltrayError("A file cannot be read", f"{path}: it is no regular file", "Check its name")
        with path.open("rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError) as error:  # the second: a name that no file can have
        raise TooltrayError("A file cannot be read", f"{path}: {getattr(error, 'strerror', None) or error}", "Check its name") from None
    return data if len(data) <= most else None


# words


def _is_there(report: dict[str, Any]) -> bool:
    return bool(report.get("is_client_there", True))  # a hub that was started before an update does not say it


def _client(report: dict[str, Any]) -> str:
    return str(report["client"]) + ("" if _is_there(report) else " (does not wait now)")


def _project(report: dict[str, Any]) -> str:
    return report["project_name"] or report["project_path"] or "-"


def _first_line(report: dict[str, Any]) -> str:
    line = clean_line(report["summary"].partition("\n")[0])
    return line if len(line) <= LONGEST_FIRST_LINE else line[: LONGEST_FIRST_LINE - 1] + "…"


def _day(moment: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))

"""`tooltray feedback ...`: the reports of models that wait for the user, for use without a window.

Without a hub nothing waits, and the history is read from its files. Models write the reports: all of their text goes through `clean`.
"""

import argparse
import base64
import mimetypes
import stat
import time
from pathlib import Path

from tooltray.cli import values
from tooltray.cli.arguments import Usage, command
from tooltray.cli.hubs import RunningHub, running_hub
from tooltray.cli.speech import tr
from tooltray.cli.terminal import answer as answer_with
from tooltray.cli.terminal import answer_list, clean, clean_line, count, day, print_json
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.questions import FeedbackAttachment, FeedbackEntry, FeedbackSnapshot
from tooltray.gateway.feedback.feedback_attachments import LIMITS, MOST_FILE_BYTES, MOST_PICTURE_BYTES, read_picture
from tooltray.gateway.feedback.feedback_history import FeedbackHistory, as_lost
from tooltray.gateway.feedback.feedback_report import ANSWER_KEPT_S
from tooltray.gateway.feedback.feedbacks import REPORTS_HINT

NOTHING_WAITS = Phrase("No report waits for an answer.")
LONGEST_FIRST_LINE = 80  # characters of a summary in a list


Report = FeedbackSnapshot | FeedbackEntry
FEEDBACK_LINES = 20


def declare(parser: Usage) -> None:
    feedback = parser.subcommands()
    command(feedback, "list", tr("list the reports that wait for an answer"), list_reports)
    command(feedback, "show", tr("show one report in full"), show).takes("id")
    reply = command(feedback, "answer", tr("answer a report"), answer)
    reply.takes("id", "ID", tr("its ID from `feedback list`"))
    reply.takes("text", "TEXT", tr("your answer to the model"), nargs="?")
    reply.repeats("--image", "FILE", tr("a picture to attach: PNG, JPEG, GIF or WebP"))
    reply.repeats("--file", "FILE", tr("a file to attach; for a large one, only its path is sent"))
    command(feedback, "dismiss", tr("dismiss a report without an answer"), dismiss).takes("id")
    past = command(feedback, "history", tr("list earlier reports and their answers"), history)
    past.takes("--project", "DIR", tr("only of this project"))
    past.takes("--lines", "LINES", tr("default: {value}", value=FEEDBACK_LINES), short="-n", type=values.line_count, default=FEEDBACK_LINES)


def list_reports(args: argparse.Namespace, home: Home) -> int:
    waiting = _waiting(home)
    answer_list(args, waiting, (tr("ID"), tr("SINCE"), tr("CLIENT"), tr("PROJECT"), tr("REPORT")), _waiting_row, empty=NOTHING_WAITS)
    if waiting and not args.json:
        print(tr("Answer with: tooltray feedback answer {id} 'TEXT'", id=waiting[0].id))
    return 0


def show(args: argparse.Namespace, home: Home) -> int:
    """Shows one whole report, with its answer if it has one."""
    reports: list[Report] = [*_waiting(home), *_history(home, "")]
    found = next((each for each in reports if each.id == args.id), None)
    if found is None:
        raise TooltrayError(tr("Report '{id}' not found", id=args.id), hint=REPORTS_HINT)
    if args.json:
        print_json(found)
        return 0
    print(f"{clean_line(found.client)} · {clean_line(_project(found))} · {day(found.asked_at)}\n\n{clean(found.summary)}")
    if isinstance(found, FeedbackEntry):
        print(f"\n[{clean_line(found.outcome)}] {clean(found.text)}".rstrip())
        for name in found.attachments:
            print(tr("[attached: {name}]", name=clean_line(name)))
    return 0


def answer(args: argparse.Namespace, home: Home) -> int:
    attachments = [*map(_picture, args.image), *map(_file, args.file)]
    with _hub(home) as hub:
        waiting = hub.ask(hub.api.feedback.get_feedback_requests())
        left = next((each for each in waiting if each.id == args.id and not each.is_client_there), None)
        hub.ask(hub.api.feedback.answer_feedback(id=args.id, text=args.text or "", attachments=attachments))
    kept_until = time.time() + ANSWER_KEPT_S if left else None
    lines = ["Answered" + (tr(" with {count}.", count=count(len(attachments), "attachment")) if attachments else ".")]
    if left and kept_until:
        until = time.strftime("%H:%M", time.localtime(kept_until))
        text = tr(
            "{client} does not wait for it now: the answer is kept for when it asks again, until {until}.",
            client=clean_line(left.client),
            until=until,
        )
        lines.append(text)
    done = {"id": args.id, "answered": True, "attachments": len(attachments), "kept_until": kept_until}
    return answer_with(args, done, *lines)


def dismiss(args: argparse.Namespace, home: Home) -> int:
    with _hub(home) as hub:
        hub.ask(hub.api.feedback.dismiss_feedback(id=args.id))
    return answer_with(args, {"id": args.id, "dismissed": True}, tr("Dismissed; the model learns that you gave no answer."))


def history(args: argparse.Namespace, home: Home) -> int:
    project = str(Path(args.project).absolute()) if args.project else ""
    entries = _history(home, project)[: args.lines]
    titles = (tr("ID"), tr("WHEN"), tr("PROJECT"), tr("OUTCOME"), tr("REPORT"))
    return answer_list(args, entries, titles, _history_row, empty=tr("No model has reported yet."))


# the hub, or the files


def _waiting(home: Home) -> list[FeedbackSnapshot]:
    hub = running_hub(home)
    if hub is None:
        return []
    with hub:
        return hub.ask(hub.api.feedback.get_feedback_requests())


def _history(home: Home, project: str) -> list[FeedbackEntry]:
    hub = running_hub(home)
    if hub is None:
        return as_lost(FeedbackHistory(home.feedback).read(project))
    with hub:
        return hub.ask(hub.api.feedback.get_feedback_history(project_path=project, limit=1000))


def _hub(home: Home) -> RunningHub:
    hub = running_hub(home)
    if hub is None:
        raise TooltrayError(
            tr("Tooltray is not running"), tr("so no model waits for an answer"), tr("See the history: tooltray feedback history")
        )
    return hub


# attachments


def _picture(name: str) -> FeedbackAttachment:
    path = Path(name).absolute()
    data = _read(path, MOST_PICTURE_BYTES)
    if data is None:
        raise TooltrayError(
            tr("'{name}' cannot be sent", name=path.name),
            tr("it has more than {most_picture_bytes} MiB", most_picture_bytes=f"{MOST_PICTURE_BYTES / 2**20:g}"),
            f"{LIMITS}.",
        )
    picture = read_picture(data)
    if picture is None:
        raise TooltrayError(
            tr("'{name}' cannot be sent", name=path.name), tr("it is not a PNG, JPEG, GIF or WebP"), tr("Send it as a file: --file")
        )
    return _attachment(path, picture.mime_type, data)


def _file(name: str) -> FeedbackAttachment:
    """Attaches a file's content, or its path if it is too large for a model to read at once."""
    path = Path(name).absolute()
    mime_type = mimetypes.guess_type(path.name)[0] or ""
    data = _read(path, MOST_FILE_BYTES)
    if data is None:
        return FeedbackAttachment(path.name, mime_type, path=str(path))
    return _attachment(path, mime_type, data)


def _attachment(path: Path, mime_type: str, data: bytes) -> FeedbackAttachment:
    return FeedbackAttachment(path.name, mime_type, base64.b64encode(data).decode())


def _read(path: Path, most: int) -> bytes | None:
    """Returns the content of a file; None if it is larger."""
    try:
        if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():  # reading from a pipe or a device may never end
            raise TooltrayError(tr("A file cannot be read"), tr("{path}: it is not a regular file", path=path), tr("Check its name"))
        with path.open("rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        raise TooltrayError(
            tr("A file cannot be read"), f"{path}: {getattr(error, 'strerror', None) or error}", tr("Check its name")
        ) from None
    return data if len(data) <= most else None


# words


def _waiting_row(report: FeedbackSnapshot) -> tuple[str, ...]:
    client = report.client + ("" if report.is_client_there else tr(" (does not wait now)"))
    return report.id, day(report.asked_at), client, _project(report), _first_line(report)


def _history_row(entry: FeedbackEntry) -> tuple[str, ...]:
    return entry.id, day(entry.asked_at), _project(entry), entry.outcome, _first_line(entry)


def _project(report: Report) -> str:
    return report.project_name or report.project_path or "-"


def _first_line(report: Report) -> str:
    line = clean_line(report.summary.partition("\n")[0])
    return line if len(line) <= LONGEST_FIRST_LINE else line[: LONGEST_FIRST_LINE - 1] + "…"

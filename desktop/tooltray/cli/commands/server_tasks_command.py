"""`tooltray tasks list|cancel`: tasks that servers carry out while AI clients do something else."""

import argparse
import time

from tooltray.cli.hubs import started_hub
from tooltray.cli.parsers import Usage, command
from tooltray.cli.speech import say, tr
from tooltray.cli.terminal import answer, answer_list, clean_line
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.server_tasks import ServerTaskSnapshot

STATES = {
    "working": Phrase("working"),
    "input_required": Phrase("waits for an answer"),
    "completed": Phrase("completed"),
    "failed": Phrase("failed"),
    "cancelled": Phrase("cancelled"),
}


def declare(parser: Usage) -> None:
    tasks = parser.subcommands()
    command(tasks, "list", tr("list the tasks that servers have begun for AI clients"), list_tasks)
    cancelled = command(tasks, "cancel", tr("tell a server that nobody wants a task any more"), cancel)
    cancelled.add_argument("id", metavar="ID", help=tr("as `tooltray tasks list` names it"))


def list_tasks(args: argparse.Namespace, home: Home) -> int:
    with started_hub(home) as hub:
        tasks = hub.ask(hub.api.server_tasks.get_server_tasks())
    titles = (tr("ID"), tr("SERVER"), tr("TOOL"), tr("CLIENT"), tr("STATE"), tr("SINCE"))
    return answer_list(args, tasks, titles, _row, empty=tr("No server has a task of an AI client."))


def cancel(args: argparse.Namespace, home: Home) -> int:
    with started_hub(home) as hub:
        hub.ask(hub.api.server_tasks.cancel_server_task(id=args.id))
    return answer(
        args, {"id": args.id, "cancelled": True}, tr("The server has heard that nobody wants {id} any more.", id=clean_line(args.id))
    )


def _row(task: ServerTaskSnapshot) -> list[str]:
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(task.created_at))
    return [task.id, task.server, task.tool, task.client or "-", say(STATES.get(task.status, task.status)), since]

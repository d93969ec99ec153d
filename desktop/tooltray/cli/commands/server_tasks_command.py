"""`tooltray tasks list|cancel`: tasks that servers carry out while AI clients do something else."""

from tooltray.cli.derived_commands import VerbCommands, done, table
from tooltray.cli.parsers import Usage
from tooltray.cli.speech import say, tr
from tooltray.cli.terminal import moment
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.tools import ServerTaskSnapshot

STATES = {
    "working": Phrase("working"),
    "input_required": Phrase("waits for an answer"),
    "completed": Phrase("completed"),
    "failed": Phrase("failed"),
    "cancelled": Phrase("cancelled"),
}


def declare(parser: Usage) -> None:
    tasks = VerbCommands(parser.subcommands())
    titles = (tr("ID"), tr("SERVER"), tr("TOOL"), tr("CLIENT"), tr("STATE"), tr("SINCE"))
    listed = table(titles, _row, tr("No server has a task of an AI client."))
    tasks.add("list", tr("list the tasks that servers have begun for AI clients"), "get_server_tasks", listed)
    cancelled = done(lambda args, _: tr("The server has heard that nobody wants {id} any more.", id=args.id), "id", cancelled=True)
    text = tr("tell a server that nobody wants a task any more")
    tasks.add("cancel", text, "cancel_server_task", cancelled, id=tr("as `tooltray tasks list` names it"))


def _row(task: ServerTaskSnapshot) -> list[str]:
    state = say(STATES.get(task.status, task.status))
    return [task.id, task.server, task.tool, task.client or "-", state, moment(task.created_at)]

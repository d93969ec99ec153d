"""The options of `tooltray tasks`."""

from tooltray.cli.options.parsers import Commands, command, group
from tooltray.cli.speech import tr


def declare_tasks(commands: Commands) -> None:
    tasks = group(commands, "tasks", tr("list what servers do for AI clients meanwhile, and end it"))
    command(tasks, "list", tr("list the tasks that servers have begun for AI clients"), "server_tasks_command:list_tasks")
    cancelled = command(tasks, "cancel", tr("tell a server that nobody wants a task any more"), "server_tasks_command:cancel")
    cancelled.add_argument("id", metavar="ID", help=tr("as `tooltray tasks list` names it"))

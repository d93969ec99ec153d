"""What can be typed behind `tooltray projects`.

Above it: arguments. Knows the names of the functions that carry it out, not the functions.
"""

from tooltray.cli.options.usage import Commands, command, group


def declare(commands: Commands) -> None:
    projects = group(commands, "projects", "choose which folders may be projects, and start servers for them")
    command(projects, "list", "list the folders that are allowed, and what runs for which project", "projects:list_projects")
    allow = command(projects, "allow", "let servers be started for a folder, and for what is in it", "projects:allow")
    allow.add_argument("dir", metavar="DIR")
    command(projects, "disallow", "take that back", "projects:disallow").add_argument("dir", metavar="DIR")
    start = command(projects, "start", "start a server that waits for a project", "projects:start")
    start.add_argument("name", metavar="SERVER")
    which = start.add_mutually_exclusive_group(required=True)
    which.add_argument("dir", metavar="DIR", nargs="?", help="for this folder, which is allowed thereby")
    which.add_argument("--anyway", action="store_true", help="without a project, as its settings say")
    command(projects, "reset", "stop what runs for projects; those servers wait again", "projects:reset")

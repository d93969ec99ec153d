"""The options of `tooltray secrets`, `feedback`, `bridge`, `autostart`, `doctor`, `export`, `import`, `uninstall` and similar commands."""

import argparse

from tooltray.cli.options import values
from tooltray.cli.options.parsers import Commands, Usage, command, group
from tooltray.cli.speech import tr

FEEDBACK_LINES = 20


def declare_secrets(commands: Commands) -> None:
    secrets = group(commands, "secrets", tr("keep API keys and passwords out of the settings"))
    setting = command(
        secrets, "set", tr("store a secret; its value is asked for, or read from standard input"), "secrets_command:set_secret"
    )
    setting.add_argument("name", metavar="NAME", help=tr("as settings refer to it: ${secret:NAME}"))
    command(secrets, "list", tr("list the names of the secrets, never their values"), "secrets_command:list_secrets")
    removing = command(secrets, "remove", tr("forget a secret"), "secrets_command:remove", check=check_secrets)
    removing.add_argument("name", nargs="?", metavar="NAME")
    removing.add_argument("--unused", action="store_true", help=tr("all that no server uses; they are shown first"))
    removing.add_argument("--yes", action="store_true", help=tr("with --unused: do not ask"))
    command(secrets, "unlock", tr("give the running hub the passphrase of the encrypted file"), "secrets_command:unlock")
    backend = command(secrets, "backend", tr("show or choose where secrets are kept"), "secrets_command:backend")
    backend.add_argument(
        "kind",
        nargs="?",
        choices=("keyring", "file", "memory"),
        help=tr("the system's keyring, an encrypted file, or only until the hub ends"),
    )


def check_secrets(usage: Usage, args: argparse.Namespace) -> None:
    if (args.name is None) != args.unused:
        usage.error(tr("give the NAME of a secret, or --unused"))
    if args.yes and not args.unused:
        usage.error(tr("--yes goes with --unused"))


def declare_feedback(commands: Commands) -> None:
    feedback = group(commands, "feedback", tr("answer the reports of models, where no window shows them"))
    command(feedback, "list", tr("list the reports that wait for an answer"), "feedback_command:list_reports")
    command(feedback, "show", tr("show one report whole"), "feedback_command:show").add_argument("id", metavar="ID")
    answer = command(feedback, "answer", tr("answer a report"), "feedback_command:answer")
    answer.add_argument("id", metavar="ID", help=tr("as `feedback list` shows it"))
    answer.add_argument("text", metavar="TEXT", nargs="?", help=tr("what the model is to know"))
    answer.add_argument("--image", metavar="FILE", action="append", default=[], help=tr("a picture to go with it: PNG, JPEG, GIF or WebP"))
    answer.add_argument("--file", metavar="FILE", action="append", default=[], help=tr("a file to go with it; of a large one the path"))
    command(feedback, "dismiss", tr("put a report away without an answer"), "feedback_command:dismiss").add_argument("id", metavar="ID")
    history = command(feedback, "history", tr("list earlier reports and how they ended"), "feedback_command:history")
    history.add_argument("--project", metavar="DIR", help=tr("of this project alone"))
    history.add_argument(
        "-n", "--lines", metavar="LINES", type=values.line_count, default=FEEDBACK_LINES, help=tr("default: {value}", value=FEEDBACK_LINES)
    )


def declare_bridge(commands: Commands) -> None:
    bridge = group(commands, "bridge", tr("the program that AI clients start"))
    command(bridge, "show", tr("show its path, and which installation of Tooltray it starts"), "bridge_command:show")
    command(bridge, "use", tr("make it start this installation"), "bridge_command:use")


def declare_autostart(commands: Commands) -> None:
    autostart = group(commands, "autostart", tr("start in the tray when you log in"))
    command(autostart, "on", tr("start when you log in"), "autostart_command:on")
    command(autostart, "off", tr("do not start when you log in"), "autostart_command:off")
    command(autostart, "status", tr("say whether it starts when you log in"), "autostart_command:status")


def declare_doctor(commands: Commands) -> None:
    doctor = command(commands, "doctor", tr("say what is wrong, and what to do about it"), "doctor_command:doctor", check=check_doctor)
    doctor.add_argument("server", nargs="?", metavar="SERVER", help=tr("look at this server only"))
    doctor.add_argument(
        "--forget-environment", action="store_true", help=tr("forget certificates, proxies and package indexes remembered of your terminal")
    )
    doctor.add_argument("--fix", metavar="NUMBER", type=values.number, help=tr("with SERVER: carry out what was offered under this number"))


def declare_program(commands: Commands) -> None:
    command(commands, "diagnostics", tr("print what a bug report needs, without secrets"), "program_command:diagnostics")
    command(commands, "licences", tr("print the licences of Tooltray and of what comes with it"), "program_command:licences")


def check_doctor(usage: Usage, args: argparse.Namespace) -> None:
    if args.fix is not None and args.server is None:
        usage.error(tr("--fix goes with SERVER"))
    if args.forget_environment and args.server is not None:
        usage.error(tr("--forget-environment goes without SERVER"))


def declare_setup(commands: Commands) -> None:
    export = command(commands, "export", tr("write servers and settings to a file, without secrets"), "setup_command:export")
    export.add_argument("file", nargs="?", metavar="FILE", help=tr("where to (default, and '-': standard output)"))
    export.add_argument("--force", action="store_true", help=tr("replace a file that is there already"))
    text = tr("take over the servers of AI clients, of a file or of a text, or a backup")
    taking = command(commands, "import", text, "import_command:take_in", check=check_import)
    text = tr("ids of AI clients, as `clients scan` lists them; or one file, '-' for standard input; nothing: all AI clients")
    taking.add_argument("sources", nargs="*", metavar="CLIENT|FILE", help=text)
    taking.add_argument(
        "--all", action="store_true", help=tr("all servers but those of projects and those that are off; do not ask one by one")
    )
    taking.add_argument("--dry-run", action="store_true", help=tr("say what there is to import, and change nothing"))
    taking.add_argument("--keep", action="store_true", help=tr("leave imported servers in the files of their clients, too"))
    taking.add_argument(
        "--replace", action="store_true", help=tr("of a backup: replace servers of the same names, which are kept otherwise")
    )
    taking.add_argument("--yes", action="store_true", help=tr("do not ask; of AI clients that is `--all`"))
    leaving = command(
        commands, "uninstall", tr("take away what Tooltray keeps on this machine, each thing after a yes"), "uninstall_command:uninstall"
    )
    leaving.add_argument("--yes", action="store_true", help=tr("do not ask"))


def check_import(usage: Usage, args: argparse.Namespace) -> None:
    if len(args.sources) > 1 and any(values.is_path(source) for source in args.sources):
        usage.error(tr("give AI clients, or one file"))
    if args.replace and not (args.sources and values.is_path(args.sources[0])):
        usage.error(tr("--replace goes with a backup"))


def declare_completion(commands: Commands) -> None:
    text = tr("print what a shell needs to complete these commands")
    shells = command(commands, "completion", text, "completion_command:completion", has_json=False)
    shells.add_argument("shell", choices=("bash", "zsh", "fish"))

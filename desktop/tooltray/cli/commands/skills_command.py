"""`tooltray skills list|show|enable|disable`: the skills of servers, as AI clients with support for skills see them."""

from argparse import Namespace

from tooltray.cli.derived_commands import Fixed, VerbCommands, done, table
from tooltray.cli.parsers import Usage
from tooltray.cli.speech import tr
from tooltray.cli.terminal import clean
from tooltray.foundation.snapshots.tools import SkillSnapshot

LIST_TIMEOUT_S = 60.0  # servers that were never listed are waited for


def declare(parser: Usage) -> None:
    skills = VerbCommands(parser.subcommands(), timeout_s=LIST_TIMEOUT_S)
    titles = (tr("NAME"), tr("SERVER"), tr("STATE"), tr("URI"), tr("DESCRIPTION"))
    text, listed = tr("list the skills, also those that are off or held"), table(titles, _row, tr("There are no skills."))
    skills.add("list", text, "get_skills", listed, server={"metavar": "NAME", "help": tr("of this server only")})
    text, shown = tr("print the text of a skill as its server has it now"), done(lambda _, skill: clean(str(skill.get("text", ""))))
    skills.add("show", text, "get_skill", shown, skill=tr("its name, or its URI as `skills list` shows it"))
    named = tr("its name, or its URI as its server has it")
    enabled = done(_offered, "server", "skill", enabled=True)
    skills.add("enable", tr("offer a skill to AI clients"), "set_skill_enabled", enabled, skill=named, enabled=Fixed(True))
    disabled = done(_off, "server", "skill", enabled=False)
    skills.add("disable", tr("offer it no longer"), "set_skill_enabled", disabled, skill=named, enabled=Fixed(False))


def _row(skill: SkillSnapshot) -> list[str]:
    state = tr("off") if not skill.is_enabled else tr("held") if skill.is_held else tr("offered")
    return [skill.name, skill.server, state, skill.uri, skill.description]


def _offered(args: Namespace, _: object) -> str:
    return tr("{skill} of {server} is offered.", skill=args.skill, server=args.server)


def _off(args: Namespace, _: object) -> str:
    return tr("{skill} of {server} is off.", skill=args.skill, server=args.server)

"""`tooltray skills list|show|enable|disable`: the skills of servers, as AI clients with support for skills see them."""

import argparse

from tooltray.cli.hubs import started_hub
from tooltray.cli.parsers import Usage, command
from tooltray.cli.speech import tr
from tooltray.cli.terminal import answer, answer_list, clean, clean_line, print_json
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.skills import SkillSnapshot

LIST_TIMEOUT_S = 60.0  # servers that were never listed are waited for


def declare(parser: Usage) -> None:
    skills = parser.subcommands()
    command(skills, "list", tr("list the skills, also those that are off or held"), list_skills).add_argument(
        "--server", metavar="NAME", help=tr("of this server only")
    )
    command(skills, "show", tr("print the text of a skill as its server has it now"), show).add_argument(
        "skill", metavar="SKILL", help=tr("its name, or its URI as `skills list` shows it")
    )
    for name, words in (("enable", tr("offer a skill to AI clients")), ("disable", tr("offer it no longer"))):
        switch = command(skills, name, words, f"skills_command:{name}")
        switch.add_argument("server", metavar="SERVER")
        switch.add_argument("skill", metavar="SKILL", help=tr("its name, or its URI as its server has it"))


def list_skills(args: argparse.Namespace, home: Home) -> int:
    with started_hub(home) as hub:
        skills = hub.ask(hub.api.skills.get_skills(server=args.server), timeout_s=LIST_TIMEOUT_S)
    titles = (tr("NAME"), tr("SERVER"), tr("STATE"), tr("URI"), tr("DESCRIPTION"))
    return answer_list(args, skills, titles, _row, empty=tr("There are no skills."))


def _row(skill: SkillSnapshot) -> list[str]:
    state = tr("off") if not skill.is_enabled else tr("held") if skill.is_held else tr("offered")
    return [skill.name, skill.server, state, skill.uri, skill.description]


def show(args: argparse.Namespace, home: Home) -> int:
    """Prints the text of a skill; with --json also its whole entry."""
    with started_hub(home) as hub:
        skill = hub.ask(hub.api.skills.get_skill(skill=args.skill), timeout_s=LIST_TIMEOUT_S)
    if args.json:
        print_json(skill)
    else:
        print(clean(str(skill.get("text", ""))))
    return 0


def enable(args: argparse.Namespace, home: Home) -> int:
    return _switch(args, home, on=True)


def disable(args: argparse.Namespace, home: Home) -> int:
    return _switch(args, home, on=False)


def _switch(args: argparse.Namespace, home: Home, *, on: bool) -> int:
    with started_hub(home) as hub:
        switching = hub.api.skills.set_skill_enabled(server=args.server, skill=args.skill, enabled=on)
        hub.ask(switching, timeout_s=LIST_TIMEOUT_S)
    skill, server = clean_line(args.skill), clean_line(args.server)
    is_on = tr("{skill} of {server} is offered.", skill=skill, server=server)
    said = is_on if on else tr("{skill} of {server} is off.", skill=skill, server=server)
    return answer(args, {"server": args.server, "skill": args.skill, "enabled": on}, said)

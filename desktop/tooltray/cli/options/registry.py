"""What can be typed behind `tooltray registry`.

Above it: arguments. Knows the names of the functions that carry it out, not the functions.
"""

from tooltray.cli.options.usage import Commands, command, group


def declare(commands: Commands) -> None:
    registry = group(commands, "registry", "choose where npm packages of servers come from")
    command(registry, "status", "say which npm registry servers get, and how all of them answered", "registry:status")
    command(registry, "measure", "measure all npm registries now", "registry:measure")
    setting = command(registry, "set", "use one npm registry from now on; it is measured first", "registry:set_registry")
    setting.add_argument("url", metavar="URL")
    command(registry, "clear", "use none of your own any more", "registry:clear")
    auto = command(registry, "auto", "decide whether the fastest npm registry is looked for and used", "registry:auto")
    auto.add_argument("switch", choices=("on", "off"))

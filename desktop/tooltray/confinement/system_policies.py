"""Stand-in."""

import os
from collections.abc import Mapping

from tooltray.confinement.policy import Policy
from tooltray.launch.command_lookup import look_up
from tooltray.launch.program_launch import Launch
from tooltray.settings.confinement import Files


def system_policies(server: str, launch: Launch) -> Mapping[Files, Policy]:
    program = os.path.realpath(look_up(launch.command, env=launch.env, cwd=launch.cwd).resolved or "/usr")
    own = Policy(read=("/usr", "/lib", "/lib64", "/bin", "/etc", "/opt", "/proc", "/sys", os.path.dirname(os.path.dirname(program))))
    return {"own": own, "read": own}

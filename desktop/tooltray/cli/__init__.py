"""The command line: `commands` and `server_commands` have a module for each group of commands; the modules here are shared.

Nothing here imports Qt or `ui`, and the module of a group is imported only when a command line names it: `tooltray status` costs little
more than the interpreter's own start.

Begin with `run`; `hubs` has the running hub, the files without one, or a hub that is started, as each command's module chooses.
"""

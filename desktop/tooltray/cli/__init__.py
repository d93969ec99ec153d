"""The command line: `options` has what can be typed, `commands` what each command does; the modules here are shared.

Nothing here imports Qt or `ui`, and each command imports what it needs only when it runs: `tooltray status` costs little more than the
interpreter's own start.
"""

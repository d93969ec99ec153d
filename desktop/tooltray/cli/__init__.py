"""The command line: `options` has what can be typed, `commands` what each does; here stands what they share.

Above it: `tooltray.__main__`. Below it: a hub, reached over the control channel, or its API where none runs. Never imports Qt or `ui`,
and each command imports what it needs only when it runs: `tooltray status` costs little more than the interpreter's own start.
"""

"""The commands: a module for each group of them. Its `declare` adds them to the parser, each with the function that runs it.

Begin with `projects_command`, a short group.
"""

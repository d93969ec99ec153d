"""The commands' options: a module for each group of commands, named like the module that runs it, and their building blocks."""

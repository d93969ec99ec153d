"""The verbs that a window, a command or a program may call. Begin with `parts`."""

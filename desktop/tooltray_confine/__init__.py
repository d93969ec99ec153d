"""The launcher of confined servers: it takes rights from itself, and then becomes the server. Linux; macOS has `sandbox-exec` for it.

A package of its own, like the bridge: the standard library alone, nothing of tooltray, and as little of it as can be, because each start of
a server waits for it. `tooltray/servers/confinement/launch_line.py` writes its command line.

| module | what |
|---|---|
| `__main__` | the script that is started |
| `launcher` | from options to the program, step by step |
| `options` | the words of its command line |
| `kernel` | system calls |
| `landlock` | which files, which TCP ports, no signals: rules that the kernel keeps for this process and all that it starts |
| `seccomp_rules` | which system calls are refused, and with which arguments: what Landlock lets through |
| `seccomp_program` | instructions for the kernel, made of such rules |
| `syscall_numbers` | the numbers of system calls on the processors that are known |
| `capabilities` | what root may do besides, given up |
| `connects` | connections to the hub's proxy, and to no other host |

What it cannot do although it was told to ends it with exit code 126 and one line on stderr, before the program is started.
"""

"""The launcher of confined servers: it drops its own rights, and then becomes the server. Linux; macOS has `sandbox-exec` for that.

A package of its own, like the bridge: only the standard library, nothing of tooltray, and as little code as possible, because each start of
a server waits for it. `tooltray/servers/confinement/launch_line.py` writes its command line.

| module | what |
|---|---|
| `__main__` | the script that is started |
| `launcher` | from options to the program, step by step |
| `options` | the words of its command line |
| `kernel` | system calls |
| `landlock` | which files, which TCP ports, no signals: rules that the kernel keeps for this process and all that it starts |
| `seccomp_rules` | which system calls are refused, and with which arguments: those that Landlock does not restrict |
| `seccomp_program` | instructions for the kernel, made of such rules |
| `syscall_numbers` | the numbers of system calls on the known processors |
| `capabilities` | gives up the capabilities of root |
| `connects` | connections to the hub's proxy, and to no other host |

If it cannot apply one of its options, it ends with exit code 126 and one line on stderr, before the program is started.
"""

"""How a server is reached: transports, child processes, and the environment they get.

Above it: the presenter's managers. Below it: wire and config. Knows nothing of tool names, AI clients or the screen.
"""

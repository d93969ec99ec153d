"""The sockets where the hub of a home accepts commands.

Versions before the control socket (until November 2026) had one socket for bridges and commands. A hub of such a version may still run when
a command of this version connects, and vice versa. Both then use the socket of bridges:

- a command finds no control socket, or one that a killed hub has left, and connects to the socket of bridges;
- the hub serves the role `control` there too (carriers/mcp/doors.py).
"""

from pathlib import Path

from tooltray.foundation.home.home import Home


def control_endpoints(home: Home) -> tuple[Path, ...]:
    """Returns the sockets to try, in this order; the first one with a listener is the hub's."""
    return home.control_socket, home.socket

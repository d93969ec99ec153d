"""Ports for tests that have to know the number before something listens there."""

import socket


def free_port() -> int:
    """A port of 127.0.0.1 at which a listener may open, and which nobody gets by chance.

    A connection that has just ended there keeps the system from giving it away for a minute (TIME_WAIT); who asks for it by number gets it.
    """
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
        with socket.create_connection(("127.0.0.1", port)) as caller:
            answering, _ = listener.accept()
            answering.close()  # who closes first is who waits
            caller.recv(1)
    return port

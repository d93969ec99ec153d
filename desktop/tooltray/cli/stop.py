"""`tooltray stop`: ends the running hub.

Above it: run. Below it: the control channel.
"""

import argparse

from tooltray.cli.terminal import print_json
from tooltray.control.control_client import ControlClient
from tooltray.home.home import Home


def stop(args: argparse.Namespace, home: Home) -> int:
    """Ends it and waits until it is gone; that none runs is what was wanted."""
    client = ControlClient.connect(home)
    if client is None:
        if args.json:
            print_json({"stopped": False, "reason": "not running"})
        else:
            print(f"Tooltray is not running ({home.root}).")
        return 0
    with client:
        pid = client.stop()
    if args.json:
        print_json({"stopped": True, "pid": pid})
    else:
        print(f"Tooltray has stopped (pid {pid}).")
    return 0

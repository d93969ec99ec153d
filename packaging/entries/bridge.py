"""What PyInstaller makes the program `tooltray-bridge` of."""

import sys

if sys.stdout is None:  # a program for Windows without a console; what is meant for a person has nowhere to go
    sys.stdout = sys.stderr = open("nul", "w")  # noqa: SIM115 - for as long as the process lives

from tooltray_bridge.hot import main

sys.exit(main(sys.argv[1:]))

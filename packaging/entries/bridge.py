"""What PyInstaller makes the program `tooltray-bridge` of."""

import sys

from tooltray_bridge.hot import main

sys.exit(main(sys.argv[1:]))

"""What PyInstaller makes the program `tooltray-confine` of: the launcher of confined servers."""

import sys

from tooltray_confine.launcher import main

sys.exit(main(sys.argv[1:]))

"""What PyInstaller makes the program `tooltray` of."""

import sys

from tooltray.__main__ import main

sys.exit(main())

"""What PyInstaller makes the programs `tooltray` and, on Windows, `tooltray-app` of."""

import os
import sys

if sys.stdout is None:  # a program for Windows without a console
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - for as long as the process lives

from tooltray.__main__ import main

sys.exit(main())

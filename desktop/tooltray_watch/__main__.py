"""The script that the hub starts: `python -I -S -B <this file> REPORT_FILE -- PROGRAM ARGS`, or `... --check`.

`-I` keeps this folder off the search path, so its parent is added, last: nothing beside the package can replace a module of the standard
library.
"""

import sys

sys.path.append(__file__.rsplit("/", 2)[0])

from tooltray_watch.watching import main

sys.exit(main())

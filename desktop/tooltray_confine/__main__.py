"""The script that is started: `python -I -S <this file> OPTIONS -- PROGRAM ARGUMENTS`.

`-I` keeps this folder off the search path, so its parent is added, last: nothing beside the package can replace a module of the standard
library. All else is in `launcher`, because a script is compiled at each start and an imported module is not.
"""

import sys

sys.path.append(__file__.rsplit("/", 2)[0])

from tooltray_confine.launcher import main

sys.exit(main(sys.argv[1:]))

"""The script that an AI client starts: `python -I -S <this file> [--server NAME] [--profile NAME] [--home DIR] [--no-start]`.

`-I` keeps this folder off the search path, so its parent is added, last: nothing beside the package can replace a module of the standard
library. All else is in `hot`, because a script is compiled at each start and an imported module is not.
"""

import sys

sys.path.append(__file__.rsplit("\\" if sys.platform == "win32" else "/", 2)[0])

from tooltray_bridge.hot import main

sys.exit(main(sys.argv[1:]))

#!/usr/bin/env bash
# Makes a virtual environment with the first Python on PATH that is new enough, unless it is there and works. Usage: make_venv.sh FOLDER
set -euo pipefail
folder=$1
oldest="3, 11"

if [ -x "$folder/bin/python" ] && "$folder/bin/python" -c "import pip, sys; sys.exit(sys.version_info < ($oldest))" 2>/dev/null; then
    exit 0
fi
python=
for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
    if "$candidate" -c "import sys; sys.exit(sys.version_info < ($oldest))" 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    echo "Tooltray needs Python ${oldest/, /.} or newer; looked for ${PYTHON:-python3} on PATH." >&2
    echo "Install one (Debian: apt-get install python3 python3-venv) or name one: make PYTHON=/path/to/python3 ..." >&2
    exit 1
fi
if ! "$python" -c "import ensurepip, venv" 2>/dev/null; then
    "$(dirname "$0")/system_packages.sh" python
fi
rm -rf "$folder"
"$python" -m venv "$folder"

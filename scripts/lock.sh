#!/usr/bin/env bash
# Writes the lock files anew: newest versions that pyproject.toml and requirements/*.in allow, with hashes, for Python 3.11 and up on Linux, macOS
# and Windows, and without the address of any package registry. Needs the network; uv comes from PyPI into an environment of its own.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/make_venv.sh .cache/lock
.cache/lock/bin/python -m pip install --quiet --disable-pip-version-check --no-input --upgrade uv

lock() {
    .cache/lock/bin/uv pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes --upgrade \
        --no-header --no-annotate --no-emit-index-url --no-emit-find-links --output-file "$@"
}
lock requirements/build.txt requirements/build.in
lock requirements/run.txt pyproject.toml
lock requirements/dev.txt pyproject.toml --extra dev --constraints requirements/run.txt --constraints requirements/build.txt
lock requirements/otlp.txt pyproject.toml --extra otlp --constraints requirements/run.txt
lock requirements/fastmcp.txt requirements/fastmcp.in
lock requirements/serena.txt requirements/serena.in
lock requirements/rmcp.txt requirements/rmcp.in
lock requirements/confined.txt requirements/confined.in
lock requirements/node.txt requirements/node.in
lock requirements/docs.txt requirements/docs.in
lock requirements/audit.txt requirements/audit.in
lock requirements/installers.txt requirements/installers.in
lock requirements/package.txt requirements/package.in pyproject.toml --constraints requirements/run.txt
.cache/lock/bin/uv pip compile --quiet --no-config --python-platform x86_64-pc-windows-msvc --python-version 3.13 --generate-hashes --upgrade \
    --no-header --no-annotate --no-emit-index-url --no-emit-find-links --output-file requirements/windows.txt \
    pyproject.toml requirements/windows.in --constraints requirements/run.txt --constraints requirements/package.txt
lock requirements/windows-python.txt requirements/windows-python.in
for project in tests/npm tests/confined tests/ai_clients; do
    npm --prefix "$project" update --package-lock-only --omit-lockfile-registry-resolved --ignore-scripts --no-audit --no-fund
done
if grep -nE '://|^--' requirements/*.txt || grep -n '"resolved"' tests/npm/package-lock.json tests/confined/package-lock.json tests/ai_clients/package-lock.json; then
    echo "An address stands in a lock file." >&2
    exit 1
fi

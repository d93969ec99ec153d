#!/usr/bin/env bash
# All tests, in two runs side by side: those of programs wait more than they work. The second run's words come when both have ended.
unset PYTHONDONTWRITEBYTECODE  # programs are started some thousand times: compiled once
set -um # -m: what runs in the background heeds SIGINT, which its tests send
words=$(mktemp)
trap 'kill -- "-${second:-}" 2>/dev/null; rm -f "$words"' EXIT
.venv/bin/python -m coverage run -m pytest tests/end2end </dev/null >"$words" 2>&1 &
second=$!
.venv/bin/python -m coverage run -m pytest tests/unit tests/contract tests/ui
first_code=$?
wait "$second"
second_code=$?
second=
cat "$words"
exit $((first_code > second_code ? first_code : second_code))

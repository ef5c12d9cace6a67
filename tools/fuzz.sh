#!/bin/sh
# Runs every fuzz target of the project for the given time each. What fails is
# kept under testdata/fuzz in the target's package, where tests find it again.
set -eu
cd "$(dirname "$0")/.."
for t in $(grep -ro '^func Fuzz[A-Za-z]*' --include='*_test.go' . | sed 's|/[^/]*:func |:|' | sort); do
  echo "$t"
  # Minimising what is merely new would take a minute each time.
  ${GO:-go} test -run '^$' -fuzz "^${t#*:}\$" -fuzztime "$1" -fuzzminimizetime 100x "${t%:*}"
done

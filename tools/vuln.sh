#!/bin/sh
# Looks for known vulnerabilities in what the program calls. Exit code 0: none
# known; 1: found, or the program cannot be analysed; 4: not checked, because
# the database of vulnerabilities cannot be reached. GOVULNDB names another
# one, such as file:///a/copy.
set -u
cd "$(dirname "$0")/.." || exit 1
said=$(mktemp)
trap 'rm -f "$said"' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
${GO:-go} tool -modfile=tools/go.mod govulncheck ${GOVULNDB:+-db "$GOVULNDB"} ./... > "$said" 2>&1
code=$?
if [ $code -ne 0 ] && [ $code -ne 3 ] && grep -q "fetching vulnerabilities" "$said"; then
  echo "vulnerabilities: NOT CHECKED: the database ${GOVULNDB:-https://vuln.go.dev} cannot be reached" >&2
  exit 4
fi
cat "$said"
[ $code -eq 0 ]

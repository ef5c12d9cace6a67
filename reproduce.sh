#!/bin/sh
# Regenerates every figure and table. Arguments go to `hambench reproduce`;
# see `./reproduce.sh --help`.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
if ! command -v "${GO:-go}" >/dev/null 2>&1; then
  echo "reproduce.sh: Go is not installed: install Go 1.26 or newer (https://go.dev/dl/), then run this again" >&2
  exit 2
fi
# Results name the commit that made them, also where GOFLAGS leaves it out; where git does not
# know these files (another owner's, an archive inside another checkout), they go without.
vcs=auto
git -C "$here" ls-files --error-unmatch go.mod > /dev/null 2>&1 || vcs=false
"${GO:-go}" build -C "$here" -buildvcs=$vcs -o bin/hambench ./cmd/hambench
exec "$here/bin/hambench" reproduce "$@"

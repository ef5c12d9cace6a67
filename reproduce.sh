#!/bin/sh
# Regenerates every figure and table. Arguments go to `hambench reproduce`;
# see `./reproduce.sh --help`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v go >/dev/null 2>&1; then
  echo "reproduce.sh: Go is not installed: install Go 1.26 or newer (https://go.dev/dl/), then run this again" >&2
  exit 2
fi
# Results name the commit that made them, also where GOFLAGS leaves it out;
# where git cannot be asked, they go without.
go build -C "$here" -buildvcs=auto -o bin/hambench ./cmd/hambench 2>/dev/null ||
  go build -C "$here" -o bin/hambench ./cmd/hambench
exec "$here/bin/hambench" reproduce "$@"

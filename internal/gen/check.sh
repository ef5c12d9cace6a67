#!/bin/sh
# Fails if the committed assembly differs from what the generators make.
set -eu
cd "$(dirname "$0")/../kernel"
saved=$(mktemp -d)
trap 'rm -rf "$saved"' EXIT
cp ./*_amd64.s ./*_amd64.go "$saved"
go generate .
for f in "$saved"/*; do
	cmp "$f" "./$(basename "$f")" || { echo "run go generate in internal/kernel and commit" >&2; exit 1; }
done

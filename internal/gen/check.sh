#!/bin/sh
# Fails if the committed assembly differs from what the generators make. They
# write to a copy, so that an interrupted check leaves nothing half-made.
set -eu
cd "$(dirname "$0")/.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp ../go.mod ../go.sum "$copy"
mkdir "$copy/internal"
cp -R gen kernel "$copy/internal"
(cd "$copy/internal/kernel" && go generate .)
for f in kernel/amd64/* kernel/arm64/*; do
	cmp "$f" "$copy/internal/$f" || { echo "run go generate in internal/kernel and commit" >&2; exit 1; }
done
# The words of arm64's assembly are the instructions that their comments name,
# if llvm-mc is there to ask.
go -C gen test ./arm64

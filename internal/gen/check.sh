#!/bin/sh
# Fails if the committed assembly differs from what the generators make. They
# write to a copy, so that an interrupted check leaves nothing half-made.
set -eu
cd "$(dirname "$0")/.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
cp ../go.mod ../go.sum "$copy"
mkdir "$copy/internal"
cp -R gen kernel "$copy/internal"
# What no generator makes any more must be missing, and not be what was copied.
grep -rl '^// Code generated ' "$copy/internal/kernel" | while IFS= read -r f; do rm "$f"; done
(cd "$copy/internal/kernel" && ${GO:-go} generate .)
for f in kernel/amd64/* kernel/arm64/*; do
	cmp "$f" "$copy/internal/$f" || { echo "run go generate in internal/kernel and commit" >&2; exit 1; }
done
# The words of arm64's assembly are the instructions that their comments name,
# if llvm-mc is there to ask.
${GO:-go} -C gen test ./arm64

#!/bin/sh
# Runs two studies here and on an emulated ARM processor, and checks that their
# stores merge: every cell stands there twice, once for each machine, and
# nothing is computed again. Needs Debian's qemu-user-static.
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
${GO:-go} build -o "$dir/here" ./cmd/hambench
GOARCH=arm64 ${GO:-go} build -o "$dir/there" ./cmd/hambench
"$dir/here" reproduce --only toy,paths --out "$dir/a" > "$dir/log"
qemu-aarch64-static "$dir/there" reproduce --only toy,paths --out "$dir/b" > "$dir/log"
"$dir/here" store merge --out "$dir/both" "$dir/a" "$dir/b"
"$dir/here" store verify --out "$dir/both"
"$dir/here" store stats --out "$dir/both" | tee "$dir/stats"
grep -q 'arm64 neon' "$dir/stats"
cells=$(sed -n 's/^\([0-9]*\) results, .*/\1/p' "$dir/stats")
records=$(cat "$dir"/both/store/records/* | grep -c '"kind":"result"')
test "$records" -eq $((2 * cells)) || { echo "$records results of $cells cells: want two of each"; exit 1; }
"$dir/here" reproduce --only toy,paths --out "$dir/both" | grep "nothing was computed"
qemu-aarch64-static "$dir/there" reproduce --only toy,paths --out "$dir/both" | grep "nothing was computed"

#!/bin/sh
# Changes the module's path everywhere: module.sh PATH. Needs no Go. Run again
# with the old path, it puts everything back.
set -eu
cd "$(dirname "$0")/.."
new=${1-}
if ! printf '%s\n' "$new" | grep -Eqx '[A-Za-z0-9][A-Za-z0-9._~-]*(/[A-Za-z0-9][A-Za-z0-9._~-]*)*'; then
  echo "module path '$new': want one such as github.com/you/hambench: make module PATH=github.com/you/hambench" >&2
  exit 2
fi
old=$(sed -n 's/^module //p' go.mod)
pattern=$(printf '%s\n' "$old" | sed 's/[.]/\\./g')

# rewrite FILE SCRIPT: in place, by way of a copy, which every sed can do.
rewrite() {
  sed -E "$2" "$1" > "$1.module"
  cat "$1.module" > "$1" # keeps the file's mode
  rm "$1.module"
}

find . -name .git -prune -o -name '*.go' -type f -print | while read -r f; do
  if grep -q "\"$pattern/" "$f"; then rewrite "$f" "s|\"$pattern/|\"$new/|g"; fi
done
# "module OLD", "require OLD v", "replace OLD =>", in blocks or alone; modules
# inside are OLD/….
find . -name .git -prune -o -name go.mod -type f -print | while read -r f; do
  rewrite "$f" "s,^((module |require |replace )?[[:space:]]*)$pattern(/| |\$),\\1$new\\3,"
done
echo "the module is $new"

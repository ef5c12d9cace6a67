#!/bin/sh
# Counts the product's hand-written Go code: every Go file in git but tests, tools,
# examples, peers, generators and what these wrote. Prints for each package lines of code
# (no comments, no blanks), comment lines as a share of the code, and lines of more than
# 100 columns, a tab counting as four. With a folder as its argument it counts the
# checkout in that folder.
set -eu
cd "${1:-$(dirname "$0")/..}"
files=$(git ls-files '*.go')
printf '%-24s %6s %8s %5s\n' package code comments wide
printf '%s\n' "$files" |
  grep -vE '_test\.go$|^(test|tools|examples|bench/peers|internal/gen)/' |
  xargs grep -L '^// Code generated ' |
  LC_ALL=C xargs awk '
    FNR == 1 { package = FILENAME; if (!sub("/[^/]*$", "", package)) package = "." }
    {
      lines["total"]++
      lines[package]++
      wide = $0
      gsub(/\t/, "    ", wide)
      gsub(/[\200-\277]/, "", wide) # all bytes of a character but its first
      if (length(wide) > 100) { long[package]++; long["total"]++ }
    }
    /^[ \t]*\/\// { comments[package]++; comments["total"]++; next }
    /[^ \t]/ { code[package]++; code["total"]++ }
    END {
      for (p in lines)
        printf "%-24s %6d %8.2f %5d\n", p, code[p], comments[p] / (code[p] ? code[p] : 1), long[p]
    }' | sort -k1,1 | awk '$1 == "total" { total = $0; next } { print } END { print total }'

#!/bin/sh
# Counts the product's Go lines: all files in git but tests, tools, examples,
# generators, peers and the declarations of assembly. For each package: lines,
# lines of code, comment lines as a share of the code. With a folder as its
# argument it counts the checkout in that folder.
set -eu
cd "${1:-$(dirname "$0")/..}"
printf '%-24s %6s %6s %s\n' package lines code comments
git ls-files '*.go' |
  grep -vE '_test\.go$|_(amd64|arm64)\.go$|^(test|tools|examples|bench/peers|internal/gen)/' |
  xargs awk '
    FNR == 1 { package = FILENAME; if (!sub("/[^/]*$", "", package)) package = "." }
    { lines[package]++; lines["total"]++ }
    /^[ \t]*\/\// { comments[package]++; comments["total"]++; next }
    /[^ \t]/ { code[package]++; code["total"]++ }
    END {
      for (p in lines)
        printf "%-24s %6d %6d %8.2f\n", p, lines[p], code[p], comments[p] / (code[p] ? code[p] : 1)
    }' | sort -k1,1 | awk '$1 == "total" { total = $0; next } { print } END { print total }'

#!/bin/sh
# Prints what llvm-mca says of the loops of amd64's passes with normals: cycles
# of a turn on Ice Lake's server, whose two ports for vectors of 512 bits are
# those of the processors that came after it, as they run and as the busiest
# ports would take if work were shared out evenly (0 and 5; for AVX2, 0 and 1,
# which have the multiplications). Needs Debian's llvm-19 and binutils.
set -eu
cd "$(dirname "$0")/.."
for tool in llvm-mca-19 objdump; do
	command -v $tool > /dev/null || { echo "$tool is missing: apt-get install llvm-19 binutils" >&2; exit 1; }
done
module=$(${GO:-go} list -m)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
${GO:-go} test -c -o "$dir/kernels" ./internal/kernel
echo "loop, normals a turn, cycles as it runs, at its ports' limit"
for isa in AVX512 AVX2; do for pass in Normals NoiseUpdate NoiseStep; do
	objdump -d --no-show-raw-insn --disassemble="$module/internal/kernel/amd64.$pass$isa.abi0" "$dir/kernels" |
		awk '$1 ~ /^[0-9a-f]+:$/ {
			at = $1; sub(/:/, "", at); place[at] = ++n
			text = $0; sub(/^[^:]*:[ \t]*/, "", text); sub(/[ \t]*[#<].*/, "", text)
			gsub(/-?0x[0-9a-f]+\(%rip\)/, "0(%rip)", text); line[n] = text
			if ($2 == "jne" && $3 in place && n - place[$3] > last - first) { first = place[$3]; last = n }
		} END { for (i = first; i < last; i++) print line[i] }' > "$dir/loop.s"
	test -s "$dir/loop.s" || { echo "no loop of $pass$isa in the program: want amd64" >&2; exit 1; }
	llvm-mca-19 -mtriple=x86_64 -mcpu=icelake-server -iterations=100 "$dir/loop.s" 2> /dev/null |
		awk -v name="$pass$isa" -v wide="$isa" '
			/^Total Cycles:/ { cycles = $3 / 100 }
			/^Resource pressure per iteration/ { getline; getline; limit = wide == "AVX512" ? ($3 + $8) / 2 : ($3 + $4) / 2 }
			END { if (!cycles) exit 1; printf "%s, %d, %.1f, %.1f\n", name, wide == "AVX512" ? 64 : 32, cycles, limit }'
done; done

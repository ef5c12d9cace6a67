#!/bin/sh
# Prints docs/performance.md's table of kernels: what this machine's instruction
# sets need for normals, gradients and leapfrog steps of the 8 401-parameter
# network, and, where Debian's llvm-19 is, the estimates for ARM processors.
set -eu
cd "$(dirname "$0")/.."
bench() { ${GO:-go} test -run xxx -benchtime 50ms -bench "$@"; }
{
	bench 'Normals' -count 5 ./internal/kernel
	bench 'Gradient' ./internal/mlp
	for isa in avx512 avx2 neon generic; do
		HAMBENCH_ISA=$isa bench 'Step$/./././integrator=leapfrog$' ./internal/mlp
	done
} | awk '
	function value(unit,  i) { for (i = 2; i < NF; i++) if ($(i + 1) == unit) return $i }
	function short(x) { return sprintf(x < 999.5 ? "%.3g" : "%.0f", x) }
	function key(name) { return match($1, name "=[a-z0-9]+") ? substr($1, RSTART + length(name) + 1, RLENGTH - length(name) - 1) : "" }
	/^(---|FAIL|panic)/ { print; bad = 1 }
	/^BenchmarkNormals/ {
		if (!(key("isa") in normals)) isas[++n] = key("isa")
		if (!normals[key("isa")] || value("ns/element") < normals[key("isa")]) normals[key("isa")] = value("ns/element")
	}
	/^BenchmarkGradient/ {
		cell = short(value("best-ns/op") / 1000)
		if (value("%peak")) cell = cell sprintf(" (%.0f)", value("%peak"))
		gradient[key("isa"), key("precision"), key("B")] = cell
	}
	/^BenchmarkStep/ { step[key("isa"), key("precision"), key("B")] = short(value("best-ns/step") / 1000) }
	END {
		if (bad || !n) exit 1
		split("float32 float64", precisions); split("8 32 128 455", rows)
		print "| | ns a normal | gradient, µs (% of peak): B = 8 | 32 | 128 | 455 | step, µs: 8 | 32 | 128 | 455 |"
		print "|---|---|---|---|---|---|---|---|---|---|"
		for (p = 1; p <= 2; p++) for (i = 1; i <= n; i++) {
			line = "| " isas[i] ", " precisions[p] " | " sprintf("%.2f", normals[isas[i]]) " |"
			for (r = 1; r <= 4; r++) line = line " " gradient[isas[i], precisions[p], rows[r]] " |"
			for (r = 1; r <= 4; r++) line = line " " step[isas[i], precisions[p], rows[r]] " |"
			print line
		}
	}'
if command -v llvm-mca-19 > /dev/null; then
	printf '\n| estimates | cycles | kilocycles (%% of peak): B = 8 | 32 | 128 | 455 | kilocycles: 8 | 32 | 128 | 455 |\n|---|---|---|---|---|---|---|---|---|---|\n'
	${GO:-go} -C internal/gen run ./arm64 -estimate | grep '^| neon'
else
	echo "no estimates for ARM processors: llvm-mca-19 (Debian: llvm-19) is not installed"
fi

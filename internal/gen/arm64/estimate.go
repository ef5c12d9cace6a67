package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// processors are those whose loops are estimated, with the multiply-adds of a
// vector that they start in a cycle (Arm's software optimisation guides, table
// "ASIMD FP multiply accumulate": pipelines V0 and V1, or V0 to V3). LLVM's
// model for Apple's M1 is that of the Cyclone, with three pipelines: reported,
// not relied on.
var processors = []struct {
	name         string
	multiplyAdds int
}{{"neoverse-n1", 2}, {"neoverse-n2", 2}, {"neoverse-v1", 4}, {"neoverse-v2", 4}, {"apple-m1", 3}}

// loop is an inner loop in the syntax of GNU's assembler, and what it does.
type loop struct {
	name                string
	code                []string
	multiplyAdds, loads int
	normals             int // in an iteration; 0 for a product
}

// estimate prints what llvm-mca says of the inner loops: cycles of an iteration, and
// the share of the cycles' multiply-adds that the products' loops do. It takes
// all loads from the first-level cache and all branches as predicted.
func estimate() error {
	mca, err := exec.LookPath("llvm-mca-19")
	if err != nil {
		return fmt.Errorf("llvm-mca-19 is not installed: Debian's package llvm-19 has it")
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprint(w, "loop\tmultiply-adds\tloads")
	for _, p := range processors {
		fmt.Fprint(w, "\t", p.name)
	}
	fmt.Fprintln(w)
	times := make([]map[string]float64, len(processors)) // by loop
	for _, l := range loops() {
		fmt.Fprintf(w, "%s\t%d\t%d", l.name, l.multiplyAdds, l.loads)
		for i, p := range processors {
			cycles, err := cyclesOf(mca, p.name, l.code)
			if err != nil {
				return fmt.Errorf("%s: %w", l.name, err)
			}
			if times[i] == nil {
				times[i] = map[string]float64{}
			}
			times[i][l.name] = cycles
			if l.normals > 0 {
				fmt.Fprintf(w, "\t%.1f a normal", cycles/float64(l.normals))
			} else {
				fmt.Fprintf(w, "\t%.1f (%.0f %%)", cycles, 100*float64(l.multiplyAdds)/float64(p.multiplyAdds)/cycles)
			}
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	for _, f := range []format{float32s, float64s} {
		for i, p := range processors {
			fmt.Println(tableRow(f, p.name, p.multiplyAdds, times[i]))
		}
	}
	return nil
}

// tableRow is a row of docs/performance.md's table of kernels: cycles a normal,
// kilocycles of gradients with their share of the multiply-adds, and of steps.
func tableRow(f format, processor string, multiplyAdds int, times map[string]float64) string {
	var gradients, steps strings.Builder
	for _, rows := range []int{8, 32, 128, 455} {
		cycles, work := gradient(f, rows, times)
		share := work / float64(f.lanes()*multiplyAdds) / cycles
		fmt.Fprintf(&gradients, " %.1f (%.0f) |", cycles/1000, 100*share)
		fmt.Fprintf(&steps, " %.1f |", (cycles+times["NoiseStep"]/groupLen*parameters)/1000)
	}
	return fmt.Sprintf("| neon, %s, float%d | %.1f |%s%s", processor, 8*f.elem, times["Normals"]/groupLen, gradients.String(), steps.String())
}

// The network of docs/performance.md.
var widths = []int{13, 50, 50, 50, 50, 1}

const parameters = 8401

// gradient sums the products of a gradient over so many rows of data: cycles,
// and multiply-adds of the weights. Inner products and transpositions are left
// out.
func gradient(f format, rows int, times map[string]float64) (cycles, multiplyAdds float64) {
	const chunk = 1024 // bytes of a row of activations, as in internal/mlp
	for ; rows > 0; rows -= chunk / f.elem {
		n := min(rows, chunk/f.elem)
		columns := (n + 32/f.elem - 1) / (32 / f.elem) * (32 / f.elem)
		for l, in := range widths[:len(widths)-1] {
			out := widths[l+1]
			main := out
			if rest := out % f.lanes(); out == 1 || rest*((n+f.lanes()-1)/f.lanes()+6) < n {
				main -= max(rest, out%2)
			}
			cycles += product(f, out, columns, in+1, times) + product(f, in+1, main, n, times)
			multiplyAdds += float64(2 * in * out * n)
			if l > 0 {
				cycles += product(f, in, columns, out, times)
				multiplyAdds += float64(in * out * n)
			}
		}
	}
	return cycles, multiplyAdds
}

// tileCycles are spent before and after the loop of a tile: what was measured
// of AVX2's, whose tiles have as many vectors of half as many.
const tileCycles = 30

// product is the time of M rows of N columns over K, cut up as in kernel.
func product(f format, m, n, k int, times map[string]float64) (cycles float64) {
	vectors := n / f.lanes()
	for _, p := range slices.Backward(panels) {
		count := vectors / p.width
		if p.rest {
			count = min(1, n%f.lanes())
		} else {
			vectors %= p.width
		}
		for left := m; left > 0 && count > 0; {
			h := first(p.heights, p.width, min(left, 2*p.heights[0]))
			cycles += float64(count) * (tileCycles + float64(k)*times[fmt.Sprintf("%s_%s, %d rows", p.name, f.suffix(), h)])
			left -= h
		}
	}
	return cycles
}

// loops finds the inner loops of the products' tiles and of the normals.
func loops() (all []loop) {
	start := regexp.MustCompile(`TEXT ·?(\w+)[^\n]*\n`)
	inner := regexp.MustCompile(`(?s)\n(tile\d+k|iteration):\n(.*?)\tCBNZ (R\d+), (tile\d+k|iteration)\n`)
	for _, file := range []*text{products(), normals()} {
		source := file.String()
		starts := start.FindAllStringSubmatchIndex(source, -1)
		for i, s := range starts {
			end := len(source)
			if i+1 < len(starts) {
				end = starts[i+1][0]
			}
			name := source[s[2]:s[3]]
			for _, m := range inner.FindAllStringSubmatch(source[s[1]:end], -1) {
				l := loop{name: name, code: gnu(m[2] + "\tCBNZ " + m[3] + ", loop\n")}
				if m[1] == "iteration" {
					l.normals = groupLen
				} else {
					l.name += ", " + strings.TrimSuffix(strings.TrimPrefix(m[1], "tile"), "k") + " rows"
				}
				for _, c := range l.code {
					if strings.HasPrefix(c, "fmla") {
						l.multiplyAdds++
					}
					if strings.HasPrefix(c, "ldr") {
						l.loads++
					}
				}
				all = append(all, l)
			}
		}
	}
	return all
}

// gnu translates what stands in inner loops.
func gnu(source string) (code []string) {
	register := regexp.MustCompile(`R(\d+)`)
	for _, l := range strings.Split(strings.TrimSpace(source), "\n") {
		l = strings.TrimSpace(l)
		if _, comment, ok := strings.Cut(l, " // "); ok {
			code = append(code, comment)
			continue
		}
		l = strings.ReplaceAll(register.ReplaceAllString(l, "x$1"), "$", "#")
		op, operands, _ := strings.Cut(l, " ")
		o := strings.Split(operands, ", ")
		if op != "CBNZ" { // the destination comes first
			o = []string{o[2], o[1], o[0]}
		}
		code = append(code, strings.ToLower(op)+" "+strings.Join(o, ", "))
	}
	return code
}

// cyclesOf is the time of an iteration in the long run.
func cyclesOf(mca, processor string, code []string) (float64, error) {
	const iterations = 200
	cmd := exec.Command(mca, "--mtriple=aarch64", "--mcpu="+processor, fmt.Sprintf("--iterations=%d", iterations))
	cmd.Stdin = strings.NewReader("loop:\n" + strings.Join(code, "\n") + "\n")
	out, err := cmd.CombinedOutput()
	m := regexp.MustCompile(`Total Cycles: +(\d+)`).FindSubmatch(out)
	if err != nil || m == nil {
		return 0, fmt.Errorf("llvm-mca: %v\n%s", err, out)
	}
	n, err := strconv.Atoi(string(m[1]))
	return float64(n) / iterations, err
}

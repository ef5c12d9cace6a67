// Peak generates loops of independent multiply-adds in registers: what a
// core can do at most.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hambench/internal/gen/simd"
)

// chains is how many accumulators a set's registers hold beside two factors:
// more than latency × units of any processor so far.
func chains(s simd.Set) int {
	if s.Masks {
		return 24
	}
	return 12
}

func main() {
	for _, s := range simd.Sets {
		if !s.Narrow() {
			loop(s)
		}
	}
	Generate()
}

func loop(s simd.Set) {
	name := fmt.Sprintf("MultiplyAdds%sFloat%d", s.Public(), 8*s.Elem)
	TEXT(name, NOSPLIT, "func(iterations int)")
	Doc(fmt.Sprintf("%s does iterations × %d × %d multiply-adds.", name, chains(s), s.Bytes/s.Elem))
	n := Load(Param("iterations"), GP64())
	var acc []reg.VecVirtual
	for range chains(s) {
		acc = append(acc, s.Zero())
	}
	x, y := s.Zero(), s.Zero()
	Label("iteration")
	for _, a := range acc {
		s.FMA(x, y, a)
	}
	DECQ(n)
	JNZ(LabelRef("iteration"))
	VZEROUPPER()
	RET()
}

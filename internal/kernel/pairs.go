package kernel

// Up to PairRows data rows fill half a vector of float32 or less. Products and
// transpositions of pairs, in programs of float32, put two numbers of each of
// them into one:
//
//   - in a row of pairs m, element 2b+j is number 2m+j of data row b;
//   - in a row of doubled numbers m, elements 2b and 2b+1 both are number m
//     of data row b.
//
// Either row has PairRow elements, starts PairRow after the one before it, and
// has anything where there is no data row or number.
const (
	PairRows = 8
	PairRow  = 2 * PairRows
)

// HasPairs reports whether a set has pairs: AVX-512 does. The vectors of other
// sets are full with eight data rows.
func (s Set) HasPairs() bool { return s == avx512 }

// PairIndex returns where number m of data row b is among pairs.
func PairIndex(m, b int) int { return m/2*PairRow + 2*b + m%2 }

// half is the number of pairs that m numbers make.
func half(m int) int { return (m + 1) / 2 }

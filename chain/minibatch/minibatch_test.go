package minibatch

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"hambench/usage"
)

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func lookup(t *testing.T, name string) Scheme {
	t.Helper()
	m, err := Builtin().Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func mustStream(t *testing.T, name string, rows, k int, seed uint64) Stream {
	t.Helper()
	s, err := lookup(t, name).New(rows, k, source(seed))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustIndex(t *testing.T, name string, k int, seed uint64) Index {
	t.Helper()
	return lookup(t, name).Index(k, source(seed))
}

// batches returns a number of batches that a scheme accepts.
func batches(m Scheme) int {
	if m.Whole() {
		return 1
	}
	return 7
}

func TestEveryEpochCoversEveryRowOnce(t *testing.T) {
	const rows = 455
	for _, name := range []string{"full", "reshuffle", "cyclic", "symmetric", "repartition"} {
		m := lookup(t, name)
		k := batches(m)
		s := mustStream(t, name, rows, k, 1)
		for epoch := range 6 {
			seen := make([]int, rows)
			for range k {
				b := s.Next()
				for _, row := range s.Arrangement()[b.Lo:b.Hi] {
					seen[row]++
				}
			}
			if slices.Min(seen) != 1 || slices.Max(seen) != 1 {
				t.Errorf("%s: epoch %d covers rows %d to %d times, want once", name, epoch, slices.Min(seen), slices.Max(seen))
			}
		}
	}
}

func TestArrangementIsAPermutation(t *testing.T) {
	for _, m := range Builtin() {
		s := mustStream(t, m.Name, 31, batches(m), 3)
		s.Next()
		if got := slices.Sorted(slices.Values(s.Arrangement())); !slices.Equal(got, identity(31)) {
			t.Errorf("%s: arrangement holds rows %v", m.Name, got)
		}
	}
}

// Batches of a partition differ by at most one row and are disjoint; the mean
// of the scaled gradients over the K batches is the gradient of all rows, here
// checked exactly for the gradient Σ 2^row, whose value shows every row.
func TestPartitionIsEvenAndUnbiased(t *testing.T) {
	const rows = 20
	for k := 1; k <= rows; k++ {
		sum, sizes := 0.0, []int{}
		for i := range k {
			b := Cut(rows, k, i)
			for row := b.Lo; row < b.Hi; row++ {
				sum += b.Scale * math.Ldexp(1, row)
			}
			sizes = append(sizes, b.Hi-b.Lo)
		}
		if slices.Max(sizes)-slices.Min(sizes) > 1 {
			t.Errorf("K = %d: sizes %v differ by more than one row", k, sizes)
		}
		// Sums of 2^row·K below 2^53 are exact.
		if want := float64(k) * (math.Ldexp(1, rows) - 1); sum != want {
			t.Errorf("K = %d: K × mean gradient is %v, want %v", k, sum, want)
		}
	}
}

func TestWindowOffsetsAreUniform(t *testing.T) {
	const rows, k = 10, 3 // B = round(10/3) = 3
	s := mustStream(t, "window", rows, k, 5)
	offsets := make([]int, rows)
	for range 2000 {
		b := s.Next()
		if b.Hi-b.Lo != 3 || b.Scale != 10./3 || b.Hi > rows || b.Index != -1 {
			t.Fatalf("window %+v, want 3 rows of 10 with scale 10/3", b)
		}
		offsets[b.Lo]++
	}
	// A false alarm has the probability 1e-6.
	checkUniform(t, "window offsets", offsets[:8])
	if offsets[8]+offsets[9] != 0 {
		t.Errorf("windows beyond the last row: %v", offsets)
	}
}

// Every row of an i.i.d. batch is uniform and independent of its neighbours, in
// the batch and in the next; a false alarm has the probability 2e-6.
func TestIIDRowsAreUniformAndIndependent(t *testing.T) {
	const rows, k = 11, 4 // B = round(11/4) = 3
	s := mustStream(t, "iid", rows, k, 37)
	var drawn []int
	for range 40 * rows * rows {
		b := s.Next()
		if len(b.List) != 3 || b.Weights != nil || b.Scale != 11./3 || b.Index != -1 || b.Lo != b.Hi {
			t.Fatalf("batch %+v, want 3 rows of 11 with scale 11/3", b)
		}
		drawn = append(drawn, b.List...)
	}
	inside, across := make([]int, rows*rows), make([]int, rows*rows)
	for i := 0; i+5 < len(drawn); i += 6 { // pairs of rows that no other pair uses
		inside[drawn[i]*rows+drawn[i+1]]++
		across[drawn[i+2]*rows+drawn[i+3]]++
	}
	checkUniform(t, "pairs in a batch", inside)
	checkUniform(t, "pairs of successive batches", across)
}

// checkUniform is a chi-square test of equal frequencies that fails by chance
// once in a million; seeds are fixed, so a pass stays a pass.
func checkUniform(t *testing.T, what string, counts []int) {
	t.Helper()
	total := 0
	for _, c := range counts {
		total += c
	}
	expected, chi2 := float64(total)/float64(len(counts)), 0.0
	for _, c := range counts {
		chi2 += (float64(c) - expected) * (float64(c) - expected) / expected
	}
	if p := (distuv.ChiSquared{K: float64(len(counts) - 1)}).Survival(chi2); p < 1e-6 {
		t.Errorf("%s: counts %v are not uniform, p = %.2g", what, counts, p)
	}
}

// permutationNumber numbers the 24 orders of 0 … 3.
func permutationNumber(order []int) int {
	n := 0
	for i, a := range order {
		smaller := 0
		for _, b := range order[i+1:] {
			if b < a {
				smaller++
			}
		}
		n = n*(len(order)-i) + smaller
	}
	return n
}

func TestOrdersAreUniform(t *testing.T) {
	const k, epochs = 4, 24 * 400
	for _, name := range []string{"reshuffle", "symmetric"} {
		m := lookup(t, name)
		s, counts, pairs := mustIndex(t, name, k, 7), make([]int, 24), make([]int, 24*24)
		epoch := func() int { return permutationNumber(take(s, m.Visits.Period(k))[:k]) }
		for range epochs / 2 { // disjoint pairs, so that their counts are independent draws
			a, b := epoch(), epoch()
			counts[a]++
			counts[b]++
			pairs[a*24+b]++
		}
		checkUniform(t, name+": orders", counts)
		checkUniform(t, name+": pairs of successive orders", pairs)
	}
}

func TestCyclicOrderIsUniformOverSeeds(t *testing.T) {
	counts := make([]int, 24)
	for seed := range uint64(24 * 200) {
		counts[permutationNumber(take(mustIndex(t, "cyclic", 4, seed), 4))]++
	}
	checkUniform(t, "cyclic orders", counts)
}

func TestReplacementIsUniformAndIndependent(t *testing.T) {
	const k = 5
	s, pairs := mustIndex(t, "replacement", k, 11), make([]int, k*k)
	for range 25 * 400 {
		pairs[s.Next()*k+s.Next()]++
	}
	checkUniform(t, "pairs of successive batches", pairs)
}

// Under repartition a row falls into each batch equally often.
func TestRepartitionMovesRows(t *testing.T) {
	const rows, k = 12, 4
	s, counts := mustStream(t, "repartition", rows, k, 13), make([]int, k)
	for range 4000 * k {
		b := s.Next()
		if b.Rearranged != (b.Index == 0) {
			t.Fatalf("batch %d says rearranged = %v", b.Index, b.Rearranged)
		}
		if slices.Contains(s.Arrangement()[b.Lo:b.Hi], 0) {
			counts[b.Index]++
		}
	}
	checkUniform(t, "batch of row 0", counts)
}

func take(s Index, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = s.Next()
	}
	return out
}

func TestSymmetricIsPalindromic(t *testing.T) {
	for _, k := range []int{1, 2, 5} {
		s := mustIndex(t, "symmetric", k, 17)
		for range 10 {
			forward, backward := take(s, k), take(s, k)
			slices.Reverse(backward)
			if !slices.Equal(forward, backward) {
				t.Errorf("K = %d: forwards %v, backwards (reversed) %v", k, forward, backward)
			}
		}
	}
}

func TestCyclicRepeats(t *testing.T) {
	s := mustIndex(t, "cyclic", 6, 19)
	first := take(s, 6)
	for range 3 {
		if got := take(s, 6); !slices.Equal(got, first) {
			t.Errorf("order %v after %v", got, first)
		}
	}
}

// A row stream and the bare index of its scheme are one code: after the draws
// of the arrangement they give the same numbers.
func TestIndexIsTheStreamsOwn(t *testing.T) {
	const rows = 40
	for _, m := range Builtin().Fixed() {
		k := batches(m)
		s, rng := mustStream(t, m.Name, rows, k, 23), source(23)
		if !m.Whole() {
			shuffle(identity(rows), rng)
		}
		index := m.Index(k, rng)
		for i := range 3 * k {
			if a, b := s.Next().Index, index.Next(); a != b {
				t.Fatalf("%s: step %d: stream gives batch %d, index %d", m.Name, i, a, b)
			}
		}
	}
}

func TestSeedsReproduce(t *testing.T) {
	for _, m := range Builtin() {
		k := batches(m)
		a, b, c := mustStream(t, m.Name, 40, k, 1), mustStream(t, m.Name, 40, k, 1), mustStream(t, m.Name, 40, k, 2)
		same, differs := true, false
		for range 50 {
			x, y, z := a.Next(), b.Next(), c.Next()
			same = same && reflect.DeepEqual(x, y) && slices.Equal(a.Arrangement(), b.Arrangement())
			differs = differs || !reflect.DeepEqual(x, z) || !slices.Equal(a.Arrangement(), c.Arrangement())
		}
		if !same {
			t.Errorf("%s: one seed gave two streams", m.Name)
		}
		if !differs && !m.Whole() {
			t.Errorf("%s: two seeds gave one stream", m.Name)
		}
	}
}

func TestRearrangedOnlyAtTheStart(t *testing.T) {
	for _, m := range Builtin() {
		if m.Name == "repartition" {
			continue
		}
		s := mustStream(t, m.Name, 40, batches(m), 29)
		for i := range 30 {
			if got := s.Next().Rearranged; got != (i == 0) {
				t.Errorf("%s: step %d: rearranged = %v", m.Name, i, got)
			}
		}
	}
}

func TestNextDoesNotAllocate(t *testing.T) {
	for _, m := range Builtin() {
		s := mustStream(t, m.Name, 455, batches(m), 31)
		if n := testing.AllocsPerRun(200, func() { s.Next(); s.Arrangement() }); n != 0 {
			t.Errorf("%s: %v allocations a step", m.Name, n)
		}
	}
}

func TestBadInput(t *testing.T) {
	tests := []struct {
		name    string
		rows, k int
		want    string
	}{
		{"reshuffle", 455, 600, "reshuffle: K = 600 exceeds the 455 rows"},
		{"window", 455, 0, "window: K = 0 batches: want at least 1"},
		{"full", 455, 2, "full: K = 2 batches: want 1"},
		{"full", 0, 1, "full: 0 rows: want at least 1"},
	}
	for _, tt := range tests {
		_, err := lookup(t, tt.name).New(tt.rows, tt.k, source(1))
		checkUsage(t, err, tt.want)
	}
	_, err := Builtin().Lookup("reshufle")
	checkUsage(t, err, `unknown mini-batch scheme "reshufle" (did you mean reshuffle?): want one of full, reshuffle, replacement, cyclic, symmetric, repartition, window, iid`)
	_, err = Scheme{Name: "mine"}.New(4, 2, source(1))
	checkUsage(t, err, `scheme "mine" has neither Index nor Stream: want one of them`)
	_, err = lookup(t, "cyclic").New(4, 0, source(1))
	checkUsage(t, err, "cyclic: K = 0 batches: want at least 1")
}

func checkUsage(t *testing.T, err error, want string) {
	t.Helper()
	var mistake *usage.Error
	if !errors.As(err, &mistake) {
		t.Errorf("error %v is not a usage error", err)
		return
	}
	if err.Error() != want || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q, want %q", err, want)
	}
}

func TestPeriod(t *testing.T) {
	want := map[string]int{"full": 1, "reshuffle": 7, "replacement": 1, "cyclic": 7, "symmetric": 14}
	for name, period := range want {
		m := lookup(t, name)
		if got := m.Visits.Period(batches(m)); got != period {
			t.Errorf("%s: period %d, want %d", name, got, period)
		}
	}
}

// A change of what a scheme draws or states changes its fingerprint, and
// nothing else does: not its name, its description, or the machine.
func TestFingerprintIsOfWhatASchemeDoes(t *testing.T) {
	seen := make(map[string]string)
	for _, m := range Builtin() {
		f := Fingerprint(m)
		if other, ok := seen[f]; ok || f != Fingerprint(m) {
			t.Errorf("%s: fingerprint %s, which is not its own or not the same twice (%q)", m.Name, f, other)
		}
		seen[f] = m.Name
	}
	base := lookup(t, "cyclic")
	if got, want := Fingerprint(base), "354d3ca3ab4aef17"; got != want {
		t.Errorf("cyclic: fingerprint %s, want %s, which every machine gave so far", got, want)
	}
	renamed := base
	renamed.Name, renamed.About = "mine", "the same under another name"
	if Fingerprint(renamed) != Fingerprint(base) {
		t.Error("a name changes the fingerprint")
	}
	for what, change := range map[string]func(m *Scheme){
		"a cap": func(m *Scheme) { m.Cap.Joint = 2 },
		"a law": func(m *Scheme) { m.Visits = Permutation{} },
		"a draw": func(m *Scheme) {
			m.Index = func(k int, rng *rand.Rand) Index { rng.Uint64(); return cyclicScheme.Index(k, rng) }
		},
		"a list": func(m *Scheme) { m.Stream = iidScheme.Stream },
		"weights": func(m *Scheme) {
			m.Stream = func(rows, k int, rng *rand.Rand) Stream { return &weighted{iidScheme.Stream(rows, k, rng), 1} }
		},
		"a scale": func(m *Scheme) {
			m.Stream = func(rows, k int, rng *rand.Rand) Stream {
				return &rescaled{partitioned(rows, k, rng, cyclicScheme.Index)}
			}
		},
	} {
		m := base
		change(&m)
		if Fingerprint(m) == Fingerprint(base) {
			t.Errorf("%s does not change the fingerprint", what)
		}
	}
}

// A weight that changes in its last bit changes the fingerprint.
func TestFingerprintHoldsWeights(t *testing.T) {
	of := func(w float64) string {
		return Fingerprint(Scheme{Name: "mine", Stream: func(rows, k int, rng *rand.Rand) Stream { return &weighted{iidScheme.Stream(rows, k, rng), w} }})
	}
	if of(1) == of(math.Nextafter(1, 2)) || of(1) != of(1) {
		t.Error("fingerprints of two weights are the same, or of one weight not")
	}
}

// weighted gives all rows of a list a weight.
type weighted struct {
	Stream
	weight float64
}

func (s *weighted) Next() Batch {
	b := s.Stream.Next()
	for range b.List {
		b.Weights = append(b.Weights, s.weight)
	}
	return b
}

// rescaled changes the last bit of the scale.
type rescaled struct{ Stream }

func (s *rescaled) Next() Batch {
	b := s.Stream.Next()
	b.Scale = math.Nextafter(b.Scale, 100)
	return b
}

func TestWordsAreChecked(t *testing.T) {
	words := func(w ...Word) Words {
		return Words{Length: func(k int) int { return k }, List: func(int) []Word { return w }}
	}
	if _, err := words(EquallyLikely([][]int{{0, 1}, {1, 0}, {0, 0}})...).law(2); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct {
		words Words
		want  string
	}{
		{words(Word{[]int{0}, 1}), "word 0 for K = 2 has 1 batches: want 2"},
		{words(Word{[]int{0, 2}, 1}), "word 0 for K = 2 is [0 2]: want numbers 0 … 1"},
		{words(Word{[]int{0, 1}, 1}, Word{[]int{1, 0}, 0}), "word 1 for K = 2 has the probability 0: want more than 0"},
		{words(Word{[]int{0, 1}, 0.5}), "the words for K = 2 have probabilities that add up to 0.5: want 1"},
		{words(), "the words for K = 2 have probabilities that add up to 0: want 1"},
	} {
		_, err := tt.words.law(2)
		checkUsage(t, err, tt.want)
	}
}

package kernel

import (
	"math"
	"math/bits"
	"slices"
	"testing"
)

// Lengths around the ends of groups and iterations.
var lengths = []int{1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 97, 127, 128, 129, 200, 1000}

// boxMuller turns random bits into two independent standard normals, rounded
// to float32: radius √(−2 ln u) with u = max(u1, 1)/2³² rounded to float32
// (so at most 6.7), and an angle whose quadrant is the top two bits of u2
// and whose position in the quadrant is the rest.
func boxMuller(u1, u2 uint32) (x, y float64) {
	u := float64(float32(max(u1, 1))) * 0x1p-32
	r := math.Sqrt(-2 * math.Log(u))
	quarter := float64(float32(int32(u2<<2))) * 0x1p-32 // −½ … ½ of a quarter turn
	y, x = math.Sincos(math.Pi / 2 * quarter)
	if u2&(1<<31) != 0 {
		x = -x
	}
	if u2&(1<<30) != 0 {
		x, y = y, x
	}
	return float64(float32(r * x)), float64(float32(r * y))
}

// The layout of counters is a promise: results in a store depend on it. Radius
// and angle use 32 random bits each, and a wrong bit above float32's
// resolution, a wrong lane or a wrong counter changes a normal by more than
// the tolerance. That is a few units of float32 of the largest normals, near
// 6: the assembly rounds some ten times where the definition rounds once.
func TestNormalsFollowTheirCounters(t *testing.T) {
	const key, stream, vector, tol = 0x1122334455667788, 7, math.MaxUint32 - 1, 3e-6 // a carry follows
	for _, s := range assemblySets(t) {
		for _, length := range lengths {
			n, x := newNoise(s, key, stream), make([]float64, RoundUp(length, groupLen))
			n.counter.words[0] = vector
			for v := uint64(vector); v < vector+3; v++ {
				n.Normal(x[:length])
				for i, got := range x[:length] {
					pair := i % (groupLen / 2)
					u := Philox([4]uint32{uint32(i/groupLen*groupBlocks + pair/2), uint32(v), uint32(v >> 32), stream}, [2]uint32{0x55667788, 0x11223344})
					want, second := boxMuller(u[pair%2], u[2+pair%2])
					if i%groupLen >= groupLen/2 {
						want = second
					}
					if d := math.Abs(got - want); !(d <= tol) {
						t.Fatalf("%s: length %d vector %d element %d is %g, want %g", s.Name(), length, v, i, got, want)
					}
				}
			}
		}
	}
}

// preimage is the counter whose words are u: each round of Philox can be undone.
func preimage(u [4]uint32, key [2]uint32) [4]uint32 {
	inverse := func(odd uint32) uint32 { // modulo 2³², by Newton's iteration
		x := odd
		for range 5 {
			x *= 2 - odd*x
		}
		return x
	}
	for round := range uint32(philoxRounds) {
		left := philoxRounds - 1 - round
		k0, k1 := uint32(uint64(key[0])+uint64(left)*philoxW0), uint32(uint64(key[1])+uint64(left)*philoxW1)
		c0, c2 := u[3]*inverse(philoxM0), u[1]*inverse(philoxM1)
		hi0, _ := bits.Mul32(philoxM0, c0)
		hi1, _ := bits.Mul32(philoxM1, c2)
		u = [4]uint32{c0, u[0] ^ hi1 ^ k0, c2, u[2] ^ hi0 ^ k1}
	}
	return u
}

// Bits that no test meets by chance: u₁ = 0 and at float32's roundings, among them the largest
// normals, and angles at the ends of their quadrants.
func TestNormalsOfTheRarestBits(t *testing.T) {
	edges := []uint32{0, 1, 2, 3, 1<<24 - 1, 1 << 24, 1<<24 + 1, 1<<31 - 1, 1 << 31, 1<<31 + 1, math.MaxUint32 - 256, math.MaxUint32 - 1, math.MaxUint32}
	angles := slices.Clone(edges)
	for quadrant := range uint32(4) {
		for _, rest := range []uint32{0, 1, 1<<29 - 1, 1 << 29, 1<<29 + 1, 1<<30 - 1} {
			angles = append(angles, quadrant<<30|rest)
		}
	}
	key, x := [2]uint32{0x55667788, 0x11223344}, make([]float64, 2*groupLen)
	for _, s := range assemblySets(t) {
		for _, u1 := range edges {
			for _, u2 := range angles {
				at := preimage([4]uint32{u1, u1, u2, ^u2}, key)
				if got := Philox(at, key); got != [4]uint32{u1, u1, u2, ^u2} {
					t.Fatalf("Philox makes %x of the counter, want %x and %x", got, u1, u2)
				}
				c := newCounter(0x1122334455667788, at[3])
				c.block, c.words[0], c.words[1] = uint64(at[0]), uint64(at[1]), uint64(at[2])
				normalVectors(s, &c, x)
				for w, u2 := range []uint32{u2, ^u2} {
					first, second := boxMuller(u1, u2)
					if !(math.Abs(x[w]-first) <= 3e-6 && math.Abs(x[groupLen/2+w]-second) <= 3e-6) {
						t.Errorf("%s: bits %#x and %#x make %g and %g, want %g and %g", s.Name(), u1, u2, x[w], x[groupLen/2+w], first, second)
					}
				}
			}
		}
	}
}

// All sets of kernels make the same normals, bit for bit.
func TestNormalsAreTheSameInAssembly(t *testing.T) {
	for _, length := range lengths {
		var want []float64
		for _, s := range assemblySets(t) {
			got := draws(s, 3, 4, length)
			if want == nil {
				want = got
			}
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%s: length %d element %d is %v, want %v", s.Name(), length, i, got[i], want[i])
				}
			}
		}
	}
}

// Plain Go's elements are made of a word each.
func TestPlainNormalsFollowTheirCounters(t *testing.T) {
	const key, stream, vector = 0x1122334455667788, 7, math.MaxUint32 - 1
	n := newNoise(Plain(), key, stream)
	n.counter.words[0] = vector
	x, certain := make([]float64, 1001), 0
	for v := uint64(vector); v < vector+3; v++ {
		n.Normal(x)
		for i, got := range x {
			u := Philox([4]uint32{uint32(i / 4), uint32(v), uint32(v >> 32), stream}, [2]uint32{0x55667788, 0x11223344})
			layer, want := theZiggurat.draw(u[i%4])
			if math.Abs(want) >= theZiggurat.layers[layer].inner {
				continue
			}
			if certain++; got != want {
				t.Fatalf("vector %d element %d is %g, want %g", v, i, got, want)
			}
		}
	}
	if certain < 2900 {
		t.Errorf("%d of 3003 candidates are accepted at once, want 98.8 %%", certain)
	}
}

// The layers' areas must be equal: then the highest one ends at the density's
// top.
func TestZigguratReachesTheTop(t *testing.T) {
	z := theZiggurat
	width := func(i int) float64 { return z.layers[i].unit / zigguratBits }
	area := width(0) * math.Exp(-zigguratTail*zigguratTail/2)
	for i := 1; i < zigguratLayers; i++ {
		if a := width(i) * (z.height[i+1] - z.height[i]); math.Abs(a/area-1) > 1e-10 {
			t.Errorf("layer %d has the area %g, want %g", i, a, area)
		}
	}
}

// limit bounds the z-scores of the statistical tests below. All sets in assembly make the same
// normals, so that some 110 scores differ: one exceeds 5 with the probability 110 × 6e-7 = 6e-5.
// One of four counts beyond ±4.5, Poisson with a mean of 14, exceeds it with 4e-5. That is a false
// alarm at one seed in 10 000; seeds are fixed, so a failure is a bug.
const limit = 5

func score(t *testing.T, what string, z float64) {
	t.Helper()
	if !(math.Abs(z) <= limit) {
		t.Errorf("%s: z-score %.1f, limit %d", what, z, limit)
	}
}

// draws returns vectors of a stream, one after another.
func draws(s Set, stream uint32, vectors, length int) []float64 {
	n := newNoise(s, 42, stream)
	x := make([]float64, vectors*length)
	for i := range vectors {
		n.Normal(x[i*length : (i+1)*length])
	}
	return x
}

func TestMomentsOfNormals(t *testing.T) {
	for _, s := range Sets() {
		x := draws(s, 1, 1000, 1024)
		var m [9]float64
		for _, v := range x {
			p := 1.0
			for k := 1; k < len(m); k++ {
				p *= v
				m[k] += p
			}
		}
		n := float64(len(x))
		// E x^k and E x^2k of the normal law give each mean's deviation.
		moment := []float64{1, 0, 1, 0, 3, 0, 15, 0, 105, 0, 945, 0, 10395, 0, 135135, 0, 2027025}
		for k := 1; k < len(m); k++ {
			sd := math.Sqrt((moment[2*k] - moment[k]*moment[k]) / n)
			score(t, s.Name()+" moment "+string(rune('0'+k)), (m[k]/n-moment[k])/sd)
		}
	}
}

// Counts beyond 2, 3, 4 and 4.5 standard deviations on either side are
// binomial.
func TestTailsOfNormals(t *testing.T) {
	for _, s := range Sets() {
		x := draws(s, 2, 4000, 1024)
		for _, at := range []float64{-4.5, -4, -3, -2, 2, 3, 4, 4.5} {
			count := 0.0
			for _, v := range x {
				if v*math.Copysign(1, at) > math.Abs(at) {
					count++
				}
			}
			p := math.Erfc(math.Abs(at)/math.Sqrt2) / 2
			want := p * float64(len(x))
			score(t, s.Name()+" tail", (count-want)/math.Sqrt(want*(1-p)))
		}
	}
}

// kolmogorov compares numbers with their distribution function. The statistic
// √n·D exceeds 2.7 once in a million seeds (2 exp(−2·2.7²)).
func kolmogorov(t *testing.T, what string, x []float64, cdf func(float64) float64) {
	t.Helper()
	slices.Sort(x)
	d, n := 0.0, float64(len(x))
	for i, v := range x {
		p := cdf(v)
		d = max(d, math.Abs(p-float64(i)/n), math.Abs(p-float64(i+1)/n))
	}
	if z := d * math.Sqrt(n); z > 2.7 {
		t.Errorf("%s: Kolmogorov statistic %.2f", what, z)
	}
}

func normalBelow(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

func TestLawOfNormals(t *testing.T) {
	for _, s := range Sets() {
		kolmogorov(t, s.Name(), draws(s, 3, 1000, 1000), normalBelow)
	}
}

// What a hundredth of plain Go's normals are made by is tested alone, with as
// many draws: the tail's law, on either side, and that of draws that follow
// a rejection, of a candidate that is rejected half the time.
func TestLawOfRareNormals(t *testing.T) {
	n := newNoise(Plain(), 42, 6)
	tail := normalBelow(-zigguratTail)
	candidate := math.Sqrt(-2 * math.Log((theZiggurat.height[1]+theZiggurat.height[2])/2))
	var high, low, next []float64
	for i := range 1_000_000 {
		high = append(high, n.edge(i, 0, 4))
		low = append(low, n.edge(i+1_000_000, 0, -4))
		if x := n.edge(i+2_000_000, 1, candidate); x != candidate {
			next = append(next, x)
		}
	}
	score(t, "rejections", (float64(len(next))-500_000)/500)
	kolmogorov(t, "upper tail", high, func(x float64) float64 { return 1 - normalBelow(-x)/tail })
	kolmogorov(t, "lower tail", low, func(x float64) float64 { return normalBelow(x) / tail })
	kolmogorov(t, "after a rejection", next, normalBelow)
}

// correlation scores the mean product of x and y, and of their squares, whose
// dependence a Box-Muller pair with one radius too many would show.
func correlation(t *testing.T, what string, x, y []float64) {
	t.Helper()
	var c, c2 float64
	for i := range x {
		c += x[i] * y[i]
		c2 += (x[i]*x[i] - 1) * (y[i]*y[i] - 1)
	}
	n := math.Sqrt(float64(len(x)))
	score(t, what, c/n)
	score(t, what+", squares", c2/(2*n)) // Var(x² − 1) = 2
}

// Lanes, streams, keys and steps must be uncorrelated.
func TestCorrelationsOfNormals(t *testing.T) {
	const vectors, length = 500, 1024
	for _, s := range Sets() {
		x := draws(s, 4, vectors, length)
		for _, lag := range []int{1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 48, 63, 64, 65, 128, length} {
			correlation(t, s.Name()+" lag", x[:len(x)-lag], x[lag:])
		}
		correlation(t, s.Name()+" stream", x, draws(s, 5, vectors, length))
		n := newNoise(s, 43, 4)
		y := make([]float64, len(x))
		for i := range vectors {
			n.Normal(y[i*length : (i+1)*length])
		}
		correlation(t, s.Name()+" key", x, y)
	}
}

// The negative control: normals of 1 % too large a scale must be found. Their score is 14.4, give
// or take 1.02: it is below the limit with a probability of 1e-19.
func TestScaleErrorIsFound(t *testing.T) {
	x := draws(Default(), 1, 1000, 1024)
	v := 0.0
	for _, z := range x {
		v += 1.01 * 1.01 * z * z
	}
	n := float64(len(x))
	if z := (v/n - 1) / math.Sqrt(2/n); z < limit {
		t.Errorf("z-score %.1f: the test cannot see a scale error of 1 %%", z)
	}
}

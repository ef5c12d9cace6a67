package kernel

import (
	"math"
	"slices"
	"testing"
)

// Lengths around the ends of groups and turns.
var lengths = []int{1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 97, 127, 128, 129, 200, 1000}

// Every set must give the plain Go normals: radius and angle use 32 random
// bits each, and a wrong bit above float32's resolution, a wrong lane or a
// wrong counter changes a normal by more than the tolerance. That is a few
// units of float32 of the largest normals, near 6: the assembly rounds some
// ten times where plain Go rounds once. AVX-512 and AVX2 agree exactly.
func TestNormalsAgreeBetweenSets(t *testing.T) {
	const tol = 3e-6
	for _, key := range []uint64{0, 0xfedcba9876543210} {
		for _, length := range lengths {
			got := map[string][]float64{}
			for _, s := range Sets() {
				n := newNoise(s, key, 3)
				n.counter.words[0] = math.MaxUint32 - 1 // a carry follows
				x := make([]float64, length)
				for range 4 {
					n.Normal(x)
					got[s.Name()] = append(got[s.Name()], x...)
				}
			}
			for i, want := range got["generic"] {
				for name, x := range got {
					if d := math.Abs(x[i] - want); !(d <= tol) {
						t.Fatalf("%s: length %d element %d is %g, in plain Go %g", name, length, i, x[i], want)
					}
				}
				if a, b := got["avx512"], got["avx2"]; a != nil && b != nil && a[i] != b[i] {
					t.Fatalf("length %d element %d: AVX-512 %v, AVX2 %v", length, i, a[i], b[i])
				}
			}
		}
	}
}

// The layout of counters is a promise: results in a store depend on it.
func TestNormalsFollowTheirCounters(t *testing.T) {
	const key, stream, vector = 0x1122334455667788, 7, 5
	x := make([]float64, 3*groupLen)
	n := newNoise(&Set{"generic", generic}, key, stream)
	n.counter.words[0] = vector
	n.Normal(x)
	for b := range uint32(3 * groupBlocks) {
		u := Philox([4]uint32{b, vector, 0, stream}, [2]uint32{0x55667788, 0x11223344})
		for w := range 2 {
			first, second := boxMuller(u[w], u[2+w])
			i := int(b/groupBlocks)*groupLen + 2*int(b%groupBlocks) + w
			if x[i] != first || x[i+groupLen/2] != second {
				t.Fatalf("block %d word %d is not the pair at %d", b, w, i)
			}
		}
	}
}

func TestBoxMullerAtTheEdges(t *testing.T) {
	for _, c := range []struct {
		u1, u2 uint32
		x, y   float64
	}{
		{math.MaxUint32, 0, 0, 0}, // u rounds to 1
		{0, 0, math.Sqrt(64 * math.Ln2), 0},
		{1, 1 << 31, -math.Sqrt(64 * math.Ln2), 0},
		{1, 1 << 30, 0, math.Sqrt(64 * math.Ln2)},
		{1, 3 << 30, 0, -math.Sqrt(64 * math.Ln2)},
	} {
		// float32 has 7 digits.
		if x, y := boxMuller(c.u1, c.u2); math.Abs(x-c.x) > 1e-6 || math.Abs(y-c.y) > 1e-6 {
			t.Errorf("boxMuller(%x, %x) = %g, %g, want %g, %g", c.u1, c.u2, x, y, c.x, c.y)
		}
	}
}

// limit bounds the z-scores of the statistical tests below: of the some 200
// standard-normal scores that they compute, one exceeds 5 with probability
// 200 × 6e-7 = 1e-4. Seeds are fixed, so a failure is a bug.
const limit = 5

func score(t *testing.T, what string, z float64) {
	t.Helper()
	if !(math.Abs(z) <= limit) {
		t.Errorf("%s: z-score %.1f, limit %d", what, z, limit)
	}
}

// draws returns vectors of a stream, one after another.
func draws(s *Set, stream uint32, vectors, length int) []float64 {
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

// Counts beyond 2, 3, 4 and 5 standard deviations on either side are
// binomial.
func TestTailsOfNormals(t *testing.T) {
	for _, s := range assemblySets(t) {
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

// The Kolmogorov statistic √n·D of a million normals exceeds 2.7 once in a
// million seeds (2 exp(−2·2.7²)).
func TestLawOfNormals(t *testing.T) {
	for _, s := range assemblySets(t) {
		x := draws(s, 3, 1000, 1000)
		slices.Sort(x)
		d, n := 0.0, float64(len(x))
		for i, v := range x {
			p := math.Erfc(-v/math.Sqrt2) / 2
			d = max(d, math.Abs(p-float64(i)/n), math.Abs(p-float64(i+1)/n))
		}
		if z := d * math.Sqrt(n); z > 2.7 {
			t.Errorf("%s: Kolmogorov statistic %.2f", s.Name(), z)
		}
	}
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
	s := Default()
	const vectors, length = 500, 1024
	x := draws(s, 4, vectors, length)
	for _, lag := range []int{1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 48, 63, 64, 65, 128, length} {
		correlation(t, "lag", x[:len(x)-lag], x[lag:])
	}
	correlation(t, "stream", x, draws(s, 5, vectors, length))
	n := newNoise(s, 43, 4)
	y := make([]float64, len(x))
	for i := range vectors {
		n.Normal(y[i*length : (i+1)*length])
	}
	correlation(t, "key", x, y)
}

// The negative control: normals of 1 % too large a scale must be found.
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

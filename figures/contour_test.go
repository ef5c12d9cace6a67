package figures

import (
	"math"
	"testing"
)

// bell is the log-density −r²/2 on n × n points of [−5, 5]².
func bell(n int) *density {
	g := &density{}
	for i := range n {
		g.X = append(g.X, -5+10*float64(i)/float64(n-1))
	}
	g.Y = g.X
	for _, y := range g.Y {
		for _, x := range g.X {
			g.Value = append(g.Value, -(x*x+y*y)/2)
		}
	}
	return g
}

// For a standard normal in two dimensions, P(r < R) = 1 − exp(−R²/2): the
// level that encloses a share p is ln(1 − p).
func TestMassLevelsOfANormal(t *testing.T) {
	shares := []float64{0.1, 0.5, 0.9, 0.99}
	for i, got := range bell(201).massLevels(shares) {
		want := math.Log(1 - shares[i])
		// The sum over cells of 0.05 × 0.05 is off by about a ring of cells:
		// 2πR·0.05 of density exp(−R²/2)/2π, a relative 0.05·R of 1 − p.
		if tolerance := 0.05 * math.Sqrt(-2*want); math.Abs(got-want) > tolerance {
			t.Errorf("level of share %v is %v, want %v ± %v", shares[i], got, want, tolerance)
		}
	}
}

func TestContourIsTheCircle(t *testing.T) {
	s := bell(101).contour(-2, style{}) // radius 2
	var length float64
	for i := range s.X {
		if math.IsNaN(s.X[i]) {
			continue
		}
		// Linear interpolation over a step of 0.1 errs by curvature·step²/8.
		if r := math.Hypot(s.X[i], s.Y[i]); math.Abs(r-2) > 0.005 {
			t.Fatalf("a point of the contour has radius %v, want 2", r)
		}
		if i > 0 && !math.IsNaN(s.X[i-1]) {
			length += math.Hypot(s.X[i]-s.X[i-1], s.Y[i]-s.Y[i-1])
		}
	}
	if want := 4 * math.Pi; math.Abs(length-want) > 0.01*want { // chords are shorter than arcs
		t.Errorf("contour of length %v, want %v", length, want)
	}
}

func TestBilinearMeetsTheGrid(t *testing.T) {
	g := bell(11)
	if got, want := g.bilinear(3, 7), g.Value[7*11+3]; got != want {
		t.Errorf("at a grid point %v, want %v", got, want)
	}
	if got, want := g.bilinear(10, 10), g.Value[120]; got != want {
		t.Errorf("at the last corner %v, want %v", got, want)
	}
	if got, want := g.bilinear(2.5, 0), (g.Value[2]+g.Value[3])/2; math.Abs(got-want) > 1e-12 {
		t.Errorf("half way %v, want %v", got, want)
	}
}

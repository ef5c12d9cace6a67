package models

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// list is a batch of rows with weights.
type list struct {
	index   []int
	weights []float64
	scale   float64
}

// listsOf are lists of rows in any order, some repeated, of lengths that are
// computed in different ways.
func listsOf(r *rand.Rand, n int) []list {
	lists := []list{{[]int{n - 1}, nil, 2.5}, {[]int{0, 0}, []float64{0.3, 1.7}, 1}, {nil, nil, 3}}
	for _, length := range []int{5, 8, 23, n} {
		l := list{scale: 1.25}
		for range min(length, n) {
			l.index, l.weights = append(l.index, r.IntN(n)), append(l.weights, r.ExpFloat64())
		}
		lists = append(lists, l)
	}
	return lists
}

// The derivatives of a list are the prior's plus the weighted sum of its rows'
// own, each taken from another target, by their numbers in the data, whatever
// the arrangement in force.
func TestListsAreWeightedSumsOfTheirRows(t *testing.T) {
	eachGatherer(t, func(t *testing.T, s subject, tol float64, r *rand.Rand) {
		target, alone := s.on(t, s.split), s.on(t, s.split)
		n, dim := target.Rows(), target.Dim()
		target.Arrange(r.Perm(n))
		theta, v := normals(r, dim), normals(r, dim)
		for _, l := range listsOf(r, n) {
			target.(Gatherer).Gather(l.index, l.weights)
			rows := Rows{Lo: n, Hi: n + len(l.index), Scale: l.scale}
			for what, derive := range map[string]func(target Hessian, dst []float64, rows Rows){
				"gradient": func(target Hessian, dst []float64, rows Rows) { target.Gradient(dst, theta, rows) },
				"product":  func(target Hessian, dst []float64, rows Rows) { target.HessianVector(dst, theta, v, rows) },
			} {
				got, want, row, prior := make([]float64, dim), make([]float64, dim), make([]float64, dim), make([]float64, dim)
				derive(alone, prior, Rows{Lo: 0, Hi: 0, Scale: 1})
				copy(want, prior)
				size := norm(prior)
				for j, i := range l.index {
					derive(alone, row, Rows{Lo: i, Hi: i + 1, Scale: 1})
					w := l.scale
					if l.weights != nil {
						w *= l.weights[j]
					}
					floats.AddScaled(want, w, shifted(row, -1, prior))
					size += w * norm(row)
				}
				derive(target, got, rows)
				if d := distance(got, want); !(d <= tol*size) {
					t.Errorf("%d rows: %s is %.3g away from the sum (size %.3g)", len(l.index), what, d, size)
				}
			}
		}
	})
}

// eachGatherer runs f as a subtest on every model that takes lists, which is
// all of them.
func eachGatherer(t *testing.T, f func(t *testing.T, s subject, tol float64, r *rand.Rand)) {
	for i, s := range subjects(t) {
		precisions := map[string]float64{s.o.Precision: 1e-12}
		if s.model == "bnn" {
			precisions["float32"] = 1e-5
		}
		for p, tol := range precisions {
			s.o.Precision = p
			t.Run(s.name+" "+p, func(t *testing.T) { f(t, s, tol, rand.New(rand.NewPCG(2, uint64(i)))) })
		}
	}
}

// The gradient of a list is the derivative of its weighted potential, to the
// errors of differences that TestGradientIsDerivativeOfPotential states.
func TestGradientOfAListIsDerivativeOfItsPotential(t *testing.T) {
	eachSubject(t, func(t *testing.T, s subject, r *rand.Rand) {
		target := s.on(t, s.split)
		n, dim := target.Rows(), target.Dim()
		l := list{[]int{n - 1, 0}, []float64{0.4, 3}, 1.5}
		target.(Gatherer).Gather(l.index, l.weights)
		var terms []func([]float64) float64
		for j, i := range l.index {
			terms = append(terms, batchPotential(t, s, []int{i}, Rows{Lo: 0, Hi: 1, Scale: l.scale * l.weights[j]}))
		}
		prior := batchPotential(t, s, nil, Rows{})
		u := func(theta []float64) float64 { return terms[0](theta) + terms[1](theta) - prior(theta) }
		theta, v, g := normals(r, dim), normals(r, dim), make([]float64, dim)
		target.Gradient(g, theta, Rows{Lo: n, Hi: n + 2, Scale: l.scale})
		got, want := dot(g, v), slope(u, theta, v, 1e-5)
		if size := math.Abs(u(theta)) + math.Abs(want); math.Abs(got-want) > 1e-7*size {
			t.Errorf("gradient along v is %.12g, differences give %.12g (size %.3g)", got, want, size)
		}
	})
}

// The affine force of a list is its gradient, and its matrix symmetric to the
// bit.
func TestAffineForceOfAList(t *testing.T) {
	eachSubject(t, func(t *testing.T, s subject, r *rand.Rand) {
		target, ok := s.on(t, s.split).(LinearGaussian)
		if !ok {
			return
		}
		n, dim := target.Rows(), target.Dim()
		l := listsOf(r, n)[5]
		target.(Gatherer).Gather(l.index, l.weights)
		rows := Rows{Lo: n, Hi: n + len(l.index), Scale: l.scale}
		theta, g := normals(r, dim), make([]float64, dim)
		target.Gradient(g, theta, rows)
		p, shift := target.Affine(rows)
		want := make([]float64, dim)
		for i := range dim {
			want[i] = dot(p[i*dim:(i+1)*dim], theta) - shift[i]
			for j := range i {
				if p[i*dim+j] != p[j*dim+i] {
					t.Fatalf("element %d, %d of the matrix is %v, its mirror image %v", i, j, p[i*dim+j], p[j*dim+i])
				}
			}
		}
		if d := distance(g, want); !(d <= 1e-12*norm(want)*math.Sqrt(float64(dim))) {
			t.Errorf("gradient is %.3g away from Pθ − s (%.3g)", d, norm(want))
		}
	})
}

// A list leaves the rows in their arrangement alone, and an arrangement the
// list: to the last bit.
func TestListsAndArrangementsDoNotMeet(t *testing.T) {
	eachGatherer(t, func(t *testing.T, s subject, _ float64, r *rand.Rand) {
		target := s.on(t, s.split)
		n, dim := target.Rows(), target.Dim()
		order, theta := r.Perm(n), normals(r, dim)
		gradient := func(rows Rows) []float64 {
			g := make([]float64, dim)
			target.Gradient(g, theta, rows)
			return g
		}
		target.Arrange(order)
		u, batch := target.Potential(theta), gradient(Rows{Lo: n / 3, Hi: n, Scale: 2})
		target.(Gatherer).Gather([]int{n - 1, 0}, []float64{2, 5})
		if target.Potential(theta) != u || !slices.Equal(gradient(Rows{Lo: n / 3, Hi: n, Scale: 2}), batch) || target.Rows() != n {
			t.Error("a list changed the potential, a batch, or the number of rows")
		}
		listed := gradient(Rows{Lo: n, Hi: n + 2, Scale: 1})
		target.Arrange(nil)
		if !slices.Equal(gradient(Rows{Lo: n, Hi: n + 2, Scale: 1}), listed) {
			t.Error("an arrangement changed a list")
		}
	})
}

func TestListsAllocateNothing(t *testing.T) {
	eachGatherer(t, func(t *testing.T, s subject, _ float64, r *rand.Rand) {
		target := s.on(t, s.split)
		n, dim := target.Rows(), target.Dim()
		theta, g := normals(r, dim), make([]float64, dim)
		for _, l := range listsOf(r, n) {
			rows := Rows{Lo: n, Hi: n + len(l.index), Scale: l.scale}
			if a := testing.AllocsPerRun(10, func() { target.(Gatherer).Gather(l.index, l.weights); target.Gradient(g, theta, rows) }); a != 0 {
				t.Errorf("%d rows: %v allocations, want none", len(l.index), a)
			}
		}
	})
}

func TestBadListsPanic(t *testing.T) {
	eachGatherer(t, func(t *testing.T, s subject, _ float64, r *rand.Rand) {
		target := s.on(t, s.split)
		n, dim := target.Rows(), target.Dim()
		theta, g := normals(r, dim), make([]float64, dim)
		target.(Gatherer).Gather([]int{0}, nil)
		for what, f := range map[string]func(){
			"more rows than there are": func() { target.(Gatherer).Gather(make([]int, n+1), nil) },
			"weights of other rows":    func() { target.(Gatherer).Gather([]int{0}, []float64{1, 2}) },
			"a row beyond the data":    func() { target.(Gatherer).Gather([]int{n}, nil) },
			"rows beyond the list":     func() { target.Gradient(g, theta, Rows{Lo: n, Hi: n + 2, Scale: 1}) },
			"rows on both sides":       func() { target.Gradient(g, theta, Rows{Lo: n - 1, Hi: n + 1, Scale: 1}) },
		} {
			if !panics(f) {
				t.Errorf("%s: no panic", what)
			}
		}
	})
}

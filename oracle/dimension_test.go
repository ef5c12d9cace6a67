package oracle

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"hambench/integrators/noise"
	"hambench/internal/long"
	"hambench/models"
	"hambench/models/datasets"
)

// The table of dimensions on the page of the theory: linear models of d features on N = 4d rows
// of independent normals, σ² = 1, in batches of a fixed number and of a fixed size. Of the law of
// heat at C = ω it states the rise of the temperature, ηV/(2C), at ηω = 0.1, and up to 128
// dimensions what exact second moments say of it; numbers may be off by the rounding of machines.
func TestLongTableOfDimensions(t *testing.T) {
	long.Test(t)
	page, err := os.ReadFile("../docs/theory.md")
	if err != nil {
		t.Fatal(err)
	}
	for d := 16; d <= 1024; d *= 2 {
		rows, rng := 4*d, rand.New(rand.NewPCG(7, uint64(d)))
		split := &datasets.Split{Features: d - 1, NoiseVariance: 1, TestX: make([]float64, d-1), TestY: []float64{0}}
		for range rows {
			y := rng.NormFloat64()
			for range d - 1 {
				x := rng.NormFloat64()
				split.TrainX, y = append(split.TrainX, x), y+x
			}
			split.TrainY = append(split.TrainY, y)
		}
		target, err := models.Builtin().New("linear", split, models.Options{})
		if err != nil {
			t.Fatal(err)
		}
		theta := make([]float64, d)
		law, err := NewAnalytic("linear", target)
		if err != nil {
			t.Fatal(err)
		}
		law.DrawStart(theta, noise.New(1, noise.StreamStart).Rand())
		s, ok := ScalesAt(target, theta)
		if !ok {
			t.Fatalf("d = %d: no scales", d)
		}
		heat := func(k int) float64 { return 0.1 * s.Spread * float64(k-1) / (2 * s.Omega * s.Omega) }
		exact := ""
		if d <= 128 {
			exact = fmt.Sprintf("%.2g", riseOfEnergy(split, 8, 0.1/s.Omega, s.Omega))
		}
		want := fmt.Sprintf("| %d | %d | %.0f | %.3f | %d | %.2g | %s |", d, rows, s.Omega, heat(8), rows/8, heat(rows/8), exact)
		want = strings.Replace(want, "|  |", "| |", 1)
		if !strings.Contains(string(page), "\n"+want+"\n") {
			t.Errorf("docs/theory.md lacks the line %s", want)
		}
	}
}

// riseOfEnergy is by how much the mean potential energy of leapfrog above the minimum exceeds
// d/2, relative to it, on a linear model with a prior N(0, I), in batches of some rows drawn
// independently: the second moments of position and momentum are iterated until they stay.
func riseOfEnergy(split *datasets.Split, batch int, step, friction float64) float64 {
	d, n := split.Features+1, len(split.TrainY)
	x, y := mat.NewDense(n, d, nil), mat.NewVecDense(n, split.TrainY)
	for i := range n {
		x.SetRow(i, append(slices.Clone(split.TrainX[i*split.Features:(i+1)*split.Features]), 1))
	}
	var p mat.Dense // the Hessian
	p.Mul(x.T(), x)
	for j := range d {
		p.Set(j, j, p.At(j, j)+1)
	}
	var mu, xy, rest mat.VecDense
	xy.MulVec(x.T(), y)
	if err := mu.SolveVec(&p, &xy); err != nil {
		panic(err)
	}
	rest.MulVec(x, &mu)
	rest.SubVec(&rest, y)
	// The covariance of a batch's gradient is that at the minimum and, off it, E P_i S P_i less
	// P S P, S the second moment of the position.
	k := float64(n / batch)
	eachBatch := func(add func(rows mat.Matrix, at int)) {
		for at := 0; at < n; at += batch {
			add(x.Slice(at, at+batch, 0, d), at)
		}
	}
	var still mat.Dense
	eachBatch(func(rows mat.Matrix, at int) {
		var g mat.VecDense
		g.MulVec(rows.T(), rest.SliceVec(at, at+batch))
		g.AddScaledVec(&mu, k, &g)
		var gg mat.Dense
		gg.Outer(1/k, &g, &g)
		if still.IsEmpty() {
			still.ReuseAs(d, d)
		}
		still.Add(&still, &gg)
	})
	noise := func(s mat.Matrix) *mat.Dense {
		xs, m, sum := mat.NewDense(n, d, nil), mat.NewDense(n, d, nil), mat.NewDense(d, d, nil)
		xs.Mul(x, s)
		eachBatch(func(rows mat.Matrix, at int) {
			var c, b mat.Dense
			c.Mul(xs.Slice(at, at+batch, 0, d), rows.T())
			b.Mul(&c, rows)
			m.Slice(at, at+batch, 0, d).(*mat.Dense).Copy(&b)
		})
		sum.Mul(x.T(), m) // Σ X_iᵀ X_i S X_iᵀ X_i
		var xx, xxs, part mat.Dense
		xx.Mul(x.T(), x)
		xxs.Mul(&xx, s)
		part.Mul(&xxs, &xx)
		sum.Scale(k, sum)
		sum.Sub(sum, &part) // the prior's part is the same in all batches
		sum.Add(sum, &still)
		return sum
	}
	var a mat.Dense // position by position, position by momentum, momentum by momentum
	if err := a.Inverse(&p); err != nil {
		panic(err)
	}
	c, r := mat.NewDense(d, d, nil), mat.NewDense(d, d, nil)
	for j := range d {
		r.Set(j, j, 1)
	}
	sum := func(terms ...any) *mat.Dense { // weight, matrix, …
		out := mat.NewDense(d, d, nil)
		for i := 0; i < len(terms); i += 2 {
			var t mat.Dense
			t.Scale(terms[i].(float64), terms[i+1].(mat.Matrix))
			out.Add(out, &t)
		}
		return out
	}
	drift := func() {
		h := step / 2
		a.Copy(sum(1., &a, h, c, h, c.T(), h*h, r))
		c = sum(1., c, h, r)
	}
	last := math.Inf(1)
	for i := 1; ; i++ {
		drift()
		var pc, pa, pap mat.Dense
		pc.Mul(&p, c)
		pa.Mul(&p, &a)
		pap.Mul(&pa, &p)
		q := 1 - step*friction
		r = sum(q*q, r, -step*q, &pc, -step*q, pc.T(), step*step, &pap, step*step, noise(&a))
		for j := range d {
			r.Set(j, j, r.At(j, j)+2*friction*step)
		}
		c = sum(q, c, -step, pa.T())
		drift()
		if i%100 == 0 {
			var pa mat.Dense
			pa.Mul(&p, &a)
			rise := mat.Trace(&pa)/float64(d) - 1
			if math.Abs(rise/last-1) < 1e-3 || i > 5000 {
				return rise
			}
			last = rise
		}
	}
}

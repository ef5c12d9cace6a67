// Command scheme puts two mini-batch schemes of its own through hambench.
//
// "importance" draws rows with probabilities of its own, independently, and
// weighs each by the inverse of its probability, so that the gradient stays
// unbiased. "coin" keeps a fixed partition and goes through its batches in
// one order or in the reverse, by the toss of a coin every epoch: its law is a
// list of two words, which certify averages over exactly.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/bench/sweep"
	"hambench/certify"
	"hambench/chain"
	"hambench/chain/minibatch"
	"hambench/figures"
	"hambench/integrators"
	"hambench/models"
	"hambench/models/datasets"
)

// importance draws the rows of a data set with probabilities in proportion to
// chance, which has one positive number a row.
func importance(chance func(row int) float64) minibatch.Scheme {
	return minibatch.Scheme{
		Name:  "importance",
		About: "rows drawn independently with unequal probabilities, weighted by their inverse",
		Lists: true, // its batches are lists of rows, not ranges
		Stream: func(rows, k int, rng *rand.Rand) minibatch.Stream {
			size := max(1, rows/k)
			s := &drawn{rng: rng, list: make([]int, size), weights: make([]float64, size)}
			for i := range rows {
				s.order = append(s.order, i)
				s.cumulative = append(s.cumulative, chance(i))
			}
			floats.CumSum(s.cumulative, s.cumulative)
			return s
		},
	}
}

// drawn hands out the batches of importance. It reuses its slices.
type drawn struct {
	rng        *rand.Rand
	order      []int // the data as they are
	cumulative []float64
	list       []int
	weights    []float64
}

// Next draws B of N rows. The weight of row i is 1/(N p_i): with the scale N/B
// the expectation of the batch's gradient is that of all rows.
func (s *drawn) Next() minibatch.Batch {
	n, total := len(s.order), s.cumulative[len(s.order)-1]
	for j := range s.list {
		i := min(sort.SearchFloat64s(s.cumulative, s.rng.Float64()*total), n-1)
		chance := s.cumulative[i]
		if i > 0 {
			chance -= s.cumulative[i-1]
		}
		s.list[j], s.weights[j] = i, total/(float64(n)*chance)
	}
	return minibatch.Batch{Index: -1, List: s.list, Weights: s.weights, Scale: float64(n) / float64(len(s.list))}
}

func (s *drawn) Arrangement() []int { return s.order }

// coin goes through the batches 0 … K−1 forwards or backwards. The errors of
// first order in the step have opposite signs in the two, so integrators keep
// order 2: that is its Cap, and certify tests it.
var coin = minibatch.Scheme{
	Name:  "coin",
	About: "fixed partition, one order or its reverse, by a coin's toss every epoch",
	Index: func(k int, rng *rand.Rand) minibatch.Index { return &tossed{k: k, rng: rng} },
	Visits: minibatch.Words{
		Length: func(k int) int { return k },
		List: func(k int) []minibatch.Word {
			forwards := make([]int, k)
			for i := range forwards {
				forwards[i] = i
			}
			backwards := slices.Clone(forwards)
			slices.Reverse(backwards)
			return minibatch.EquallyLikely([][]int{forwards, backwards})
		},
	},
	Cap: minibatch.Cap{Marginal: 2, Joint: 2},
}

// tossed hands out coin's batch numbers.
type tossed struct {
	k, at   int
	reverse bool
	rng     *rand.Rand
}

func (t *tossed) Next() int {
	if t.at == 0 {
		t.reverse = t.rng.IntN(2) == 0
	}
	i := t.at
	if t.reverse {
		i = t.k - 1 - i
	}
	t.at = (t.at + 1) % t.k
	return i
}

// decide prints the exact orders of two integrators under coin, and under one
// order for ever.
func decide(ctx context.Context, w io.Writer) ([]certify.Row, error) {
	schemes, err := certify.Schemes("cyclic")
	if err != nil {
		return nil, err
	}
	o := certify.Options{Problem: certify.Builtin()[0], Schemes: append(schemes, coin)}
	for _, name := range []string{"baoab", "lietrotter"} {
		m, err := integrators.Builtin().Lookup(name)
		if err != nil {
			return nil, err
		}
		o.Integrators = append(o.Integrators, m)
	}
	rows, err := certify.Run(ctx, o)
	if err != nil {
		return nil, err
	}
	return rows, certify.WriteTable(w, rows)
}

// question is the study, as a file states it.
const question = `
title = "Mini-batch schemes of one's own beside built-in ones"
[vary]
scheme = ["reshuffle", "coin", "iid", "importance"]
step = [0.01, 0.02, 0.05]
[fix]
data = "linear"
integrator = "baoab"
batch = 32
samples = 100
`

// compare runs chains under the two schemes and two built-in ones.
func compare(ctx context.Context, w io.Writer, dir string) error {
	source := models.NewSource(nil, &datasets.Resolver{Offline: true})
	split, err := source.Split(ctx, "linear", 0)
	if err != nil {
		return err
	}
	// A row with a large target pulls harder: it is drawn more often.
	often := importance(func(row int) float64 { return 0.5 + split.TrainY[row]*split.TrainY[row] })
	chains := chain.Registries{Schemes: append(minibatch.Builtin(), often, coin)}

	file, err := bench.Parse("schemes", []byte(question), bench.Parts{Chains: chains})
	if err != nil {
		return err
	}
	study, err := file.Study(bench.Profile{})
	if err != nil {
		return err
	}
	plans, err := (&bench.Keys{Source: source, Chains: chains}).Resolve(ctx, "", []bench.Study{study})
	if err != nil {
		return err
	}
	s, err := store.Open(filepath.Join(dir, "store"), sweep.Here())
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := (&sweep.Runner{Store: s, Source: source, Parts: file.Parts, Made: sweep.MadeHere()}).Run(ctx, plans); err != nil {
		return err
	}
	out, err := figures.Drawer{Results: bench.Results{Store: s}, Dir: dir}.Draw(plans[0])
	if err != nil {
		return err
	}
	fmt.Fprint(w, out.Text)
	return nil
}

func main() {
	dir := "out-scheme"
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	ctx := context.Background()
	if _, err := decide(ctx, os.Stdout); err != nil {
		log.Fatal(err)
	}
	if err := compare(ctx, os.Stdout, dir); err != nil {
		log.Fatal(err)
	}
	fmt.Println("figure:", filepath.Join(dir, "schemes.png"))
}

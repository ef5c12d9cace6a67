package bench

import (
	"slices"
	"strings"
	"testing"

	"hambench/oracle"
)

// What Cover lists for a shard is what a run of the shard computes: after
// each, its part is empty, and at the end so is the whole. The choice of
// smallRun needs three cells, one after the other, all in one shard.
func TestCoverFollowsTheShards(t *testing.T) {
	const shards = 3
	dir := t.TempDir()
	runSmall(t, dir, func(r *Runner) { r.OraclesOnly = true })
	empty := Cover(smallRun(), shards, openStore(t, dir).Get)
	if empty.Cells != smallCells-smallBroken || len(slices.Concat(empty.Missing...)) != empty.Cells {
		t.Errorf("empty store: %d cells, %d missing; want %d: of the choice one", empty.Cells, len(slices.Concat(empty.Missing...)), smallCells-smallBroken)
	}
	for i := range shards {
		s, _ := runSmall(t, dir, func(r *Runner) { r.Shard = Shard{i, shards} })
		for at, missing := range Cover(smallRun(), shards, s.Get).Missing {
			if want := at > i; (len(missing) > 0) != want {
				t.Errorf("after shard %d: %d cells of shard %d are missing", i, len(missing), at)
			}
		}
		s.Close()
	}
	// A choice that has begun stays with the shard of its first cell.
	choice := smallRun()[0].Choices[0]
	s := openStore(t, dir)
	without := func(key string) (Result, bool) {
		if key == choice[1].Key() {
			return Result{}, false
		}
		return s.Get(key)
	}
	cover := Cover(smallRun(), shards, without)
	if at := ShardOf(choice[0].Key(), shards); len(cover.Missing[at]) != 1 || cover.Missing[at][0] != choice[1] {
		t.Errorf("the second cell of the choice is missing: shard %d lists %v", at, cover.Missing[at])
	}
	if same := Cover(append(smallRun(), smallRun()...), shards, s.Get); same.Cells != smallCells-smallBroken {
		t.Errorf("experiments that share all cells count %d of them, want %d", same.Cells, smallCells-smallBroken)
	}
}

// Oracles are dealt out: each to one shard, and the shares differ by one at
// most.
func TestOraclesAreDealtOut(t *testing.T) {
	paper, err := LookupProfile("paper")
	if err != nil {
		t.Fatal(err)
	}
	specs := Oracles(Experiments(paper))
	if len(specs) != 6*paper.Splits {
		t.Errorf("%d oracles, want those of 6 data sets and %d splits", len(specs), paper.Splits)
	}
	for _, n := range []int{1, 4, len(specs)} {
		holders := make([]int, len(specs))
		for index := range n {
			share := 0
			for i := range specs {
				if (Shard{index, n}).Deals(i) {
					holders[i]++
					share++
				}
			}
			if share < len(specs)/n || share > len(specs)/n+1 {
				t.Errorf("shard %d of %d has %d oracles of %d", index, n, share, len(specs))
			}
		}
		if slices.ContainsFunc(holders, func(h int) bool { return h != 1 }) {
			t.Errorf("%d shards: oracles are held by %v shards, want 1 each", n, holders)
		}
	}
}

// Without oracles and with NoOracles the cells that need one fail at once,
// the others are computed, and no oracle is built.
func TestNoOraclesLeavesOutWhatNeedsThem(t *testing.T) {
	s := openStore(t, t.TempDir())
	r := &Runner{Store: s, Source: wellSource{}, Workers: 2, NoOracles: true}
	sum, err := r.Run(t.Context(), smallRun())
	if err == nil || sum.OraclesBuilt != 0 || s.HasReference(smallRun()[0].Oracles[0].Key()) {
		t.Fatalf("%+v, %v; want failures and no oracle", sum, err)
	}
	needOne := 0
	for _, c := range append(smallRun()[0].Cells, smallRun()[0].Choices[0][0]) {
		if c.Oracle != "" && c.Oracle != Analytic {
			needOne++
		}
	}
	if len(sum.Failures) != needOne || sum.Computed != sum.Cells-needOne {
		t.Errorf("%d failures, %d of %d cells computed; want %d failures and all others", len(sum.Failures), sum.Computed, sum.Cells, needOne)
	}
	for _, f := range sum.Failures {
		if !strings.Contains(f.Err.Error(), "needs the oracle of wells, split 0") {
			t.Errorf("failure %v", f.Err)
		}
	}
	// With the oracle there, the same run is complete.
	build := &Runner{Store: s, Source: wellSource{}, Workers: 2, OraclesOnly: true}
	if _, err := build.Run(t.Context(), []Experiment{{Oracles: []oracle.Spec{smallRun()[0].Oracles[0]}}}); err != nil {
		t.Fatal(err)
	}
	if sum, err := r.Run(t.Context(), smallRun()); err != nil || sum.Computed != needOne+smallBroken {
		t.Errorf("%+v, %v; want the %d others", sum, err, needOne+smallBroken)
	}
}

package sweep

import (
	"hambench/bench"
	"hambench/store"
	"slices"
	"strings"
	"testing"
)

// missing are the cells that a store lacks, by shard of n, and how many it needs.
func missing(plans []bench.Plan, n int, s *store.Store) (lacking [][]Job, needed int) {
	lacking = make([][]Job, n)
	for _, j := range Jobs(plans, Shard{}, s) {
		if j.Kind == store.Result {
			needed++
			if !j.Have {
				lacking[j.Shard(n)] = append(lacking[j.Shard(n)], j)
			}
		}
	}
	return lacking, needed
}

// What Jobs lists for a shard is what a run of the shard computes: after
// each, its part is empty, and at the end so is the whole. The choice of
// smallRun needs three cells, one after the other, all in one shard.
func TestJobsFollowTheShards(t *testing.T) {
	const shards = 3
	dir := t.TempDir()
	runSmall(t, dir, func(r *Runner) { r.ReferencesOnly = true })
	lacking, needed := missing(smallRun(), shards, openStore(t, dir))
	if all := len(slices.Concat(lacking...)); needed != smallCells-smallBroken || all != needed {
		t.Errorf("empty store: %d cells, %d missing; want %d: of the choice one", needed, all, smallCells-smallBroken)
	}
	for i := range shards {
		s, _ := runSmall(t, dir, func(r *Runner) { r.Shard = Shard{i, shards} })
		lacking, _ := missing(smallRun(), shards, s)
		for at, list := range lacking {
			if want := at > i; (len(list) > 0) != want {
				t.Errorf("after shard %d: %d cells of shard %d are missing", i, len(list), at)
			}
		}
		s.Close()
	}
	// A choice that has begun stays with the shard of its first cell.
	choice := smallRun()[0].Choices[0]
	begun := openStore(t, t.TempDir())
	if _, err := (&Runner{Store: begun, Source: wellSource{}}).Run(t.Context(), planned(bench.Study{ID: "begun", References: smallRun()[0].References, Cells: slices.Clone(choice[:1])})); err != nil {
		t.Fatal(err)
	}
	lacking, _ = missing(planned(bench.Study{Choices: smallRun()[0].Choices}), shards, begun)
	if at := ShardOf(choice[0].Key, shards); len(lacking[at]) != 1 || lacking[at][0].Key != choice[1].Key {
		t.Errorf("the second cell of the choice is missing: shard %d lists %v", at, lacking[at])
	}
	if _, needed := missing(append(smallRun(), smallRun()...), shards, openStore(t, dir)); needed != smallCells {
		t.Errorf("studies that share all cells count %d of them, want %d", needed, smallCells)
	}
}

// A study's choice goes on although another study lists its first cell.
func TestChoicesThatShareCellsGoOn(t *testing.T) {
	run := smallRun()[0]
	first := planned(bench.Study{ID: "first", References: run.References, Cells: slices.Clone(run.Choices[0][:1])})
	plans := append(first, planned(bench.Study{ID: "second", References: run.References, Choices: run.Choices})...)
	r := &Runner{Store: openStore(t, t.TempDir()), Source: wellSource{}}
	sum, err := r.Run(t.Context(), plans)
	if err != nil || sum.Cells != (Tally{smallBroken + 1, smallBroken + 1, 0}) {
		t.Errorf("%+v, %v; want all %d cells of the choice", sum, err, smallBroken+1)
	}
}

// References are dealt out: each to one shard, and the shares differ by one at
// most.
func TestReferencesAreDealtOut(t *testing.T) {
	specs := bench.References(unresolved(t, "paper"))
	if len(specs) != 6*5 {
		t.Errorf("%d references, want those of 6 data sets and 5 splits", len(specs))
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
				t.Errorf("shard %d of %d has %d references of %d", index, n, share, len(specs))
			}
		}
		if slices.ContainsFunc(holders, func(h int) bool { return h != 1 }) {
			t.Errorf("%d shards: references are held by %v shards, want 1 each", n, holders)
		}
	}
}

// Without references and with NoReferences the cells that need one fail at
// once, the others are computed, and none is made.
func TestNoReferencesLeavesOutWhatNeedsThem(t *testing.T) {
	s := openStore(t, t.TempDir())
	r := &Runner{Store: s, Source: wellSource{}, Workers: 2, NoReferences: true}
	sum, err := r.Run(t.Context(), smallRun())
	if err == nil || sum.References.Computed != 0 || len(s.Keys(store.Reference)) > 0 {
		t.Fatalf("%+v, %v; want failures and no reference", sum, err)
	}
	needOne := 0
	for _, j := range append(smallRun()[0].Cells, smallRun()[0].Choices[0][0]) {
		if o := j.Cell.Oracle; o != "" && o != bench.Analytic {
			needOne++
		}
	}
	if len(sum.Failures) != needOne || sum.Cells.Computed != sum.Cells.Wanted-needOne {
		t.Errorf("%d failures, %d of %d cells computed; want %d failures and all others", len(sum.Failures), sum.Cells.Computed, sum.Cells.Wanted, needOne)
	}
	for _, f := range sum.Failures {
		if !strings.Contains(f.Err.Error(), "needs the reference of wells, split 0") {
			t.Errorf("failure %v", f.Err)
		}
	}
	// With the reference there, the same run is complete.
	build := &Runner{Store: s, Source: wellSource{}, Workers: 2, ReferencesOnly: true}
	if _, err := build.Run(t.Context(), smallRun()); err != nil {
		t.Fatal(err)
	}
	if sum, err := r.Run(t.Context(), smallRun()); err != nil || sum.Cells.Computed != needOne+smallBroken {
		t.Errorf("%+v, %v; want the %d others", sum, err, needOne+smallBroken)
	}
}

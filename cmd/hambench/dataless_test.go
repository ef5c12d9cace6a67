package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/bench/sweep"
	"hambench/models"
	"hambench/models/datasets"
)

// storedWithData leaves in a folder what a run on data that this machine does
// not have would leave: manifests, and invented results under keys that only
// they hold.
func storedWithData(t *testing.T, ids ...string) (out string, cells int) {
	t.Helper()
	out = t.TempDir()
	profile, err := bench.LookupProfile("quick")
	if err != nil {
		t.Fatal(err)
	}
	profile.Only = ids
	studies, err := bench.Studies(profile, datasets.Builtin(), models.Builtin())
	if err != nil {
		t.Fatal(err)
	}
	if studies, err = bench.Restrict(studies, "boston"); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(storePath(out), sweep.Here())
	if err != nil {
		t.Fatal(err)
	}
	var plans []bench.Plan
	for i, study := range studies {
		p := bench.Plan{Profile: "quick", Place: i, Study: study, Data: []bench.Data{{Name: "boston", Label: "Boston housing", Task: "regression", Rows: 455, Features: 13}}}
		for i := range study.Cells {
			study.Cells[i].Key = study.Cells[i].Cell.Stream()
			if !s.Has(store.Result, study.Cells[i].Key) {
				putInvented(t, s, study.Cells[i])
				cells++
			}
		}
		plans = append(plans, p)
	}
	if err := bench.Save(s, sweep.MadeHere(), plans); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return out, cells
}

func putInvented(t *testing.T, s *store.Store, j bench.Job) {
	t.Helper()
	body, err := json.Marshal(bench.Result{Cell: j.Cell, KS: 0.2, KSSelf: 0.1, KSSelfLow: 0.05, KSSelfHigh: 0.15, Steps: j.Cell.Kernels()})
	if err == nil {
		err = s.Put(store.Record{Kind: store.Result, Key: j.Key, Body: body})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Drawing and exporting go by the manifests: on a machine without the data they
// neither look for it nor let built-in sets stand in.
func TestStoredRunsAreDrawnAndExportedWithoutTheirData(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	t.Setenv("HAMBENCH_DATA", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	out, cells := storedWithData(t, "friction")
	var here selection
	if err := here.open(nil); err != nil {
		t.Fatal(err)
	}
	if missing, err := here.keys.Source.Unavailable(t.Context(), "boston"); len(missing) != 1 {
		t.Fatalf("the data can be had here: %v", err)
	}
	code, stdout, stderr := call(t, "reproduce", "--figures-only", "--out", out)
	if code != exitOK || stderr != "" || strings.Contains(stdout, "cells are there") {
		t.Errorf("drawing: exit code %d, %s%s", code, stdout, stderr)
	}
	drawn, err := os.ReadFile(filepath.Join(out, "friction.csv"))
	if err != nil || !bytes.Contains(drawn, []byte("boston")) || bytes.Contains(drawn, []byte("teacher")) {
		t.Errorf("friction.csv: %v, %.300s", err, drawn)
	}
	code, stdout, stderr = call(t, "export", "--out", out)
	if rows := strings.Count(stdout, "\n") - 1; code != exitOK || stderr != "" || rows != cells {
		t.Errorf("export: exit code %d, %d rows of %d, %s", code, rows, cells, stderr)
	}
}

package bench

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"hambench/bench/store"
	"hambench/internal/distinct"
	"hambench/usage"
)

func TestRestrict(t *testing.T) {
	quick, err := LookupProfile("quick")
	if err != nil {
		t.Fatal(err)
	}
	all := studies(t, quick)
	some, err := Restrict(append(all, Study{ID: "without cells"}), "yacht", "linear")
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, e := range some {
		ids[e.ID] = true
		for _, j := range e.Cells {
			if c := j.Cell; c.Dataset != "yacht" && c.Dataset != "linear" {
				t.Fatalf("%s has a cell on %s", e.ID, c.Dataset)
			}
		}
		for _, r := range e.References {
			if r.Spec.Dataset != "yacht" {
				t.Errorf("%s needs the reference of %s", e.ID, r.Spec.Dataset)
			}
		}
	}
	for id, want := range map[string]bool{"methods": true, "regression": true, "synthetic": true, "without cells": true, "classification": false, "toy": false} {
		if ids[id] != want {
			t.Errorf("%s is there: %v, want %v", id, ids[id], want)
		}
	}
	again, err := Restrict(some, "linear")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range again {
		left, cells := 0, e.Cells
		for _, before := range all {
			if before.ID == e.ID {
				cells = before.Cells
			}
		}
		for _, name := range distinct.Of(cells, func(j Job) string { return j.Cell.Dataset }) {
			if name != "linear" {
				left++
			}
			if slices.Contains(e.LeftOut, name) != (name != "linear") {
				t.Errorf("%s states as left out %v, with %s", e.ID, e.LeftOut, name)
			}
		}
		if len(e.LeftOut) != left {
			t.Errorf("%s states as left out %v, want %d names", e.ID, e.LeftOut, left)
		}
	}
	if len(all) != len(studies(t, quick)) || len(all[3].Cells) != len(studies(t, quick)[3].Cells) {
		t.Error("the studies given were changed")
	}
	if same, err := Restrict(all); err != nil || len(same) != len(all) {
		t.Errorf("no names: %d studies, %v", len(same), err)
	}
	var u *usage.Error
	if _, err := Restrict(all, "bostn"); !errors.As(err, &u) {
		t.Errorf("unknown data set: %v, want a usage error", err)
	}
}

func TestExport(t *testing.T) {
	full := result(2)
	full.Cell.Values = map[string]float64{"w2-variance": 1, "b": 2}
	full.Cell.Friction, full.Cell.Step, full.Made = Real(math.Inf(1)), 1e-7, store.Made{Machine: store.Machine{Arch: "amd64", ISA: "avx2"}}
	full.Key, full.Scores = full.Cell.Stream(), map[string]float64{"rmse": 2.5, "lag1": 0.125, "checks_failed": 2}
	results, _ := stored(t)
	own := result(3) // whose rows the model alone counts
	own.Cell.Dataset, own.Cell.Batches = "none", 4
	own.Key = own.Cell.Stream()
	for _, r := range []Result{full, result(1), own} {
		record, err := store.NewRecord(store.Result, r.Key, r.Seconds, r.Made, r)
		if err = errors.Join(err, results.Store.(*store.Store).Put(record)); err != nil {
			t.Fatal(err)
		}
	}
	plans := []Plan{{Study: Study{ID: "x", Cells: []Job{{Key: full.Key, Cell: full.Cell}, {Key: result(1).Key, Cell: numbered(1)}, {Key: own.Key, Cell: own.Cell}, {Key: result(4).Key, Cell: numbered(4)}}}}}
	rows := results.Table(plans)
	if missing, _ := results.Missing(plans[0].Study); missing != 1 || rows.Where("missing", false).Len() != 3 {
		t.Fatalf("%d missing of %d; want 1 of 4", missing, rows.Len())
	}
	first := rows.Where("seed", 2)
	var csv, json bytes.Buffer
	if err := errors.Join(WriteCSV(&csv, first), WriteJSON(&json, first)); err != nil {
		t.Fatal(err)
	}
	want := "experiment,dataset,split,integrator,nl,friction,scheme,K,batch,h,ks,ks_self,diverged,steps,gradients,seconds,key,seed,precision,arch,isa,model,parameters,estimator,samples,thin,burn_in,observe,start,temperature,localisation,rmse,mnll,accuracy,ece,coverage,lag1,ess,coupled,llc,llc_se,llc_known,coupled-chance,rhat_p95,own_error,metropolis_distance,metropolis_acceptance,checks_failed\n" +
		"x,linear,0,leapfrog,1,inf,full,1,0,0.0000001,0.25,0.5,false,150,0,1.000," + full.Key + ",2,float64,amd64,avx2,linear,b=2 w2-variance=1,plain,2,25,100,distance,truth,1,0,2.5,,,,,0.125,,,,,,,,,,,2\n"
	if csv.String() != want {
		t.Errorf("CSV:\n%swant:\n%s", csv.String(), want)
	}
	if !strings.Contains(json.String(), `"friction": null`) {
		t.Errorf("JSON: %s; want null friction", json.String())
	}
	csv.Reset()
	if err := WriteCSV(&csv, rows.Where("seed", 3)); err != nil || !strings.Contains(csv.String(), "x,none,0,leapfrog,1,5,full,4,,0.1,") {
		t.Errorf("CSV: %v\n%swant an empty batch of a model of its own data", err, csv.String())
	}
	for _, k := range append(exportColumns(), "rmse", "lag1") {
		if !strings.Contains(json.String(), fmt.Sprintf("%q:", k)) {
			t.Errorf("JSON lacks the column %s", k)
		}
	}
}

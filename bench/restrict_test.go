package bench

import (
	"errors"
	"testing"

	"hambench/usage"
)

func TestRestrict(t *testing.T) {
	quick, err := LookupProfile("quick")
	if err != nil {
		t.Fatal(err)
	}
	all := Experiments(quick)
	some, err := Restrict(append(all, Experiment{ID: "without cells"}), "yacht", "linear")
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, e := range some {
		ids[e.ID] = true
		for _, c := range e.Cells {
			if c.Dataset != "yacht" && c.Dataset != "linear" {
				t.Fatalf("%s has a cell on %s", e.ID, c.Dataset)
			}
		}
		for _, o := range e.Oracles {
			if o.Dataset != "yacht" {
				t.Errorf("%s needs the oracle of %s", e.ID, o.Dataset)
			}
		}
	}
	for id, want := range map[string]bool{"methods": true, "regression": true, "synthetic": true, "without cells": true, "classification": false, "toy": false} {
		if ids[id] != want {
			t.Errorf("%s is there: %v, want %v", id, ids[id], want)
		}
	}
	if len(all) != len(Experiments(quick)) || len(all[3].Cells) != len(Experiments(quick)[3].Cells) {
		t.Error("the experiments given were changed")
	}
	if same, err := Restrict(all); err != nil || len(same) != len(all) {
		t.Errorf("no names: %d experiments, %v", len(same), err)
	}
	var u *usage.Error
	if _, err := Restrict(all, "bostn"); !errors.As(err, &u) {
		t.Errorf("unknown data set: %v, want a usage error", err)
	}
}

func TestStandIns(t *testing.T) {
	got := StandIns([]string{"boston", "yacht", "linear"}, []string{"boston", "yacht"})
	if len(got) != 2 || got[0] != "teacher-reg" || got[1] != "linear" {
		t.Errorf("stand-ins %v, want teacher-reg and linear", got)
	}
}

package main

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"hambench/chain"
	"hambench/integrators"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/oracle"
	"hambench/usage"
)

func target(t *testing.T) *regression {
	t.Helper()
	source := models.NewSource(models.Registry{lasso}, &datasets.Resolver{Offline: true})
	made, err := source.Target(t.Context(), "teacher-reg", 0, "lasso", models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return made.(*regression)
}

func TestGradientIsThatOfThePotential(t *testing.T) {
	model := target(t)
	theta, g := make([]float64, model.Dim()), make([]float64, model.Dim())
	for j := range theta {
		theta[j] = 0.3 * math.Sin(float64(j+1))
	}
	model.Gradient(g, theta, models.Rows{Lo: 0, Hi: model.Rows(), Scale: 1})
	// Central differences of a potential of about 10³ err by some 10⁻⁵.
	for j, want := range fd.Gradient(nil, model.Potential, theta, &fd.Settings{Formula: fd.Central}) {
		if math.Abs(g[j]-want) > 1e-4*math.Max(1, math.Abs(want)) {
			t.Errorf("derivative %d is %v: want %v", j, g[j], want)
		}
	}
}

// The estimate of the stable step is 2/√λ, λ the largest eigenvalue of
// XᵀX/σ², within a factor of 1.5: the prior has no curvature where it has one.
func TestStableStepFollowsTheCurvature(t *testing.T) {
	model := target(t)
	x := mat.NewDense(model.Rows(), model.Dim(), model.split.TrainX)
	var hessian mat.SymDense
	hessian.SymOuterK(1/model.split.NoiseVariance, x.T())
	var e mat.EigenSym
	if !e.Factorize(&hessian, false) {
		t.Fatal("no eigenvalues")
	}
	want := 2 / math.Sqrt(e.Values(nil)[model.Dim()-1])
	s, err := oracle.NewStability(t.Context(), model)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Largest(t.Context(), chain.Registries{}, chain.Spec{Integrator: "lietrotter", Params: integrators.Params{Friction: 5}})
	if err != nil {
		t.Fatal(err)
	}
	if got > 1.5*want || got < want/1.5 {
		t.Errorf("stable step %.4g: want %.4g within a factor of 1.5", got, want)
	}
}

func TestWhatTheModelCannotDoIsRefusedByName(t *testing.T) {
	_, err := chain.Registries{}.New(target(t), chain.Spec{Integrator: "mt3", Params: integrators.Params{Step: 0.001, Friction: 5}})
	var mistake *usage.Error
	if !errors.As(err, &mistake) || !strings.Contains(err.Error(), "mt3") || !strings.Contains(err.Error(), "lasso") {
		t.Errorf("mt3 on lasso: %v: want a usage error that names both", err)
	}
}

func TestTheModelIsJudgedByItsReference(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	if err := run(t.Context(), &out, dir); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| leapfrog ", "| baoab ", "rmse", "mnll", "coverage"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "lasso.png")); err != nil {
		t.Error(err)
	}
}

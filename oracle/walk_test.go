package oracle

import (
	"math"
	"math/rand/v2"
	"testing"

	"hambench/integrators"
	"hambench/integrators/noise"
	"hambench/internal/long"
	"hambench/models"
	"hambench/models/datasets"
)

// Up to the size of the paper's networks a chain has room for 12 standard deviations of the
// potential; in many dimensions for a sixth of its thermal energy, which is more.
func TestRoomForHeat(t *testing.T) {
	if got, want := heatRoom(8401), 20+12*math.Sqrt(8401./2); got != want {
		t.Errorf("8401 dimensions: %v, want %v", got, want)
	}
	if got, want := heatRoom(43201), 20+43201./12; math.Abs(got-want) > 1e-9 {
		t.Errorf("43201 dimensions: %v, want %v", got, want)
	}
}

// The chains of a wide network heat while their mass adapts, and cool: that is no reason to
// start again. With room for 12 standard deviations alone this one does start again.
func TestLongWideNetworksDoNotRestart(t *testing.T) {
	long.Test(t)
	const features, rows = 13, 455
	rng := rand.New(rand.NewPCG(5, 1))
	split := &datasets.Split{Features: features, NoiseVariance: 0.1, TestX: make([]float64, features), TestY: []float64{0}}
	for range rows {
		y := 0.3 * rng.NormFloat64()
		for range features {
			x := rng.NormFloat64()
			split.TrainX, y = append(split.TrainX, x), y+math.Sin(x)/2
		}
		split.TrainY = append(split.TrainY, y)
	}
	target, err := models.Builtin().New("bnn", split, models.Options{Hidden: []int{200, 200}, Precision: "float32"})
	if err != nil {
		t.Fatal(err)
	}
	b := &builder{spec: NewSpec("own", 0, "bnn:200,200")}
	b.noise = func(key uint64, stream uint32) integrators.Noise { return noise.New(key, stream) }
	w := newWalk(b, target, 0, 0, 0, nil)
	if err := w.warmUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if away := (target.Potential(w.z.Theta) - w.low) / math.Sqrt(float64(target.Dim())/2); math.Abs(away) > 6 {
		t.Errorf("after the burn-in the potential is %.1f standard deviations from the warm-up's end", away)
	}
}

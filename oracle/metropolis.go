package oracle

// Opinion is what a Metropolis-corrected sampler, which has no step-size
// bias, said of a reference.
type Opinion struct {
	Distance   float64 `json:"distance"`   // of its draws to the reference
	Acceptance float64 `json:"acceptance"` // rate over its samples
	Step       float64 `json:"h"`          // leapfrog step, tuned in its burn-in
	Leapfrogs  float64 `json:"leapfrogs"`  // mean number of steps per trajectory
	Samples    int     `json:"samples"`
	ESS        Summary `json:"ess"` // over the outputs
}

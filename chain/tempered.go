package chain

import (
	"hambench/models"
	"hambench/usage"
)

// Tempered returns the target that a spec's chains sample: with the temperature and the
// localisation of its settings, whose centre is Centre or the fixed position where they start. It
// takes the target over. One that is tempered already is returned as it is, whatever its own
// temperature, so that a truth and a chain of one spec can share it. A localisation without a fixed
// start is a usage error, as are those of models.Tempering and FixedStart.
func (s Spec) Tempered(t models.Target) (_ models.Target, err error) {
	if models.Tempered(t) {
		return t, nil
	}
	// The settings are bench's: it puts a number in More where it differs from its default.
	m := models.Tempering{Temperature: 1, Centre: s.Centre}
	if v, ok := s.More["temperature"].(float64); ok {
		m.Temperature = v
	}
	m.Localisation, _ = s.More["localisation"].(float64)
	if m.Localisation > 0 && m.Centre == nil {
		start, _ := s.More["start"].(string)
		if !IsFixed(start) {
			return nil, usage.Errorf("localisation %v without a centre: want a start that is %q "+
				"or a file with a position", m.Localisation, AtOptimum)
		}
		if m.Centre, err = FixedStart(start, t); err != nil {
			return nil, err
		}
	}
	return m.On(t)
}

package usage

import "testing"

func TestSuggest(t *testing.T) {
	known := []string{"leapfrog", "mt3", "euler", "ubu"}
	for name, want := range map[string]string{
		"leapfrg":  " (did you mean leapfrog?)",
		"elapfrog": " (did you mean leapfrog?)",
		"uelr":     " (did you mean euler?)",
		"mt4":      " (did you mean mt3?)",
		"baoab":    "",
		"":         "",
		"x":        "",
		"xyz":      "",
	} {
		if got := Suggest(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

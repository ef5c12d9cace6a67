package usage

import (
	"errors"
	"io/fs"
	"testing"
)

// An entry is found by its name, if it is the only one of it; else the error is the caller's.
func TestLookup(t *testing.T) {
	list := []string{"euler", "mt3", "ubu", "mt3"}
	for name, want := range map[string]string{
		"ubu":  "",
		"mt3":  `two schemes are called "mt3": want another name for one of them`,
		"xyzw": `unknown scheme "xyzw": want one of euler, mt3, ubu, mt3`,
		"ubuu": `unknown scheme "ubuu" (did you mean ubu?): want one of euler, mt3, ubu, mt3`,
	} {
		got, err := Lookup("scheme", name, list, func(s string) string { return s })
		switch {
		case want == "" && (err != nil || got != name):
			t.Errorf("%s: %q, %v", name, got, err)
		case want != "" && (!errors.As(err, new(*Error)) || err.Error() != want || got != ""):
			t.Errorf("%s: %q, error %v, want %s", name, got, err, want)
		}
	}
}

func TestAnErrorKeepsItsCause(t *testing.T) {
	if err := Errorf("file: %w", fs.ErrNotExist); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v has lost its cause", err)
	}
}

func TestSuggest(t *testing.T) {
	known := []string{"leapfrog", "mt3", "euler", "ubu", "a"}
	for name, want := range map[string]string{
		"leapfrg":  " (did you mean leapfrog?)",
		"elapfrog": " (did you mean leapfrog?)",
		"uelr":     " (did you mean euler?)",
		"mt4":      " (did you mean mt3?)",
		"baoab":    "",
		"":         "",
		"x":        "",
		"b":        "",
		"xyz":      "",
	} {
		if got := Suggest(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

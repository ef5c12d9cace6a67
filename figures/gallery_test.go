package figures

import (
	"flag"
	"path/filepath"
	"slices"
	"testing"

	"hambench/certify"
)

var gallery = flag.String("gallery", "", "draw every figure and table of invented results into this folder, to look at")

// TestGallery draws everything for people to look at.
func TestGallery(t *testing.T) {
	if *gallery == "" {
		t.Skip("for people: go test ./figures -run Gallery -gallery FOLDER")
	}
	rows := certified(t)
	if _, err := DrawOrders(rows, Options{Dir: *gallery}); err != nil {
		t.Error(err)
	}
	rows = slices.DeleteFunc(rows, func(r certify.Row) bool {
		return r.Problem != "gaussian" || r.Scheme != "full" && r.Scheme != "reshuffle"
	})
	e := experiment(t, "paper", "bottleneck")
	if _, err := DrawExactBottleneck(e, invent(e, nil), rows, Options{Dir: *gallery}); err != nil {
		t.Error(err)
	}
	for _, profile := range []string{"quick", "paper"} {
		for id := range drawers() {
			e := experiment(t, profile, id)
			out, err := Draw(e, invent(e, nil), Options{Dir: filepath.Join(*gallery, profile), Profile: profile})
			if err != nil {
				t.Errorf("%s %s: %v", profile, id, err)
				continue
			}
			if out.Text != "" {
				t.Logf("\n%s", out.Text)
			}
		}
	}
}

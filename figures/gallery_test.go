package figures

import (
	"flag"
	"path/filepath"
	"testing"
)

var gallery = flag.String("gallery", "", "draw every figure and table of invented results into this folder, to look at")

// TestGallery draws everything for people to look at.
func TestGallery(t *testing.T) {
	if *gallery == "" {
		t.Skip("for people: go test ./figures -run Gallery -gallery FOLDER")
	}
	for _, id := range []string{"orders", "bottleneck"} {
		p := plan(t, "paper", id)
		m := invent(p, nil)
		certified(t, p, m)
		if _, err := m.drawer(*gallery).Draw(p); err != nil {
			t.Error(err)
		}
	}
	for _, profile := range []string{"quick", "paper"} {
		for _, id := range studyIDs {
			p := plan(t, profile, id)
			p.Profile = profile
			out, err := invent(p, nil).drawer(filepath.Join(*gallery, profile)).Draw(p)
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

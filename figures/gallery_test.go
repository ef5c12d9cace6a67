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
	if _, err := DrawOrders(certified(t), Options{Dir: *gallery}); err != nil {
		t.Error(err)
	}
	for _, profile := range []string{"quick", "paper"} {
		for id := range drawers {
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

package bench

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// FuzzCellJSON: a cell that is read from JSON has a stream that does not
// change when it is written and read again, and Check answers in one line.
func FuzzCellJSON(f *testing.F) {
	data, err := json.Marshal(numbered(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"observe":"density","samples":-1,"h":1e-320}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var c, again Cell
		if json.Unmarshal(data, &c) != nil {
			return
		}
		if err := c.Check(); err != nil && strings.Contains(err.Error(), "\n") {
			t.Fatalf("error of more than one line: %q", err)
		}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		if err := json.Unmarshal(text, &again); err != nil || again.Stream() != c.Stream() || !reflect.DeepEqual(again, c) {
			t.Fatalf("%+v becomes %+v, error %v", c, again, err)
		}
	})
}

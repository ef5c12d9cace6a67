package draws

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hambench/usage"
)

// What other programs write is read as they mean it, or refused in one line.
func TestFilesOfOtherProgramsAreReadOrRefused(t *testing.T) {
	const stan = "# save_warmup = true\nlp__,a\n-1,50\n-1,40\n# Adaptation terminated\n# Step size = 0.8\n-1,1\n-1,2\n# Elapsed\n"
	// The comments of a run with engaged = 0, whose adaptation does not end.
	const unadapted = "# method = sample (Default)\n#   sample\n#     num_warmup = 1000 (Default)\n#     save_warmup = true\n#     algorithm = hmc (Default)\nlp__,a\n-1,50\n-1,1\n# Elapsed\n"
	for _, c := range []struct {
		file, text, names, want string // the columns that are read, or what is wrong
		chains                  int
	}{
		{"warm.csv", stan, "lp__ a", "", 1},
		{"saved.csv", strings.Replace(stan, "-1,50\n-1,40\n", "", 1), "lp__ a", "", 1},
		{"mark.csv", "\ufeff\"a\",\"b\"\n1,2\n2,3\n", "a b", "", 1},
		{"spaces.csv", "Chain, a , b\n0, 1 , 2\n1, 2, 3\n", "a b", "", 2},
		{"r.csv", ".chain,.Iteration,.draw,a\n1,1,1,5\n1,2,2,6\n", "a", "", 1},
		{"pandas.csv", ",0,1\n0,5,6\n1,6,5\n", "0 1", "", 1},
		{"real.csv", "sample,a\n0.5,1\n2,2\n", "sample a", "", 1},
		{"falls.csv", "draw,a\n3,1\n2,2\n", "draw a", "", 1},
		{"by_chain.csv", "chain,draw,a\n0,0,1\n0,1,2\n1,0,3\n1,1,4\n", "a", "", 2},
		{"mark.jsonl", "\ufeff{\"a\":1}\n{\"a\":2}\n", "a", "", 1},
		{"mark.json", "\ufeff[{\"a\":[1,2]}]", "a", "", 1},
		{"real.jsonl", "{\"sample\":0.5,\"a\":1}\n{\"sample\":2,\"a\":2}\n", "a sample", "", 1},
		{"none.csv", "0.31,-1.2\n0.5,1\n0.6,2\n", "", "the names of all columns are numbers, as 0.31: is there no header?", 0},
		{"gz.csv", "\x1f\x8b\x08\x00", "", "no text: want CSV, JSONL", 0},
		{"x.npz", "PK\x03\x04", "", "no text: want CSV, JSONL", 0},
		{"x.npy", "\x93NUMPY\x01\x00v\x00", "", "no text: want CSV, JSONL", 0},
		{"x.nc", "\x89HDF\r\n\x1a\n", "", "no text: want CSV, JSONL", 0},
		{"x.pkl", "\x80\x04\x95", "", "no text: want CSV, JSONL", 0},
		{"utf16.csv", "\xff\xfea\x00,\x00b\x00\n\x00", "", "no text: want CSV, JSONL", 0},
		{"later.json", `[{"a":[1,2]},{"a":[3,4],"b":[5,6]}]`, "", "chain 2: a column b, which the first chain has not", 0},
		{"lacks.json", `[{"a":[1,2],"b":[5,6]},{"a":[3,4]}]`, "", "chain 2: no column b, which the first chain has", 0},
		{"twice.json", `[{"x.1":[1,2],"x[1]":[3,4]}]`, "", "chain 1: two columns x[1]: want one", 0},
		{"engaged.csv", unadapted, "", "save_warmup is on, and no comment says where the warm-up ends", 0},
		{"rstan.csv", "# warmup=10\n# save_warmup=1\na\n1\n", "", "save_warmup is on, and no comment says where the warm-up ends", 0},
		{"off.csv", strings.Replace(unadapted, "save_warmup = true", "save_warmup = false (Default)", 1), "lp__ a", "", 1},
		{"zero.csv", strings.Replace(unadapted, "num_warmup = 1000 (Default)", "num_warmup = 0", 1), "lp__ a", "", 1},
		{"mean.csv", "# method = variational\n#   variational\nlp__,a\n0,9\n0,1\n0,2\n", "lp__ a", "", 1},
		{"mode.csv", "# method = optimize\nlp__,a\n-3,9\n", "", "its method is optimize, whose rows are no draws", 0},
		{"fixed.csv", strings.Replace(unadapted, "algorithm = hmc (Default)", "algorithm = fixed_param", 1), "lp__ a", "", 1},
	} {
		file := filepath.Join(t.TempDir(), c.file)
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		side, err := Read(t.Context(), []string{file}, nil)
		switch {
		case c.want != "":
			if !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v: want %q", c.file, err, c.want)
			}
		case err != nil || !slices.Equal(side.Names, strings.Fields(c.names)) || len(side.Chains) != c.chains:
			t.Errorf("%s: %v, %v in %d chains: want %s in %d", c.file, err, side.Names, len(side.Chains), c.names, c.chains)
		}
		if warm := c.file == "warm.csv"; warm != (side.WarmUp == 2) || warm && !slices.Equal(side.Chains[0][1], []float64{1, 2}) {
			t.Errorf("%s: %d draws of the warm-up, %v", c.file, side.WarmUp, side.Chains)
		}
		if c.file == "mean.csv" && !slices.Equal(side.Chains[0][1], []float64{1, 2}) {
			t.Errorf("%s: %v: the mean of the approximation is no draw", c.file, side.Chains)
		}
	}
}

// A null is no number, and not 0.
func TestNullIsNoNumber(t *testing.T) {
	file := filepath.Join(t.TempDir(), "d.json")
	if err := os.WriteFile(file, []byte(`[{"a":[1,null,3]}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	side, err := Read(t.Context(), []string{file}, nil)
	if err != nil || !math.IsNaN(side.Chains[0][0][1]) || side.Chains[0][0][2] != 3 {
		t.Errorf("%v, %v", err, side.Chains)
	}
}

// Elements that stand for other numbers are not taken for these.
func TestEncodedArraysAreRefused(t *testing.T) {
	for attribute, kind := range map[string]string{"scale_factor": "<i2", "add_offset": "<f8", "_FillValue": "<i4"} {
		folder := t.TempDir()
		array := filepath.Join(folder, "posterior", "theta")
		size := map[string]int{"<i2": 2, "<f8": 8, "<i4": 4}[kind]
		meta := fmt.Sprintf(`{"zarr_format":2,"order":"C","shape":[2,3],"chunks":[2,3],"dtype":%q}`, kind)
		if err := errors.Join(os.MkdirAll(array, 0o755),
			os.WriteFile(filepath.Join(folder, ".zgroup"), []byte(`{"zarr_format":2}`), 0o600),
			os.WriteFile(filepath.Join(array, ".zarray"), []byte(meta), 0o600),
			os.WriteFile(filepath.Join(array, ".zattrs"), fmt.Appendf(nil, `{%q:7}`, attribute), 0o600),
			os.WriteFile(filepath.Join(array, "0.0"), make([]byte, 6*size), 0o600)); err != nil {
			t.Fatal(err)
		}
		want := "array theta: its attribute " + attribute + " says"
		if _, err := Read(t.Context(), []string{folder}, nil); !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v: want %q", attribute, err, want)
		}
	}
}

// Package draws runs chains side by side and writes their draws in the formats that
// other programs read:
//
//	csv    one line per draw: pandas, R, DuckDB
//	jsonl  one object per draw: DuckDB, jq, Python
//	zarr   a folder of groups of arrays: xarray's open_datatree, ArviZ
//
// [Chains.Run] hands the draws to a [Writer] draw by draw, and within a draw chain by
// chain, in the same order whichever chain is faster. csv and jsonl are written as the
// draws come. The folder of zarr gets its name when it is complete.
package draws

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"

	"hambench/internal/atomicfile"
	"hambench/usage"
)

// Header holds the facts that are known before the first draw.
type Header struct {
	Chains, Draws int  // how many chains, and draws of each
	Numbered      bool // lines of csv and jsonl say which chain they belong to
	Dim, Outputs  int  // lengths of a draw's Theta and Predictions
	Predictive    bool // csv and jsonl hold predictions instead of parameters
	// TestX holds the standardised rows that are predicted, if there are any, row-major;
	// TestY their targets or class numbers.
	TestX, TestY []float64
	Attributes   map[string]any // of the chains, from Chains.Attributes
}

// Draw is one draw of a chain.
type Draw struct {
	Chain, Index int // from 0
	Theta        []float64
	Predictions  []float64 // as models.Target.Predict stores them
	LogDensity   float64   // −U(θ): of the posterior, up to a constant
	Energy       float64   // U(θ) + ½ rᵀM⁻¹r
}

// Format is an output format.
type Format struct {
	Name string
	// Folder says that the output is a new folder with parameters, predictions, the log
	// density and the energy. Otherwise it is a stream of lines with parameters or
	// predictions.
	Folder bool
	open   func(to *output, h Header) (form, error)
}

// Formats lists the output formats.
var Formats = []Format{
	{Name: "csv", open: newCSV},
	{Name: "jsonl", open: newJSONL},
	{Name: "zarr", Folder: true, open: newZarr},
}

// Names returns the names of the formats.
func Names() (names []string) {
	for _, f := range Formats {
		names = append(names, f.Name)
	}
	return names
}

// Lookup returns the format with a name.
func Lookup(name string) (Format, error) {
	return usage.Lookup("format", name, Formats, func(f Format) string { return f.Name })
}

// form writes a draw in one format. The draws of a chain come in order.
type form func(Draw) error

// Writer writes draws.
type Writer struct {
	Format Format
	Header Header
	form   form
	out    *output
}

// New returns a writer of text to w or, if f.Folder is set, of a new folder.
func New(f Format, w io.Writer, folder string, h Header) (*Writer, error) {
	out := &output{stream: bufio.NewWriter(w)}
	if f.Folder {
		if err := out.begin(folder); err != nil {
			return nil, err
		}
	}
	form, err := f.open(out, h)
	if err != nil {
		return nil, errors.Join(err, out.discard())
	}
	return &Writer{f, h, form, out}, nil
}

// Write writes one draw.
func (w *Writer) Write(d Draw) error { return w.form(d) }

// Close completes the output. If the run failed, it leaves only what a reader can
// use: the lines written so far, and no folder. It returns failed or its own error.
func (w *Writer) Close(failed error) error {
	if failed == nil {
		failed = w.out.finish()
	}
	return errors.Join(failed, w.out.stream.Flush(), w.out.discard())
}

// output is a stream, or a folder under the temporary name that it has until it
// is complete.
type output struct {
	stream      *bufio.Writer
	path, draft string
}

func (o *output) begin(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return usage.Errorf("%s is there already: want the name of a new folder", path)
	}
	var err error
	if o.draft, err = os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp-*"); err != nil {
		return usage.Errorf("folder %s cannot be made: %w", path, errors.Unwrap(err))
	}
	o.path = path
	return os.Chmod(o.draft, 0o755) // MkdirTemp makes it private to the user
}

// save makes a file of the folder with its bytes.
func (o *output) save(name string, data []byte) error {
	path := filepath.Join(o.draft, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o666)
}

// finish gives the folder its name.
func (o *output) finish() error {
	if o.draft == "" {
		return nil
	}
	if err := os.Rename(o.draft, o.path); err != nil {
		return err
	}
	o.draft = ""
	return atomicfile.SyncDir(filepath.Dir(o.path))
}

// discard removes a folder that has no name.
func (o *output) discard() error {
	if o.draft == "" {
		return nil
	}
	return os.RemoveAll(o.draft)
}

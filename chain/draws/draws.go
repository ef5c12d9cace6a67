// Package draws runs chains side by side and writes their draws in the formats that
// other programs read:
//
//	csv    one line per draw: pandas, R, DuckDB
//	jsonl  one object per draw: DuckDB, jq, Python
//	zarr   a folder of groups of arrays: xarray's open_datatree, ArviZ
//
// [Chains.Run] hands the draws to a [Writer] draw by draw, and within a draw chain by
// chain, in the same order whichever chain is faster. csv and jsonl are written as the
// draws come, so a run that fails leaves the lines before the failure. The folder of
// zarr has a temporary name until it is complete, so a reader never finds half of one.
//
// Numbers are written with all their digits: reading them gives the same float64.
//
// [Read] reads draws of any program, in these and other formats, for judging them.
// [WriteProblem] writes a posterior, its formula and its rows, so that another program can
// sample it.
package draws

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"hambench/internal/atomicfile"
	"hambench/internal/distinct"
	"hambench/models/datasets"
	"hambench/usage"
)

// Header holds the facts that are known before the first draw.
type Header struct {
	// Chains is the number of chains, Draws that of the draws of each.
	Chains, Draws int
	// Numbered says that lines of csv and jsonl state their chain.
	Numbered bool
	// Dim and Outputs are the lengths of a draw's Theta and Predictions.
	Dim, Outputs int
	// Predictive says that csv and jsonl hold predictions instead of parameters.
	Predictive bool
	// Split has the rows that are predicted; nil, or without rows, if there are none.
	Split *datasets.Split
	// Likelihood says that draws have Targets, InSample that they have what is predicted
	// of the training rows.
	Likelihood, InSample bool
	// Parameters are the names of the parameters; nil if they have none.
	Parameters []string
	// Attributes describe the chains; see Chains.Attributes.
	Attributes map[string]any
}

// Draw is one draw of a chain. Whoever receives it owns its slices.
type Draw struct {
	Chain, Index int // from 0
	// Theta is the position.
	Theta []float64
	// Predictions are as models.Target.Predict stores them; nil if no reader wants them.
	// Targets are those of the test rows, drawn from the likelihood at the predictions:
	// standardised, or class numbers.
	Predictions, Targets []float64
	// Train has the same for the training rows, and the log-likelihood of each.
	Train struct{ Predictions, Targets, LogLikelihood []float64 }
	// LogDensity is −U(θ), the log-density of the posterior up to a constant, and Energy
	// is U(θ) + ½ rᵀM⁻¹r; both are 0 unless Format.Folder is set.
	LogDensity, Energy float64
	// Gradients is what the chain has computed for it, since the draw before or its start, in
	// gradients of all data; 0 if it is not known.
	Gradients float64
}

// Format is an output format.
type Format struct {
	Name string
	// Folder says that the output is a new folder with parameters, predictions, the log
	// density and the energy. Otherwise it is a stream of lines with parameters or
	// predictions.
	Folder bool
	// open writes what precedes the draws and returns the form of them.
	open func(to *output, h Header) (form, error)
}

// formats lists the output formats, in the order in which lists and errors name them.
var formats = []Format{
	{Name: "csv", open: newCSV},
	{Name: "jsonl", open: newJSONL},
	{Name: "zarr", Folder: true, open: newZarr},
}

// Names returns the names of the formats, for lists and flags.
func Names() []string { return distinct.Of(formats, nameOf) }

// Lookup returns the format with a name. An unknown name is a usage error that lists the
// known ones.
func Lookup(name string) (Format, error) {
	return usage.Lookup("format", name, formats, nameOf)
}

// nameOf is the format's name.
func nameOf(f Format) string { return f.Name }

// form writes a draw in one format. The draws of a chain come in order; those of several
// chains alternate. A format's state, such as whether its header is written, is in the closure.
type form func(Draw) error

// Writer writes draws in one format. Only one goroutine may call it.
type Writer struct {
	Format Format
	Header Header
	form   form
	out    *output // what form writes to; it is completed or discarded by Close
}

// New returns a writer of text to w or, if f.Folder is set, of a new folder. A folder
// that exists already, or cannot be made, is a usage error.
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

// Write writes one draw. Lines are buffered until Close, so that an error of the stream
// may show there.
func (w *Writer) Write(d Draw) error { return w.form(d) }

// Close completes the output. If the run failed, it leaves only what a reader can
// use: the lines written so far, and no folder. It returns failed or its own error.
func (w *Writer) Close(failed error) error {
	// Only a run that succeeded gives its folder the name: discard removes a failed one's draft.
	if failed == nil {
		failed = w.out.finish()
	}
	// The stream keeps its first error, which may be why the run failed.
	if err := w.out.stream.Flush(); !errors.Is(failed, err) {
		failed = errors.Join(failed, err)
	}
	return errors.Join(failed, w.out.discard())
}

// output is a stream, or a folder under the temporary name that it has until it
// is complete. A folder has a stream as well, to which nothing is written.
type output struct {
	stream *bufio.Writer
	// path is the folder's name, draft its temporary one; draft is "" for a stream, and
	// once the folder has its name.
	path, draft string
}

// begin makes a draft of the folder, in the folder that will hold it.
func (o *output) begin(path string) error {
	path = filepath.Clean(path) // without a slash at the end, which Dir would take for a folder
	if _, err := os.Lstat(path); err == nil {
		return usage.Errorf("%s is there already: want the name of a new folder", path)
	}
	// The draft and the folder are on one file system, as a rename needs; the dot hides the draft.
	var err error
	pattern := "." + filepath.Base(path) + ".tmp-*"
	if o.draft, err = os.MkdirTemp(filepath.Dir(path), pattern); err != nil {
		return usage.Errorf("folder %s cannot be made: %w", path, errors.Unwrap(err))
	}
	o.path = path
	return os.Chmod(o.draft, 0o755) // MkdirTemp makes it private to the user
}

// save writes a file of the folder, named by its path within it, with slashes, and waits until the
// disk has it.
func (o *output) save(name string, data []byte) error {
	path := filepath.Join(o.draft, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(path, data)
}

// finish renames the draft, if there is one, to the folder's name, and waits until the
// disk has that. The disk has the draft's folders before it has the name: after a power cut a
// folder that has its name is whole.
func (o *output) finish() error {
	if o.draft == "" {
		return nil
	}
	err := filepath.WalkDir(o.draft, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return atomicfile.SyncDir(path)
	})
	if err != nil {
		return err
	}
	if err := os.Rename(o.draft, o.path); err != nil {
		return err
	}
	o.draft = ""
	return atomicfile.SyncDir(filepath.Dir(o.path))
}

// discard removes a draft that was not finished.
func (o *output) discard() error {
	if o.draft == "" {
		return nil
	}
	return os.RemoveAll(o.draft)
}

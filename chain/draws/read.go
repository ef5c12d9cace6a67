package draws

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gonum.org/v1/gonum/stat/combin"

	"hambench/compare"
	"hambench/internal/input"
	"hambench/usage"
)

// Read reads the draws of one side from files of one format, chains in the order of the files and,
// within a file, in the order in which they begin. The format goes by the name: a folder is zarr,
// .jsonl has an object a draw, .json and .json.zip the lists of posteriordb, all else is CSV. Of a
// CSV file each row is a draw: a column named chain tells chains apart, and without it the file is
// one chain; those that number the draws are left out (see unnumbered), and so are those without a
// name. Only the columns of the names in want are read, all others if it is nil. All files must
// have them. What cannot be read is a usage error that names the file; so is a device, which may
// have no end. A file may be a pipe: if ctx ends before the pipe does, the error is that of ctx.
func Read(ctx context.Context, files, want []string) (compare.Side, error) {
	return input.Await(ctx, func() (compare.Side, error) { return readAll(files, want) })
}

// nameSet has the names of the columns that are wanted; nil stands for all.
type nameSet map[string]bool

// setOf returns the set of a list of names, which may be thousands.
func setOf(want []string) nameSet {
	if want == nil {
		return nil
	}
	set := make(nameSet, len(want))
	for _, name := range want {
		set[name] = true
	}
	return set
}

// has reports whether a column is wanted.
func (s nameSet) has(name string) bool { return s == nil || s[name] }

// readAll is Read without the end of a context.
func readAll(files, names []string) (compare.Side, error) {
	want := setOf(names)
	var all compare.Side
	var known []os.FileInfo // of the files before
	for _, file := range files {
		// A file has one identity, through links, too; what is not there is not read either.
		if info, err := os.Stat(file); err == nil {
			same := func(other os.FileInfo) bool { return os.SameFile(info, other) }
			if slices.ContainsFunc(known, same) {
				return all, usage.Errorf("draws %s: the file is given twice: want each once", file)
			}
			known = append(known, info)
		}
		read, format := reader(file)
		if _, first := reader(files[0]); format != first {
			return all, usage.Errorf("draws %s: %s, where %s is %s: want files of one format", file,
				format, files[0], first)
		}
		side, err := read(file, want)
		if err == nil {
			side.Of = labels(file, side)
			err = join(&all, side, "file")
		}
		if err != nil {
			return all, usage.Errorf("draws %s: %w", file, err)
		}
	}
	return all, nil
}

// labels name the chains of a file: by the file and, if it has several, by the names that they
// have there (Side.Of of a reader), or their places.
func labels(file string, side compare.Side) (of []string) {
	// Without a column of chains a reader has one chain, named "": it is called by the file alone.
	for c := range side.Chains {
		name := strconv.Itoa(c + 1)
		if side.Of != nil {
			name = side.Of[c]
		}
		if len(side.Chains) > 1 {
			of = append(of, fmt.Sprintf("chain %s of %s", name, file))
		} else {
			of = append(of, file)
		}
	}
	return of
}

// join adds the chains of a further file, or a further chain, its columns in the order of the first
// one's. Both must have the same columns: a column of some chains alone could not be compared.
func join(all *compare.Side, side compare.Side, of string) error {
	if all.Chains == nil {
		*all = side
		return nil
	}
	for _, name := range all.Names {
		if !slices.Contains(side.Names, name) {
			return fmt.Errorf("no column %s, which the first %s has", name, of)
		}
	}
	// It has all columns of the first one. If it has more, the extra ones are refused.
	if len(side.Names) > len(all.Names) {
		own := func(name string) bool { return !slices.Contains(all.Names, name) }
		i := slices.IndexFunc(side.Names, own)
		return fmt.Errorf("a column %s, which the first %s has not", side.Names[i], of)
	}
	// What some cost is not what all do: it is known of all, or not.
	if all.Gradients > 0 && side.Gradients > 0 {
		all.Gradients += side.Gradients
	} else {
		all.Gradients = 0
	}
	all.WarmUp += side.WarmUp
	all.Chains = append(all.Chains, side.Ordered(all.Names).Chains...)
	all.Of = append(all.Of, side.Of...)
	return nil
}

// Names of columns: those that number the chains and the draws in files of this program, of R's
// posterior and of CmdStanPy, whose iter__ and draw__ are left out as the sampler's columns;
// elements of vectors as Stan's CSV and this program's write them, which get the names of
// posteriordb, theta[1] and x[1,2].
var (
	chainNumber = regexp.MustCompile(`(?i)^(\.?chain|chain__)$`)
	drawNumber  = regexp.MustCompile(`(?i)^\.?(sample|draw|iteration)$`)
	stanElement = regexp.MustCompile(`^(\w+?)((?:\.\d+)+)$`)
	ownElement  = regexp.MustCompile(`^(theta|f)(\d+)$`)
)

// naming gives the columns of a file names as reports have them, so that draws of different
// programs have columns in common: mu, theta[1], x[1,2], counted from 1, as posteriordb has them.
// Only where predictions are wanted do they keep this program's names, f0, f1 …
type naming struct {
	predictions bool
	variables   map[string]bool // of the file
}

// namingOf returns the naming of a file that has columns, or variables, of these names.
func namingOf(names []string, want nameSet) naming {
	n := naming{predictions: want != nil, variables: make(map[string]bool, len(names))}
	for _, name := range names {
		variable, _, _ := strings.Cut(fromStan(name), "[")
		n.variables[variable] = true
	}
	return n
}

// fromStan returns the name of a column, of an element of Stan's CSV as posteriordb has it.
func fromStan(name string) string {
	if m := stanElement.FindStringSubmatch(name); m != nil {
		return m[1] + "[" + strings.ReplaceAll(m[2][1:], ".", ",") + "]"
	}
	return name
}

// column returns the name of a column: theta0 is an element of theta unless the file has a variable
// theta of its own, beside which it is another parameter.
func (n naming) column(name string) string {
	m := ownElement.FindStringSubmatch(name)
	if m == nil || n.predictions || n.variables[m[1]] {
		return fromStan(name)
	}
	i, err := strconv.Atoi(m[2])
	if err != nil {
		return name
	}
	return n.element(m[1], []int{i})
}

// element returns the name of an element of a variable at a place, which counts from 0.
func (n naming) element(name string, at []int) string {
	if len(at) == 0 {
		return n.column(name)
	}
	if n.predictions && name == "f" && len(at) == 1 {
		return fmt.Sprintf("f%d", at[0])
	}
	var from1 []string
	for _, i := range at {
		from1 = append(from1, strconv.Itoa(i+1))
	}
	return name + "[" + strings.Join(from1, ",") + "]"
}

// place returns where an element stands in a variable of some lengths, by its place in row-major
// order. Predictions of several classes are an array of rows and classes in zarr, and one list
// elsewhere: their places in it are the same.
func (n naming) place(name string, shape []int, e int) []int {
	switch {
	case len(shape) == 0:
		return nil
	case n.predictions && name == "f":
		return []int{e}
	}
	return combin.SubFor(nil, e, shape)
}

// once refuses a name that two columns of a file have.
func once(names []string) error {
	sorted := slices.Sorted(slices.Values(names))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return fmt.Errorf("two columns %s: want one", sorted[i])
		}
	}
	return nil
}

// unnumbered returns a side without the columns that number the draws: by their names, with whole
// numbers that do not fall within a chain. Others of such a name are parameters.
func unnumbered(side compare.Side) compare.Side {
	var kept []string
	for j, name := range side.Names {
		numbers := drawNumber.MatchString(name)
		for _, chain := range side.Chains {
			numbers = numbers && slices.IsSorted(chain[j]) &&
				!slices.ContainsFunc(chain[j], func(v float64) bool { return v != math.Trunc(v) })
		}
		if !numbers {
			kept = append(kept, name)
		}
	}
	if len(kept) == len(side.Names) {
		return side
	}
	return side.Ordered(kept)
}

// builder collects draws, whose chains may alternate.
type builder struct {
	// side has its Names before the first chain begins, and in Of the chains' own names.
	side   compare.Side
	number map[string]int // of each chain, by its name
	draws  int            // of each chain of a zarr store
}

// chain returns the columns of a chain, which it begins if need be. Callers append to the columns
// in place.
func (b *builder) chain(name string) [][]float64 {
	c, ok := b.number[name]
	if !ok {
		if b.number == nil {
			b.number = make(map[string]int)
		}
		c = len(b.side.Chains)
		b.number[name] = c
		b.side.Of = append(b.side.Of, name)
		b.side.Chains = append(b.side.Chains, make([][]float64, len(b.side.Names)))
	}
	return b.side.Chains[c]
}

// mark is the byte order mark with which some programs begin a text.
const mark = '\ufeff'

// Comments of Stan: which method made the file, that the rows of the warm-up are in it, and that
// there was none.
var (
	stanMethod  = regexp.MustCompile(`(?m)^#\s*method\s*=\s*(\w+)`)
	savedWarmUp = regexp.MustCompile(`(?m)^#\s*save_warmup\s*=\s*(1|true)\b`)
	noWarmUp    = regexp.MustCompile(`(?m)^#\s*(num_warmup\s*=\s*0|algorithm\s*=\s*fixed_param)\b`)
)

// readCSV reads a CSV file, of Stan too: lines that begin with # are comments, and rows before that
// of the end of Stan's adaptation are its warm-up. A file without a column chain is one chain, of
// the name "".
func readCSV(file string, want nameSet) (compare.Side, error) {
	var b builder
	text, err := input.Read(file)
	if err != nil {
		return b.side, err
	}
	text = bytes.TrimPrefix(text, []byte(string(mark)))
	// Compressed files have control characters near their beginning, and so has UTF-16, in which
	// ASCII characters have a byte of zeros.
	if bytes.ContainsFunc(text[:min(len(text), 512)], func(c rune) bool {
		return unicode.IsControl(c) && !unicode.IsSpace(c)
	}) {
		return b.side, errors.New("no text: want CSV, JSONL (.jsonl), posteriordb's draws (.json " +
			"or .json.zip), or a folder of zarr; not compressed, and in UTF-8")
	}
	// The line break before the comment ends the last row of the warm-up; -1 without the comment.
	adapted := bytes.Index(text, []byte("\n# Adaptation terminated"))
	head := text[:min(len(text), 1<<16)] // which has the settings of Stan, before the header
	if adapted < 0 && savedWarmUp.Match(head) && !noWarmUp.Match(head) {
		return b.side, errors.New("save_warmup is on, and no comment says where the warm-up " +
			"ends, as \"# Adaptation terminated\" does: want a file without its rows")
	}
	method := ""
	if found := stanMethod.FindSubmatch(head); found != nil {
		method = string(found[1])
	}
	if method == "optimize" {
		return b.side, errors.New("its method is optimize, whose rows are no draws of a posterior")
	}
	// A row with another number of fields than the header is an error.
	r := csv.NewReader(bytes.NewReader(text))
	r.Comment, r.ReuseRecord, r.TrimLeadingSpace = '#', true, true
	header, err := r.Read()
	if err != nil {
		return b.side, fmt.Errorf("no header: %w", err)
	}
	if len(header) == 1 && strings.ContainsAny(header[0], ";\t") {
		return b.side, fmt.Errorf("no comma in its header %q: want commas between columns",
			header[0])
	}
	// The reader uses the memory of a record again for the next one (ReuseRecord).
	header = slices.Clone(header)
	// Whole numbers are names that pandas gives.
	if !slices.ContainsFunc(header, func(name string) bool { return !isNumber(name) }) &&
		strings.ContainsAny(strings.Join(header, ","), ".eE") {
		return b.side, fmt.Errorf("the names of all columns are numbers, as %s: is there no "+
			"header?", header[0])
	}
	// Where the side's columns stand in the header, and the one that tells chains apart.
	var places []int
	chain := -1
	for i, name := range header {
		header[i] = strings.TrimSpace(name)
	}
	named := namingOf(header, want)
	for i, name := range header {
		as := named.column(name)
		switch {
		case chainNumber.MatchString(name):
			chain = i
		case name == "" || !want.has(as):
		default:
			places, b.side.Names = append(places, i), append(b.side.Names, as)
		}
	}
	if err := once(b.side.Names); err != nil {
		return b.side, err
	}
	for row, err := r.Read(); err != io.EOF; row, err = r.Read() {
		if err != nil {
			return b.side, err
		}
		// The offset is that behind the row. Without the comment, where adapted + 1 is 0, every row
		// lies beyond it.
		if r.InputOffset() <= int64(adapted+1) {
			b.side.WarmUp++
			continue
		}
		// CmdStan writes the mean of a variational approximation before the draws from it.
		if method == "variational" {
			method = ""
			continue
		}
		of := ""
		if chain >= 0 {
			of = row[chain]
		}
		columns := b.chain(of)
		for j, i := range places {
			v, err := strconv.ParseFloat(strings.TrimSpace(row[i]), 64)
			if err != nil {
				line, _ := r.FieldPos(i)
				return b.side, fmt.Errorf("line %d, column %s: %q: want a number", line, header[i],
					row[i])
			}
			columns[j] = append(columns[j], v)
		}
	}
	if len(b.side.Chains) == 0 {
		return b.side, errors.New("a header and no draws: want a row a draw")
	}
	return unnumbered(b.side), nil
}

// isNumber reports whether a text is a number.
func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// flatten calls add with the numbers of a value of JSON, arrays within arrays, and their names;
// at is the place of the value within the variable. A null is NaN, which a comparison refuses with
// the place where it stands.
func (n naming) flatten(name string, at []int, v any, add func(name string, v float64)) error {
	if list, ok := v.([]any); ok {
		for i, e := range list {
			// Calls may share the array behind at: each makes a name of it, and keeps none.
			if err := n.flatten(name, append(at, i), e, add); err != nil {
				return err
			}
		}
		return nil
	}
	x, ok := v.(float64)
	if v == nil {
		x, ok = math.NaN(), true
	}
	if !ok {
		return fmt.Errorf("%s: %v: want a number", n.element(name, at), v)
	}
	add(n.element(name, at), x)
	return nil
}

// object is a JSON object whose keys differ. In a map, the last of two alike would count.
type object[V any] map[string]V

// UnmarshalJSON refuses what is no object, and a key that comes twice.
func (o *object[V]) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text)) // of valid JSON: its tokens have no error
	if first, _ := d.Token(); first != json.Delim('{') {
		return errors.New("want an object")
	}
	*o = make(object[V])
	for d.More() {
		token, _ := d.Token()
		key := token.(string)
		if _, twice := (*o)[key]; twice {
			return fmt.Errorf("two columns %s: want one", key)
		}
		var v V
		if err := d.Decode(&v); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		(*o)[key] = v
	}
	return nil
}

// readJSONL reads an object a draw: numbers, and arrays of them, by name. The key gradients is
// what the draw cost, and no column; chain tells chains apart.
func readJSONL(file string, want nameSet) (compare.Side, error) {
	var b builder
	in, err := input.Open(file)
	if err != nil {
		return b.side, err
	}
	defer in.Close()
	// Where each column stands in the side, by its name: as the first draw has them, sorted.
	places := make(map[string]int)
	var named naming // of the first draw: each other one must have the same columns
	text := bufio.NewReader(in)
	if c, _, err := text.ReadRune(); err == nil && c != mark {
		_ = text.UnreadRune() // which was just read
	}
	d, known := json.NewDecoder(text), true // known: each draw says what it cost
	for line := 1; ; line++ {
		var draw object[any]
		if err := d.Decode(&draw); err == io.EOF {
			break
		} else if err != nil {
			return b.side, fmt.Errorf("draw %d: %w", line, err)
		}
		g, stated := draw["gradients"].(float64)
		b.side.Gradients += g
		known = known && stated
		delete(draw, "gradients")
		// Names are in the order of the sorted keys, and of the elements of each.
		values, names, of := make(map[string]float64), []string(nil), ""
		keys := slices.Sorted(maps.Keys(draw))
		if line == 1 {
			named = namingOf(keys, want)
		}
		for _, key := range keys {
			if chainNumber.MatchString(key) {
				of = fmt.Sprint(draw[key])
				continue
			}
			err := named.flatten(key, nil, draw[key], func(name string, v float64) {
				if want.has(name) {
					values[name], names = v, append(names, name)
				}
			})
			if err != nil {
				return b.side, fmt.Errorf("draw %d: %w", line, err)
			}
		}
		// A name that two keys lead to is in values once, and in names twice.
		if len(names) > len(values) {
			return b.side, fmt.Errorf("draw %d: %w", line, once(names))
		}
		// The first draw states the columns; each other one must have the same.
		if line == 1 {
			b.side.Names = names
			for j, name := range names {
				places[name] = j
			}
		}
		if len(values) != len(b.side.Names) {
			return b.side, fmt.Errorf("draw %d has %d numbers, the first one %d", line, len(values),
				len(b.side.Names))
		}
		columns := b.chain(of)
		for name, v := range values {
			j, ok := places[name]
			if !ok {
				return b.side, fmt.Errorf("draw %d has a %s, which the first one has not", line,
					name)
			}
			columns[j] = append(columns[j], v)
		}
	}
	if len(b.side.Chains) == 0 {
		return b.side, errors.New("no draws: want an object a line")
	}
	if !known { // of some draws alone
		b.side.Gradients = 0
	}
	return unnumbered(b.side), nil
}

// readJSON reads the reference draws of posteriordb: a list of chains, each an object with a
// list of numbers for each column; as it is, or the one file of a zip.
func readJSON(file string, want nameSet) (side compare.Side, err error) {
	text, err := input.Read(file)
	if err != nil {
		return side, err
	}
	if strings.HasSuffix(file, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			return side, err
		}
		if len(z.File) != 1 {
			return side, fmt.Errorf("%d files in the zip: want one", len(z.File))
		}
		f, err := z.File[0].Open()
		if err != nil {
			return side, err
		}
		defer f.Close()
		if text, err = io.ReadAll(f); err != nil {
			return side, err
		}
	}
	var chains []object[[]*float64] // each by the names of its columns; nil is a null
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte(string(mark))), &chains); err != nil {
		return side, fmt.Errorf("want a list of chains with a list of numbers a column: %w", err)
	}
	for c, chain := range chains {
		// A side of this chain alone, which join adds in the first one's order of columns.
		one := compare.Side{Chains: make([][][]float64, 1)}
		own := slices.Sorted(maps.Keys(chain))
		named := namingOf(own, want)
		for _, name := range own {
			as := named.column(name)
			if !want.has(as) {
				continue
			}
			x := make([]float64, len(chain[name]))
			for i, v := range chain[name] {
				x[i] = math.NaN() // which a comparison refuses with the place where it stands
				if v != nil {
					x[i] = *v
				}
			}
			one.Names, one.Chains[0] = append(one.Names, as), append(one.Chains[0], x)
			if len(x) == 0 || len(x) != len(one.Chains[0][0]) {
				return side, fmt.Errorf("chain %d: %d draws of %s: want as many of each column",
					c+1, len(x), name)
			}
		}
		if err := cmp.Or(once(one.Names), join(&side, one, "chain")); err != nil {
			return side, fmt.Errorf("chain %d: %w", c+1, err)
		}
	}
	if len(side.Names) == 0 {
		return side, errors.New("no draws: want a list of chains with a list of numbers a column")
	}
	return side, nil
}

// PosteriorDB returns the file of a posterior's reference draws in a checkout of
// github.com/stan-dev/posteriordb, or in its folder posterior_database. The draws have the name
// that the posterior's description states, since posteriors may share them.
func PosteriorDB(folder, posterior string) (string, error) {
	if in := filepath.Join(folder, "posterior_database"); input.IsFolder(in) {
		folder = in
	}
	about := filepath.Join(folder, "posteriors", posterior+".json")
	text, err := os.ReadFile(about)
	if err != nil {
		return "", usage.Errorf("posteriordb: %w", err)
	}
	var p struct {
		Reference string `json:"reference_posterior_name"`
	}
	if err := json.Unmarshal(text, &p); err != nil || p.Reference == "" {
		return "", usage.Errorf("posteriordb: posterior %s has no reference draws", posterior)
	}
	draws := filepath.Join(folder, "reference_posteriors", "draws", "draws")
	return filepath.Join(draws, p.Reference+".json.zip"), nil
}

// reader returns the reader of a file's format, and the format's name.
func reader(file string) (func(string, nameSet) (compare.Side, error), string) {
	switch {
	case input.IsFolder(file):
		return openZarr, "zarr"
	case strings.HasSuffix(file, ".jsonl"):
		return readJSONL, "JSONL"
	case strings.HasSuffix(file, ".json"), strings.HasSuffix(file, ".json.zip"):
		return readJSON, "JSON"
	}
	return readCSV, "CSV"
}

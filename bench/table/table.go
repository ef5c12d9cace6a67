// Package table holds numbers as rows of a table with typed columns, and groups and
// joins them.
//
// Rows are told apart by their values, never by the text that people read: a Key is
// comparable by ==, and its String is for people.
package table

import (
	"cmp"
	"fmt"
	"slices"
)

// Column is a column of a table. All its values are of its kind, or none.
type Column struct {
	Name string
	Kind Kind
}

// Row is one row of a table.
type Row struct {
	// Source is what the row was made from, for what has no column.
	Source any

	of     *columns
	values []Value
}

// columns are shared by a table, its rows and the tables that are made from it.
type columns struct {
	list []Column
	at   map[string]int
}

// Table is a list of rows with the same columns. The zero value is an empty one.
type Table struct {
	columns *columns
	rows    []Row
}

// New returns a table without rows. It panics if two columns have one name.
func New(list ...Column) *Table {
	c := &columns{list, make(map[string]int)}
	for i, column := range list {
		if _, twice := c.at[column.Name]; twice {
			panic(fmt.Sprintf("table: two columns %q", column.Name))
		}
		c.at[column.Name] = i
	}
	return &Table{columns: c}
}

// index is the place of a column. It panics if there is no such column.
func (c *columns) index(column string) int {
	i, ok := c.at[column]
	if !ok {
		panic(fmt.Sprintf("table: no column %q", column))
	}
	return i
}

// indices are the places of columns; none if there are no rows, of which none is asked.
func (t *Table) indices(columns ...string) (at []int) {
	if len(t.rows) == 0 {
		return nil
	}
	for _, column := range columns {
		at = append(at, t.columns.index(column))
	}
	return at
}

// Add adds a row; columns that values leaves out have none. It panics on a column that
// is not there, and on a value of another kind than its column's.
func (t *Table) Add(source any, values map[string]any) {
	row := Row{source, t.columns, make([]Value, len(t.columns.list))}
	for name, v := range values {
		i := t.columns.index(name)
		row.values[i] = Of(v)
		if k := row.values[i].kind; k != None && k != t.columns.list[i].Kind {
			panic(fmt.Sprintf("table: column %q of kind %v: %v", name, t.columns.list[i].Kind, v))
		}
	}
	t.rows = append(t.rows, row)
}

// Columns returns the columns.
func (t *Table) Columns() []Column {
	if t.columns == nil {
		return nil
	}
	return t.columns.list
}

// Has reports whether the table has a column.
func (t *Table) Has(column string) bool {
	return slices.ContainsFunc(t.Columns(), func(c Column) bool { return c.Name == column })
}

// Rows returns the rows.
func (t *Table) Rows() []Row { return t.rows }

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// Get returns the value of a column. It panics if there is no such column.
func (r Row) Get(column string) Value { return r.values[r.of.index(column)] }

// Number returns the number of a column; NaN if there is none.
func (r Row) Number(column string) float64 { return r.Get(column).Number() }

// Text returns the text of a column; "" if there is none.
func (r Row) Text(column string) string { return r.Get(column).Text() }

// Key identifies the values of some columns. Keys are equal by == exactly if all
// values are, whatever tables they are from.
type Key struct{ encoded string }

// String returns the values for people.
func (k Key) String() string { return k.encoded }

// Key returns the key of the row's values of some columns.
func (r Row) Key(columns ...string) Key {
	var at []int
	for _, column := range columns {
		at = append(at, r.of.index(column))
	}
	return Key{string(r.appendKey(nil, at))}
}

// appendKey appends the values of the columns at some places, as a key has them.
func (r Row) appendKey(to []byte, at []int) []byte {
	for i, column := range at {
		if i > 0 {
			to = append(to, ' ')
		}
		to = r.values[column].appendTo(to)
	}
	return to
}

// Filter returns the table of the rows for which keep is true.
func (t *Table) Filter(keep func(Row) bool) *Table {
	out := &Table{columns: t.columns}
	for _, r := range t.rows {
		if keep(r) {
			out.rows = append(out.rows, r)
		}
	}
	return out
}

// Where returns the table of the rows whose value of a column is one of these, which
// are as Of takes them; nil is none.
func (t *Table) Where(column string, values ...any) *Table {
	var want []Value
	for _, v := range values {
		want = append(want, Of(v))
	}
	at := t.indices(column)
	return t.Filter(func(r Row) bool { return slices.Contains(want, r.values[at[0]]) })
}

// Group holds the rows of a table that have the same values of some columns.
type Group struct {
	Key Key
	*Table
}

// Get returns the value of a column in the group's first row: of a column that it is
// grouped by, the value of all.
func (g Group) Get(column string) Value { return g.rows[0].Get(column) }

// GroupBy returns the groups of the rows by the values of some columns, in the order
// in which they first occur; without columns, one group of all, if there are any.
func (t *Table) GroupBy(columns ...string) []Group {
	// Keys are made as bytes in one buffer: a table has tens of thousands of rows, and few groups.
	var groups []Group
	var key []byte // as a string only where a group is new
	of, at := make(map[string]int), t.indices(columns...)
	for _, r := range t.rows {
		key = r.appendKey(key[:0], at)
		i, ok := of[string(key)]
		if !ok {
			i = len(groups)
			groups = append(groups, Group{Key{string(key)}, &Table{columns: t.columns}})
			of[groups[i].Key.encoded] = i
		}
		groups[i].rows = append(groups[i].rows, r)
	}
	return groups
}

// ByKey returns the tables of groups by their keys. A key that no group has gives nil.
func ByKey(groups []Group) map[Key]*Table {
	of := make(map[Key]*Table)
	for _, g := range groups {
		of[g.Key] = g.Table
	}
	return of
}

// Values returns the different values of a column, none among them if it occurs, in
// the order in which they first occur.
func (t *Table) Values(column string) (values []Value) {
	seen, at := make(map[Value]bool), t.indices(column)
	for _, r := range t.rows {
		if v := r.values[at[0]]; !seen[v] {
			seen[v], values = true, append(values, v)
		}
	}
	return values
}

// Varies reports whether the rows differ in a column.
func (t *Table) Varies(column string) bool { return len(t.Values(column)) > 1 }

// Numbers returns the numbers of a column, without those that are missing or NaN.
func (t *Table) Numbers(column string) (numbers []float64) {
	at := t.indices(column)
	for _, r := range t.rows {
		if x := r.values[at[0]].Number(); x == x {
			numbers = append(numbers, x)
		}
	}
	return numbers
}

// Mean returns the mean of a number of each row, summed from the first row on; 0 of none.
func (t *Table) Mean(number func(Row) float64) (mean float64) {
	for _, r := range t.Rows() {
		mean += number(r) / float64(t.Len())
	}
	return mean
}

// Sort returns the rows sorted by some columns, the first of which is the most
// significant one: numbers ascend, texts keep the order in which they first occur, as
// rows do that have equal values.
func (t *Table) Sort(columns ...string) *Table {
	// Stable sorts by one column at a time, the least significant one first, make the order.
	sorted := &Table{t.columns, slices.Clone(t.rows)}
	for _, name := range slices.Backward(columns) {
		first := make(map[Value]int)
		for i, v := range t.Values(name) {
			if v.kind == Text {
				first[v] = i
			}
		}
		at := t.indices(name)
		slices.SortStableFunc(sorted.rows, func(a, b Row) int {
			x, y := a.values[at[0]], b.values[at[0]]
			if x.kind == Text && y.kind == Text {
				return cmp.Compare(first[x], first[y])
			}
			return Compare(x, y)
		})
	}
	return sorted
}

// Pair holds the rows of two tables that have the same values of some columns. One of
// the tables may be empty.
type Pair struct{ Left, Right *Table }

// Join pairs the groups of two tables by the values of some columns, which both have:
// first those of the left one in their order, then those that only the right one has.
func Join(left, right *Table, on ...string) []Pair {
	var pairs []Pair
	at := make(map[Key]int)
	for _, g := range left.GroupBy(on...) {
		at[g.Key] = len(pairs)
		pairs = append(pairs, Pair{g.Table, &Table{columns: right.columns}})
	}
	for _, g := range right.GroupBy(on...) {
		if i, ok := at[g.Key]; ok {
			pairs[i].Right = g.Table
		} else {
			pairs = append(pairs, Pair{&Table{columns: left.columns}, g.Table})
		}
	}
	return pairs
}

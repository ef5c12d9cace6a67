package table

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

type friction float64

// steps is a table of an integrator, its step, a distance and a reason for the order
// of its rows: no column is sorted.
func steps() *Table {
	t := New(Column{"integrator", Text}, Column{"h", Number}, Column{"ks", Number}, Column{"diverged", Truth})
	for _, r := range []struct {
		integrator string
		h, ks      any
	}{
		{"mt3", 0.02, 0.3}, {"leapfrog", 0.02, 0.2}, {"mt3", 0.005, 0.1}, {"leapfrog", 0.1, math.NaN()}, {"mt3", 0.1, nil},
	} {
		t.Add(r.ks, map[string]any{"integrator": r.integrator, "h": r.h, "ks": r.ks, "diverged": r.ks == nil})
	}
	return t
}

func TestValuesAreEqualIfTheyAreTheSame(t *testing.T) {
	const large = int64(1) << 60 // int has 32 bits on some machines
	same := [][2]any{
		{1, 1.0}, {uint64(7), int64(7)}, {friction(5), 5}, {math.NaN(), math.NaN()}, {0.0, math.Copysign(0, -1)},
		{math.Inf(1), friction(math.Inf(1))}, {nil, Value{}}, {large + 1, uint64(large + 1)},
	}
	for _, c := range same {
		if a, b := Of(c[0]), Of(c[1]); a != b || Compare(a, b) != 0 || string(a.appendTo(nil)) != string(b.appendTo(nil)) {
			t.Errorf("%v and %v differ", c[0], c[1])
		}
	}
	differ := []any{nil, false, true, math.NaN(), math.Inf(-1), 0, 1, large, large + 1, math.Inf(1), "", "-", "1", "NaN", "true"}
	for i, a := range differ {
		for _, b := range differ[i+1:] {
			if Of(a) == Of(b) || string(Of(a).appendTo(nil)) == string(Of(b).appendTo(nil)) {
				t.Errorf("%v and %v are equal", a, b)
			}
			if Compare(Of(a), Of(b)) >= 0 || Compare(Of(b), Of(a)) <= 0 {
				t.Errorf("%v does not come before %v", a, b)
			}
		}
	}
}

// A whole number that float64 lacks keeps its digits on the way out, too.
func TestLargeNumbersKeepTheirDigits(t *testing.T) {
	for _, n := range []any{int64(1)<<53 + 1, -(int64(1)<<53 + 1), uint64(1)<<63 + 1} {
		text, err := Of(n).MarshalJSON()
		if got := Of(n).Any(); Of(got) != Of(n) || err != nil || string(text) != fmt.Sprint(n) {
			t.Errorf("%v is %v, %s in JSON, %v", n, got, text, err)
		}
	}
}

// Where float64 cannot tell whole numbers apart, the one with more digits is larger.
func TestLargeNumbersAreOrderedByTheirDigits(t *testing.T) {
	less, more := Of(int64(9_999_999_999_999_999)), Of(int64(10_000_000_000_000_000))
	if less.Number() != more.Number() || Compare(less, more) >= 0 || Compare(more, less) <= 0 {
		t.Errorf("%v does not come before %v", less, more)
	}
}

// JSON has null for none and for numbers that it cannot say; people read a dash for none.
func TestValuesAreWrittenForPeopleAndInJSON(t *testing.T) {
	for _, c := range []struct {
		value      any
		json, text string
	}{
		{nil, "null", "–"}, {math.NaN(), "null", "NaN"}, {math.Inf(1), "null", "+Inf"},
		{math.Inf(-1), "null", "-Inf"}, {1e-7, "1e-7", "0.0000001"}, {true, "true", "true"},
		{"a b", `"a b"`, "a b"}, {friction(5), "5", "5"},
	} {
		text, err := Of(c.value).MarshalJSON()
		if err != nil || string(text) != c.json || Of(c.value).String() != c.text {
			t.Errorf("%v: %s and %s, %v: want %s and %s", c.value, text, Of(c.value), err, c.json,
				c.text)
		}
	}
}

// What is said of a column: its different values, whether there are several, and a mean over rows.
func TestColumnsAreSummarised(t *testing.T) {
	s := steps()
	var values []string
	for _, v := range s.Values("h") {
		values = append(values, v.String())
	}
	if want := []string{"0.02", "0.005", "0.1"}; !slices.Equal(values, want) {
		t.Errorf("values %q, want %q", values, want)
	}
	mt3, one := s.Where("integrator", "mt3"), s.Where("h", 0.02)
	if one.Varies("h") || !one.Varies("integrator") || mt3.Varies("integrator") {
		t.Error("a column varies that has one value, or one does not that has two")
	}
	mean := mt3.Mean(func(r Row) float64 { return r.Number("h") })
	if math.Abs(mean-0.125/3) > 1e-15 {
		t.Errorf("mean %v, want %v", mean, 0.125/3)
	}
	if of := ByKey(s.GroupBy("integrator")); of[mt3.Rows()[0].Key("integrator")].Len() != 3 {
		t.Errorf("groups by key %v, want three rows of mt3", of)
	}
}

func TestTwoColumnsOfOneNameAreRefused(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	New(Column{"h", Number}, Column{"ks", Number}, Column{"h", Text})
}

func TestAMissingNumberIsNaN(t *testing.T) {
	if x := Of(nil).Number(); x == x {
		t.Errorf("none is %v", x)
	}
	if got := steps().Numbers("ks"); !slices.Equal(got, []float64{0.3, 0.2, 0.1}) {
		t.Errorf("numbers %v", got)
	}
}

// Texts that hold what separates the values of a key do not make other keys equal.
func TestKeysCompareByValue(t *testing.T) {
	of := func(a, b string) Key {
		t := New(Column{"a", Text}, Column{"b", Text})
		t.Add(nil, map[string]any{"a": a, "b": b})
		return t.Rows()[0].Key("a", "b")
	}
	if of(`x" "y`, "z") == of("x", `y" "z`) || of("x", "") == of("", "x") {
		t.Error("keys of different values are equal")
	}
	if of("x", "y") != of("x", "y") {
		t.Error("keys of equal values in two tables differ")
	}
}

func TestGroupsComeInTheOrderOfTheirFirstRows(t *testing.T) {
	var got []string
	for _, g := range steps().GroupBy("integrator") {
		got = append(got, g.Get("integrator").Text(), g.Rows()[1].Get("h").String())
	}
	if want := []string{"mt3", "0.005", "leapfrog", "0.1"}; !slices.Equal(got, want) {
		t.Errorf("groups %q, want %q", got, want)
	}
	if all := steps().GroupBy(); len(all) != 1 || all[0].Len() != 5 {
		t.Errorf("without columns: %d groups", len(all))
	}
}

func TestNumbersAscendAndTextsKeepTheirOrder(t *testing.T) {
	var got []string
	for _, r := range steps().Sort("integrator", "h").Rows() {
		got = append(got, r.Text("integrator")+" "+r.Get("h").String())
	}
	if want := []string{"mt3 0.005", "mt3 0.02", "mt3 0.1", "leapfrog 0.02", "leapfrog 0.1"}; !slices.Equal(got, want) {
		t.Errorf("sorted %q, want %q", got, want)
	}
}

func TestWhereTakesAnyOfItsValues(t *testing.T) {
	s := steps()
	for _, c := range []struct {
		got  *Table
		want int
	}{
		{s.Where("h", 0.02, 0.005), 3}, {s.Where("ks", nil), 1}, {s.Where("ks", math.NaN()), 1}, {s.Where("diverged", true), 1}, {s.Where("h"), 0},
	} {
		if c.got.Len() != c.want {
			t.Errorf("%d rows, want %d", c.got.Len(), c.want)
		}
	}
}

func TestJoinKeepsWhatOneSideLacks(t *testing.T) {
	s := steps()
	pairs := Join(s.Where("integrator", "mt3"), s.Where("integrator", "leapfrog").Where("h", 0.1), "h")
	var got []int
	for _, p := range pairs {
		got = append(got, p.Left.Len(), p.Right.Len())
	}
	if want := []int{1, 0, 1, 0, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("joined %v, want %v", got, want)
	}
	if r := Join(s.Where("h"), s.Where("h", 0.1), "h"); len(r) != 1 || r[0].Left.Len() != 0 {
		t.Errorf("with an empty left side: %v", r)
	}
}

func TestAddRefusesWhatNoColumnHas(t *testing.T) {
	for _, values := range []map[string]any{{"integratr": "mt3"}, {"h": "0.1"}, {"integrator": []int{1}}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v was added", values)
				}
			}()
			steps().Add(nil, values)
		}()
	}
}

package rows

import "testing"

func TestRowsOutOfRangeAreRefused(t *testing.T) {
	l := Layout{N: 4}
	l.Gather([]int{3, 3}, []float64{1, 2})
	for _, tt := range []struct {
		name string
		call func()
		want bool // a panic
	}{
		{"all data rows", func() { l.Check(Range{Lo: 0, Hi: 4}) }, false},
		{"an empty range at the end", func() { l.Check(Range{Lo: 4, Hi: 4}) }, false},
		{"the list behind them", func() { l.Check(Range{Lo: 4, Hi: 6}) }, false},
		{"a range over both", func() { l.Check(Range{Lo: 3, Hi: 5}) }, true},
		{"beyond the list", func() { l.Check(Range{Lo: 5, Hi: 7}) }, true},
		{"before the first row", func() { l.Check(Range{Lo: -1, Hi: 2}) }, true},
		{"a reversed range", func() { l.Check(Range{Lo: 2, Hi: 1}) }, true},
		{"the order of the data", func() { l.CheckOrder(nil) }, false},
		{"an order of all rows", func() { l.CheckOrder([]int{3, 2, 1, 0}) }, false},
		{"an order of some rows", func() { l.CheckOrder([]int{1, 0}) }, true},
		{"a list longer than the data", func() { l.Gather(make([]int, 5), nil) }, true},
		{"fewer weights than rows", func() { l.Gather([]int{0, 1}, []float64{1}) }, true},
	} {
		func() {
			defer func() {
				if got := recover() != nil; got != tt.want {
					t.Errorf("%s: panics: %v, want %v", tt.name, got, tt.want)
				}
			}()
			tt.call()
		}()
	}
}

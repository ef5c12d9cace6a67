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
		{"all data rows", func() { l.CheckRange(0, 4) }, false},
		{"an empty range at the end", func() { l.CheckRange(4, 4) }, false},
		{"the list behind them", func() { l.CheckRange(4, 6) }, false},
		{"a range over both", func() { l.CheckRange(3, 5) }, true},
		{"beyond the list", func() { l.CheckRange(5, 7) }, true},
		{"before the first row", func() { l.CheckRange(-1, 2) }, true},
		{"a reversed range", func() { l.CheckRange(2, 1) }, true},
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

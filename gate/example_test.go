package gate_test

import (
	"errors"
	"fmt"
	"os"

	"hambench/gate"
)

// Benchmarks, twice each: the second run is slower than any noise explains.
func ExampleCompare() {
	old := "BenchmarkStep-2 100 1000 ns/op\nBenchmarkStep-2 100 1010 ns/op\n"
	new := "BenchmarkStep-2 100 1500 ns/op\nBenchmarkStep-2 100 1490 ns/op\n"
	report, err := gate.Compare(gate.Run{Name: "old.txt", Data: []byte(old)}, gate.Run{Name: "new.txt", Data: []byte(new)}, gate.Options{})
	if err != nil {
		fmt.Println(err) // the input cannot be compared
		return
	}
	for _, c := range report.Moved {
		fmt.Println(c.Where, c.What, c.Old, c.New)
	}
	fmt.Println(errors.Is(report.Err(), gate.ErrMoved))
	// Output:
	// Step-2 sec/op 1.005e-06 1.495e-06
	// true
}

// One run on each side says nothing about the noise: neither verdict would be
// honest.
func ExampleReport_Write() {
	report, err := gate.Compare(
		gate.Run{Name: "old.txt", Data: []byte("BenchmarkStep-2 100 1000 ns/op\n")},
		gate.Run{Name: "new.txt", Data: []byte("BenchmarkStep-2 100 1100 ns/op\n")}, gate.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	report.Write(os.Stdout)
	fmt.Println(report.Err())
	// Output:
	// +---------------+--------+----------+------------+-------------+----------+
	// | cannot decide | what   | worse by | would find | counts from | run more |
	// +---------------+--------+----------+------------+-------------+----------+
	// | Step-2        | sec/op | 10.0 %   | +Inf %     | 5.0 %       | 5        |
	// +---------------+--------+----------+------------+-------------+----------+
	// benchmarks: 1 compared, 0 moved, 1 undecided, 0 equal
	// gate: cannot decide: a change of --effect 5.0 % would be missed in more than one of ten runs: run 5 more (1 of 1 comparisons)
}

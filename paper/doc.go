// Package paper holds what Franzese et al. 2022 published and claim, and decides each
// claim with numbers. It decides the claims of later papers and of users' studies, too.
//
// # Published numbers
//
// PublishedIn has the numbers of the paper's tables (published.toml), Setups what it
// states about its data sets.
//
// # Claims
//
// Claims has the paper's claims, and those of others about the same questions
// (claims.toml); Later those about a later paper (later.toml); Own decides those that
// users' studies state. A Claim is a value: what is said, who says it and where, and how
// it is tested. A test reads rows of the table of results (bench.Results.Table), which it
// selects, groups and joins by their columns. No text that people read, such as the name
// of a problem or a legend, decides anything. Nothing but statistics is computed here,
// without integrators, models or data sets.
//
//	plans, err := bench.Plans(store, "quick")
//	rows := paper.Rows(plans, bench.NewResults(store))
//	err = paper.WriteText(os.Stdout, paper.Decide(paper.Claims(), rows), "quick")
//
// Rows has the rows of built-in studies alone: no study of a user's, whatever its id and
// its purposes are, takes part in the decision on a claim of the paper. A claim of a
// user's reads the rows of its own study alone.
//
// # Cases
//
// A claim consists of cases, each of which must hold: [[claim.case]] in the claims' files,
// [[claim]] itself in a user's study. A case says
//
//   - which rows count (where) and, for a ratio, which others they are divided by (over):
//     rows are paired that are equal in every setting that is not compared;
//   - the column (of) and its statistic;
//   - the interval (between) in which the number must lie, and the level of confidence;
//   - for readers: the names of both sides, the unit, the format of numbers.
//
// The interval that confirms, refutes if it is missed and leaves open if a confidence
// interval holds one of its ends stands in the file, never in the code.
//
// # Statistics
//
// The map statistics names the functions that decide a case. To add one, write a method
// of evaluation that reads its selected rows, enter it there, and, if users' studies may
// name it, among those of package bench. What such methods share:
//
//   - evaluation.rows leaves out cells without a result, and distances to references that
//     failed a check of their own, and keeps what the detail of the finding says of them;
//   - evaluation.compared joins rows with those that they are compared with, and
//     evaluation.pairs takes the pairs without a diverged chain. Those with one have no
//     accuracy, and are evidence: the statistics worse and diverged decide by them;
//   - the column above-floor is a distance less the measured floor, the median distance of
//     the full batch at the smallest step. Distances share it, so a ratio of them is pulled to
//     1: ratios decide by the excess, and state that of distances beside it;
//   - the column clear-excess is above-floor where it is more than ClearExcess: chance makes
//     smaller ones, of which logarithms make much;
//   - evaluation.add and evaluation.interval average numbers over replicates, by default
//     data sets: chains on one data set share its data and its reference, and are no
//     replicates of one another. Scatter is measured, never assumed;
//   - evaluation.each takes numbers without scatter, all of which must lie in the interval.
//
// # Frozen tests
//
// A claim of the files states the day or the time at which its test was frozen, and a
// digest of what decides: words, statistic, limits and rows. Whoever changes one of them
// freezes the test anew, later:
//
//	go test ./paper -run TestTestsAreFrozen -freeze 2026-12-24
//
// A verdict that reads records from before (or from that day) says "before the freeze". A number
// that no chain of the store can give is "not decided", with the reason (undecided).
//
// # Programs
//
// Some claims are decided by a computation of their own, such as the closed form of the
// bottleneck. The map programs has a function for the id of each. It gets the cases with
// the rows that they select, and takes its limits and formats from them.
//
// To test a claim of your own in Go, write a Claim with a function Decide, and append it
// to Claims().
package paper

// Package bench holds studies as data: what is to be run, and under which key
// it is kept.
//
// A Study is a figure or a table as a list of what it needs: Cells, each of
// them one chain, Exact jobs, each of them exact ergodic errors of one
// integrator, and reference chains that cells are started from and judged by.
// Studies are made from a Profile, which says how much of the paper's grid is
// run. Nothing is computed here: package sweep does that.
//
// Resolve turns studies into a Plan: every job with its key, and all that
// captions and legends state. The key is the hash of the job's canonical JSON and
// of fingerprints of what makes its numbers (Keys). The plan is the manifest of
// a run; it is kept in the store, so that what was run can be drawn, judged and
// exported without data, models or integrators at hand.
package bench

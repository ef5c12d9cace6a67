// Package bench holds studies as data: what is to be run, and under which keys
// the results are kept.
//
// A Study is a figure or a table as a list of what it needs: Cells, each of
// them one chain, Exact jobs, each of them exact ergodic errors of one
// integrator, and reference chains that cells are started from and judged by.
// A File says in TOML what a study varies, what it fixes, and how it is shown;
// docs/studies.md describes the format. Load reads one, or a built-in one by its
// name, Parse one that a program states, with parts of its own; the Study method lists the
// jobs of a Profile. Nothing is computed here: package sweep does that.
//
// Each Setting of a chain has one declaration (Settings): the names that files, flags,
// columns and legends have for it, its range and default, and where figures show it.
// Results.Table has all that a store holds for some plans as one table of typed rows
// (package table), with columns that say where each row is from.
//
// Resolve turns each study into a Plan: every job with its key, and all that
// captions and legends state. The key is the hash of the job's canonical JSON and
// of fingerprints of what makes its numbers (Keys). The plan is the manifest of
// a run. It is kept in the store, so that what was run can be drawn, judged and
// exported without the data, the models or the integrators.
package bench

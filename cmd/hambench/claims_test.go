package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hambench/internal/long"
)

func TestClaimsBadInput(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"claims", "--format", "pdf"}, `--format "pdf": want one of text, markdown, json`},
		{[]string{"claims", "--profile", "huge"}, `unknown profile "huge"`},
		{[]string{"claims", "--out", ""}, "--out is empty"},
		{[]string{"claims", "leapfrog"}, `unknown study "leapfrog"`},
		{[]string{"reproduce", "--only", "order", "--out", t.TempDir()}, "autocorrelation, precision, orders, efficiency, claims"},
	} {
		code, _, stderr := call(t, c.args...)
		if code != exitUsage || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit code %d, %q: want 2 and one line with %q", c.args, code, stderr, c.want)
		}
	}
}

// A folder for temporary files in which no store can be made, since its path is too long for what
// a store holds, is an error of one line.
func TestClaimsWithoutRoomForAStore(t *testing.T) {
	const longest = 4095 // bytes of a path on Linux
	dir := t.TempDir()
	for left := longest - 23 - len(dir); left > 1; left = longest - 23 - len(dir) {
		dir += "/" + strings.Repeat("x", min(left-1, 200))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Skipf("no paths as long as Linux allows: %v", err)
	}
	t.Setenv("TMPDIR", dir)
	f := &selection{out: filepath.Join(t.TempDir(), "nowhere")}
	f.stderr = io.Discard
	remove, err := f.openEvidence(t.Context())
	remove()
	if entries, _ := os.ReadDir(dir); err == nil || len(entries) > 0 {
		t.Errorf("error %v, left %v", err, entries)
	}
}

// Without a store the evidence is temporary: no command continues where it was interrupted.
func TestInterruptedClaimsPromiseNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr bytes.Buffer
	code := run(ctx, io.Discard, &stderr, []string{"claims", "--out", filepath.Join(t.TempDir(), "none")})
	if said := stderr.String(); code != exitInterrupted || !strings.Contains(said, "hambench: interrupted with 0 of 128 jobs, none of which is kept\n") || strings.Contains(said, "continues") {
		t.Errorf("exit code %d, %s", code, said)
	}
}

// orders and claims are known where studies are, as ids without cells.
func TestIDsWithoutCells(t *testing.T) {
	out := t.TempDir()
	code, stdout, _ := call(t, "list", "studies")
	if code != exitOK || !strings.Contains(stdout, "| orders ") || !strings.Contains(stdout, "| claims ") {
		t.Errorf("list: exit code %d, %s", code, stdout)
	}
	code, stdout, stderr := call(t, "reproduce", "--only", "orders,claims", "--check", "--out", out)
	if code != exitFailed || !strings.Contains(stdout, "missing: orders: exact errors of leapfrog (nl 1) on gaussian") {
		t.Errorf("check: exit code %d, %s%s", code, stdout, stderr)
	}
	code, stdout, stderr = call(t, "reproduce", "--only", "orders,claims", "--dry-run", "--out", out)
	if code != exitOK || !strings.Contains(stdout, "| orders ") || !strings.Contains(stdout, "| claims ") {
		t.Errorf("dry run: exit code %d, %s%s", code, stdout, stderr)
	}
	code, _, stderr = call(t, "reproduce", "--only", "orders", "--figures-only", "--out", out)
	if code != exitUsage || strings.Count(stderr, "\n") != 1 {
		t.Errorf("orders without a run: exit code %d, %s", code, stderr)
	}
}

// The whole way once: everything is certified, drawn and decided; then again
// with nothing computed; then printed from the store.
func TestLongReproduceOrdersAndClaims(t *testing.T) {
	long.Test(t)
	t.Setenv("HAMBENCH_OFFLINE", "1")
	made := certified()
	if s := made.stdout.String(); made.code != exitOK || !strings.Contains(s, "0 refuted; the table is orders.txt") {
		t.Fatalf("exit code %d, %s%s", made.code, s, &made.stderr)
	}
	out := t.TempDir()
	if err := os.CopyFS(out, os.DirFS(made.dir)); err != nil {
		t.Fatal(err)
	}
	page := make(map[string][]byte)
	for _, name := range []string{"orders.png", "orders.svg", "orders.pdf", "orders.csv", "orders.json", "orders.txt", "claims.md", "claims.json", "claims.txt"} {
		data, err := os.ReadFile(filepath.Join(out, name))
		if err != nil || len(data) == 0 {
			t.Errorf("%s: %v", name, err)
		}
		page[name] = data
	}
	code, stdout, stderr := call(t, "reproduce", "--only", "orders,claims", "--out", out)
	if code != exitOK || !strings.Contains(stdout, "nothing was computed") {
		t.Errorf("second run: exit code %d, %s%s", code, stdout, stderr)
	}
	for name, first := range page {
		if second, _ := os.ReadFile(filepath.Join(out, name)); string(second) != string(first) && name != "orders.pdf" { // a PDF carries its date
			t.Errorf("%s: the second run wrote other bytes", name)
		}
	}
	code, stdout, stderr = call(t, "claims", "--out", out, "--format", "json")
	if code != exitOK || stdout != string(page["claims.json"]) {
		t.Errorf("claims: exit code %d, %s: want the bytes of claims.json", code, stderr)
	}
	var decided []struct{ ID, Verdict string }
	if err := json.Unmarshal([]byte(stdout), &decided); err != nil {
		t.Fatal(err)
	}
	verdicts := make(map[string]string)
	for _, d := range decided {
		verdicts[d.ID] = d.Verdict
	}
	for id, want := range map[string]string{"order-mt3": "confirmed", "reshuffle-order": "confirmed", "chen-2015": "refuted", "sghmc-irrelevant": "refuted", "sghmc-correction": "not decided", "batch-size": "not decided"} {
		if verdicts[id] != want {
			t.Errorf("%s is %q, want %s", id, verdicts[id], want)
		}
	}
	usersStudiesChangeNoClaim(t, out, stdout)
}

// saga's orders under lietrotter are below those of plain gradients: read as
// evidence of the paper's claims they would refute two of them.
const withSaga = `id = %q
title = "lietrotter with saga"

[[exact]]
purpose    = "orders"
problem    = "gaussian"
integrator = "lietrotter"
estimator  = "saga"
scheme     = "reshuffle"

[profile.quick]
`

// usersStudiesChangeNoClaim runs studies of a user's in a folder where the claims
// have been decided, and decides them again.
func usersStudiesChangeNoClaim(t *testing.T, out, before string) {
	for _, id := range []string{"with-saga", "orders"} { // one has the id of a built-in study
		file := filepath.Join(t.TempDir(), id+".toml")
		if err := os.WriteFile(file, fmt.Appendf(nil, withSaga, id), 0o644); err != nil {
			t.Fatal(err)
		}
		if code, _, stderr := call(t, "run", file, "--profile", "quick", "--out", out); code != exitOK {
			t.Fatalf("run of %s: exit code %d, %s", id, code, stderr)
		}
		if code, after, stderr := call(t, "claims", "--out", out, "--format", "json"); code != exitOK || after != before {
			t.Errorf("claims after a user's study %s: exit code %d, %s: want them as they were", id, code, stderr)
		}
	}
	if err := os.Remove(filepath.Join(out, "claims.json")); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := call(t, "reproduce", "--only", "claims", "--figures-only", "--out", out)
	redrawn, err := os.ReadFile(filepath.Join(out, "claims.json"))
	if code != exitOK || err != nil || string(redrawn) != before {
		t.Errorf("claims drawn after users' studies: exit code %d, %v, %s: want them as they were", code, err, stderr)
	}
}

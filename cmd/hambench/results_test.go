package main

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hambench/internal/long"
)

// The committed figures, tables and claims are those that the committed store
// gives: their numbers are equal byte for byte.
func TestLongCommittedResultsAreThoseOfTheirStore(t *testing.T) {
	long.Test(t)
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("needs make")
	}
	dir := filepath.Join(t.TempDir(), "my out")
	redraw := exec.Command("make", "-C", "../..", "redraw", "OUT="+dir)
	out := filepath.Join(dir, "committed")
	if text, err := redraw.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, pattern := range []string{"*.csv", "*.txt", "claims.*"} {
		committed, err := filepath.Glob(filepath.Join("../../docs/results", pattern))
		if err != nil || len(committed) == 0 {
			t.Fatalf("no %s among the committed results: %v", pattern, err)
		}
		for _, path := range committed {
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(filepath.Join(out, filepath.Base(path))); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s is not what its store gives: %v", path, err)
			}
		}
	}
	code, _, stderr := call(t, "export", "--profile", "standard", "--out", out)
	if want := "note: of profile default, in which they were run by name: the rows of sms-coupled\n"; code != exitOK || !strings.Contains(stderr, want) {
		t.Errorf("export: exit code %d, %q; want %q", code, stderr, want)
	}
	// Of the page its words: coordinates of pictures may differ in their last digit elsewhere.
	pictures := regexp.MustCompile(`(?s)<svg.*?</svg>|data:[^"]*`)
	got := strings.Split(pictures.ReplaceAllString(read(t, filepath.Join(out, "index.html")), ""), "\n")
	for i, line := range strings.Split(pictures.ReplaceAllString(read(t, "../../docs/results/index.html"), ""), "\n") {
		if i >= len(got) || got[i] != line {
			t.Fatalf("line %d of the page's words is not what its store gives: %.300s", i+1, line)
		}
	}
	drawn, _ := filepath.Glob(filepath.Join(out, "*.csv"))
	for _, path := range drawn {
		name := filepath.Base(path)
		if slices.Contains([]string{"paths.csv", "orders.csv", "svrg-ubu.csv"}, name) { // 600, 400 and 170 kB
			continue
		}
		if _, err := os.Stat(filepath.Join("../../docs/results", name)); err != nil {
			t.Errorf("%s is not committed: %v", name, err)
		}
	}
}

// records are the lines of a committed table of numbers, by the names of their columns.
func records(t *testing.T, table string) (records []map[string]string) {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(read(t, "../../docs/results/"+table+".csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		of := make(map[string]string)
		for i, name := range lines[0] {
			of[name] = line[i]
		}
		records = append(records, of)
	}
	return records
}

// docs/paper.md and README say that on the regression networks the distance of leapfrog with
// B = 8 follows η/C: of all pairs of committed cells with different steps and one η/C, both off
// the floor, those without a diverged chain, those with some, and those of which one side has
// none left. A pair's ratio is of the larger step's excess over the floor, and of its distance.
func TestNetworksFollowTheStepOverTheFriction(t *testing.T) {
	type cell struct{ h, friction, ks, floor, diverged float64 }
	cells := make(map[string][]cell)
	for _, of := range records(t, "friction") {
		number := func(name string) float64 {
			x, err := strconv.ParseFloat(of[name], 64)
			switch {
			case of[name] == "": // no chain is left
				return math.NaN()
			case err != nil:
				t.Fatal(err)
			}
			return x
		}
		if of["batch"] == "8" && !(number("ks_mean") < 0.12) {
			set := of["dataset"]
			cells[set] = append(cells[set], cell{number("h"), number("friction"), number("ks_mean"),
				number("floor"), number("cells_diverged")})
		}
	}
	type kind struct {
		pairs                        int
		low, high, lowAway, highAway float64
	}
	none := kind{low: 9, lowAway: 9}
	whole, some, lost := none, none, kind{}
	both, damped := 0, 0 // pairs of which both sides are lost, and those whose larger step more friction saves
	for _, set := range []string{"boston", "concrete", "energy", "yacht"} {
		for _, a := range cells[set] {
			for _, b := range cells[set] {
				if a.h < b.h && math.Abs(a.h*b.friction/(b.h*a.friction)-1) < 1e-9 {
					of := &whole
					switch {
					case math.IsNaN(a.ks + b.ks):
						lost.pairs++
						if math.IsNaN(a.ks) && math.IsNaN(b.ks) {
							both++
							if slices.ContainsFunc(cells[set], func(c cell) bool { return c.h == b.h && c.diverged == 0 }) {
								damped++
							}
						}
						continue
					case a.diverged+b.diverged > 0:
						of = &some
					}
					distance, away := b.ks/a.ks, (b.ks-b.floor)/(a.ks-a.floor)
					*of = kind{of.pairs + 1, min(of.low, distance), max(of.high, distance), min(of.lowAway, away), max(of.highAway, away)}
				}
			}
		}
	}
	of := fmt.Sprintf("within a factor of %.2f to %.2f (distances: %.2f to %.2f)", whole.lowAway, whole.highAway, whole.low, whole.high)
	for doc, says := range map[string][]string{
		"../../README.md": {fmt.Sprintf("%d pairs", whole.pairs), of},
		"../../docs/paper.md": {fmt.Sprintf("%d pairs", whole.pairs), of,
			fmt.Sprintf("In %d more some chains diverged, and the larger step has %.2f to %.2f times the excess of the smaller", some.pairs, some.lowAway, some.highAway),
			fmt.Sprintf("in %d more all chains of the larger step did", lost.pairs),
			fmt.Sprintf("In %d of those, of energy and yacht, all chains of the smaller step did, too, and in %d of the %d no chain diverges at the larger step and a larger friction", both, damped, both)},
	} {
		text := strings.Join(strings.Fields(read(t, doc)), " ")
		for _, words := range says {
			if !strings.Contains(text, words) {
				t.Errorf("%s does not say %q", doc, words)
			}
		}
	}
}

// What README says of its picture is in the committed run: both floors in the numbers of the
// figure, where lines leave them in its caption, which is computed as it is drawn.
func TestREADMESaysWhatFigureOneShows(t *testing.T) {
	text := strings.Join(strings.Fields(read(t, "../../README.md")), " ")
	rows, err := csv.NewReader(strings.NewReader(read(t, "../../docs/results/bottleneck.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	last := rows[len(rows)-1]
	for column, says := range map[string]string{"floor": "floor of correlated chains (%.3f;", "self_mean": "independent draws have %.3f)"} {
		v, err := strconv.ParseFloat(last[slices.Index(rows[0], column)], 64)
		if want := fmt.Sprintf(says, v); err != nil || !strings.Contains(text, want) {
			t.Errorf("README does not say %q, %v", want, err)
		}
	}
	page := html.UnescapeString(read(t, "../../docs/results/index.html"))
	for caption, says := range map[string]string{
		"full batch: clear of the floor (every chain above every one of the floor's): euler from η = 0.01, lietrotter from η = 0.09 on; nowhere: leapfrog, mt3.": "lietrotter is from η = 0.09 on, euler from 0.01.",
		"euler from η = 0.01, leapfrog from η = 0.01, lietrotter from η = 0.01, mt3 from η = 0.01 on.":                                                           "With batches of 8 all are, from η = 0.01 on at the latest.",
	} {
		if !strings.Contains(page, caption) || !strings.Contains(text, says) {
			t.Errorf("the page says %q: %t; README says %q: %t", caption, strings.Contains(page, caption), says, strings.Contains(text, says))
		}
	}
}

// README and docs/paper.md say of the second picture what its claims say.
func TestREADMESaysWhatTheTwoLawsShow(t *testing.T) {
	found := regexp.MustCompile(`found: below: ratios from (\S+) to (\S+); above: ratios from (\S+) to (\S+)\n`).
		FindStringSubmatch(read(t, "../../docs/results/regimes-claims.txt"))
	if found == nil {
		t.Fatal("no ratios in the claims of regimes")
	}
	text := strings.Join(strings.Fields(read(t, "../../README.md")), " ")
	want := fmt.Sprintf("leave %s to %s of the error of independent batches on the Gaussian problems, whose frequencies lie within a factor of 1.6; where Kηω·min(1, ω/C) is above 3 they leave %s to %s of it",
		found[1], found[2], found[3], found[4])
	if !strings.Contains(text, want) {
		t.Errorf("README does not say %q", want)
	}
	paper := strings.Join(strings.Fields(read(t, "../../docs/paper.md")), " ")
	claims := read(t, "../../docs/results/regimes-claims.txt")
	for _, of := range []struct{ found, says string }{
		{"heat-law-grows: confirmed (by chains from before the freeze not decided, by those since not decided)", "grows with the step and falls with the friction: confirmed, by all chains together."},
		{"heat-law-eta-over-c: not decided", "so that the powers of step and friction in the distance sum to 0. On the paper's six data sets this is not decided by all distances"},
		{"random-orders-remove-heat: confirmed\n", "leave less than a quarter of the excess of independent batches: confirmed."},
	} {
		if !strings.Contains(claims, of.found) || !strings.Contains(text, of.says) {
			t.Errorf("the claims say %q: %t; README says %q: %t", of.found, strings.Contains(claims, of.found), of.says, strings.Contains(text, of.says))
		}
	}
	for _, of := range []struct{ file, found, says string }{
		{"claims.md", `leapfrog-competes\].*accuracy: (\S+) times the excess, in \[(\S+), (\S+)\]`, "%s times their excess, in [%s, %s]"},
		{"population-claims.txt", `found: (\S+), in \[(\S+), (\S+)\], \d+ data sets`, "On twenty data sets, at steps up to the largest stable one, it is refuted, narrowly: %s, in [%s, %s]."},
		{"friction-claims.txt", `found: (\S+), in \[(\S+), (\S+)\], \d+ data sets`, "confirmed, narrowly, by those clearly above the floor: the sum is %s, in [%s, %s], where up to 0.2 passes."},
	} {
		m := regexp.MustCompile(of.found).FindStringSubmatch(read(t, "../../docs/results/"+of.file))
		if m == nil {
			t.Fatalf("%s has no %s", of.file, of.found)
		}
		if want := strings.ReplaceAll(fmt.Sprintf(of.says, m[1], m[2], m[3]), "[-", "[−"); !strings.Contains(text, want) {
			t.Errorf("README does not say %q", want)
		}
	}
	for _, of := range []struct{ found, says string }{
		{"found: random orders, a: 0.80, in [0.37, 1.24], 6 data sets; random orders, b: -0.65, in [-0.89, -0.41], 6 data sets",
			"η to the power 0.80, in [0.37, 1.24], and C to the power −0.65, in [−0.89, −0.41] (99 %). That it grows with η and falls with C is confirmed, by a test that was frozen when"},
		{"found: random orders: 0.15, in [-0.16, 0.46], 6 data sets", "is not decided: 0.15, in [−0.16, 0.46]"},
		{"heat-law-grows: confirmed (by chains from before the freeze not decided, by those since not decided)", "(neither those three nor the others decide it alone)"},
		{"random-orders-gain-nothing-in-heat: not decided", "it is not decided whether random orders, symmetric sweeps and new partitions leave four fifths of the excess or more"},
		{"found: random orders: 0.93, in [0.83, 1.01], 7 data sets", "random orders leave 0.93 of it, in [0.83, 1.01]"},
		{"symmetric sweeps: 0.97, in [0.89, 1.00], 7 data sets", "symmetric sweeps 0.97, in [0.89, 1.00]"},
		{"new partitions: 0.94, in [0.78, 1.02], 7 data sets", "new partitions, which alone leave it open, 0.94, in [0.78, 1.02]"},
		{"random-orders-remove-heat: confirmed\n", "leave less than a quarter of the excess of independent batches, which is confirmed."},
	} {
		if !strings.Contains(claims, of.found) || !strings.Contains(paper, of.says) {
			t.Errorf("the claims say %q: %t; docs/paper.md says %q: %t", of.found, strings.Contains(claims, of.found), of.says, strings.Contains(paper, of.says))
		}
	}
	concrete := regexp.MustCompile(`\| heat +\| reshuffle +\| concrete, K = \d+ +\| \+(\S+ ± \S+) +\| -(\S+ ± \S+) `).
		FindStringSubmatch(read(t, "../../docs/results/regimes-exponents.txt"))
	if concrete == nil || !strings.Contains(paper, fmt.Sprintf("(concrete, whose excess is 0.10 or more: %s and −%s,", concrete[1], concrete[2])) {
		t.Errorf("docs/paper.md does not say of concrete %q", concrete)
	}
	powers := regexp.MustCompile(`\| heat +\| reshuffle +\| mean +\| \+(\S+ ± \S+) +\| -(\S+ ± \S+) `).
		FindStringSubmatch(read(t, "../../docs/results/regimes-exponents.txt")) // the first: of data sets
	if powers == nil {
		t.Fatal("no powers in the table of regimes")
	}
	want = fmt.Sprintf("means over data sets, %s and −%s (95 %%);", powers[1], powers[2])
	if !strings.Contains(paper, want) {
		t.Errorf("docs/paper.md does not say %q", want)
	}
}

// Verdicts and numbers of docs/paper.md are those of the committed claims and tables; README
// counts verdicts as they are.
func TestDocumentsSayWhatTheCommittedClaimsSay(t *testing.T) {
	claims, doc := read(t, "../../docs/results/claims.md"), read(t, "../../docs/paper.md")
	said := strings.Join(strings.Fields(doc), " ")
	of := make(map[string]string) // verdicts
	for _, c := range committedClaims(t) {
		of[c.ID] = c.Verdict
	}
	count := regexp.MustCompile(`the paper's (\d+): (\d+) confirmed, (\d+) refuted, (\d+) not decided; our own (\d+): (.*?); of others`)
	n := count.FindStringSubmatch(claims)
	if len(of) < 40 || n == nil {
		t.Fatalf("%d claims, counts %q", len(of), n)
	}
	if want := fmt.Sprintf("Of the paper's %s claims that are tested, %s are confirmed, %s refuted and %s not decided. Our own are %s more (%s)", n[1], n[2], n[3], n[4], n[5], n[6]); !strings.Contains(said, want) {
		t.Errorf("docs/paper.md does not say %q", want)
	}
	readme := strings.Join(strings.Fields(read(t, "../../README.md")), " ")
	if want := fmt.Sprintf("of its %s claims that are tested %s are confirmed, %s refuted and %s not decided", n[1], n[2], n[3], n[4]); !strings.Contains(readme, want) {
		t.Errorf("README does not say %q", want)
	}
	words := regexp.MustCompile("\\[`([\\w-]+)`, (confirmed|refuted|not decided)\\]").FindAllStringSubmatch(doc, -1)
	for _, m := range words {
		if of[m[1]] != m[2] {
			t.Errorf("docs/paper.md says that %s is %s, it is %s", m[1], m[2], of[m[1]])
		}
	}
	for _, m := range regexp.MustCompile("`([a-z][a-z0-9]*(?:-[a-z0-9]+)+)`[,\\]]").FindAllStringSubmatch(doc, -1) {
		if _, ok := of[m[1]]; !ok {
			t.Errorf("docs/paper.md names a claim %q, which there is not", m[1])
		}
	}
	if len(words) < 4 {
		t.Errorf("%d verdicts in docs/paper.md are compared", len(words))
	}
	for _, of := range records(t, "autocorrelation") {
		var ours, paper float64
		if _, err := fmt.Sscan(of["lag1"]+" "+of["lag1_paper"], &ours, &paper); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("%s %.2f (paper %.2f)", of["dataset"], ours, paper); !strings.Contains(said, want) {
			t.Errorf("docs/paper.md does not say %q", want)
		}
	}
}

// committedClaim is a claim of docs/results/claims.json.
type committedClaim struct {
	ID, Verdict, Summary string
	Read                 int  `json:"rows_read"`
	Before               bool `json:"before_freeze"`
	Known, Since         *struct{ Verdict, Summary string }
}

func committedClaims(t *testing.T) (claims []committedClaim) {
	if err := json.Unmarshal([]byte(read(t, "../../docs/results/claims.json")), &claims); err != nil {
		t.Fatal(err)
	}
	return claims
}

// editions is the verdict on results that were known when the test was frozen, empty where others
// have replaced them, so that the list by edition alone still has it; and the verdict on results
// since then.
func (c committedClaim) editions() (known, since string) {
	switch {
	case c.Since != nil:
		return "", c.Since.Verdict
	case c.Before:
		return c.Verdict, "–"
	case c.Read > 0:
		return "", c.Verdict
	}
	return "", "–"
}

// README says of how many claims a part of the chains was known at the freeze, and that those
// that were run since give the verdicts of all.
func TestVerdictsSinceTheFreezeAreThoseOfAllChains(t *testing.T) {
	alone := 0
	for _, c := range committedClaims(t) {
		if c.Since == nil {
			continue
		}
		if alone++; c.Since.Verdict != c.Verdict {
			t.Errorf("%s: %s by chains since the freeze, %s by all; README says that they agree", c.ID, c.Since.Verdict, c.Verdict)
		}
	}
	if want := fmt.Sprintf("of %d of them the first seed of `population` was known, too, and later chains alone give the same verdict", alone); !strings.Contains(read(t, "../../README.md"), want) {
		t.Errorf("README does not say %q", want)
	}
}

var update = flag.Bool("update", false, "write the verdicts and numbers in the tables of docs/paper.md anew")

// The tables of docs/paper.md have the verdicts and numbers of the committed results. The first
// cells of a row, which say what it is about, are our own words; so are the paper's numbers.
func TestTablesOfThePaperAreThoseOfTheResults(t *testing.T) {
	claims := make(map[string]committedClaim)
	for _, c := range committedClaims(t) {
		claims[c.ID] = c
	}
	distances := make(map[string]string) // of chains in batches of 8
	for _, of := range records(t, "friction") {
		if of["batch"] == "8" {
			place := fmt.Sprintf("%s (%s, %s)", of["dataset"], of["friction"], of["h"])
			if ks, err := strconv.ParseFloat(of["ks_mean"], 64); err == nil {
				distances[place] = fmt.Sprintf("%.3f", ks)
			}
		}
	}
	scores := make(map[string][2]string)
	for _, table := range []string{"regression", "classification"} {
		set := ""
		for line := range strings.Lines(read(t, "../../docs/results/"+table+".txt")) {
			c := strings.Split(line, "|")
			if len(c) < 13 {
				continue
			}
			set = cmp.Or(strings.TrimSpace(c[1]), set)
			scores[set+" "+strings.TrimSpace(c[4])] = [2]string{strings.TrimSpace(c[7]), strings.TrimSpace(c[10])}
		}
	}
	named := regexp.MustCompile("\\[?`([\\w-]+)`(?:, ours\\])?\\]?$")
	rows := make(map[string]int)
	lines := strings.Split(read(t, "../../docs/paper.md"), "\n")
	for i, line := range lines {
		c := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |"), " | ")
		if len(c) < 3 || !strings.HasPrefix(line, "| ") {
			continue
		}
		var claim committedClaim
		if m := named.FindStringSubmatch(c[0]); m != nil {
			claim = claims[m[1]]
		}
		kind, score := "", scores[c[0]+" "+c[1]]
		switch {
		case len(c) == 4 && claim.ID != "":
			kind, c[1], c[2], c[3] = "what chains say", claim.Summary, claim.Verdict, "–"
			if s := claim.Since; s != nil {
				c[3] = s.Verdict + ": " + s.Summary
			}
		case len(c) == 5 && claim.ID != "":
			kind = "verdicts by edition"
			known, since := claim.editions()
			c[3], c[4] = cmp.Or(known, strings.Trim(c[3], "*")), since
			if c[2] != "–" && c[3] != "–" && c[3] != c[2] {
				c[3] = "**" + c[3] + "**"
			}
		case len(c) == 6 && strings.HasSuffix(c[1], "HMC"):
			kind, c[2], c[4] = "scores", score[0], score[1]
		case len(c) == 3 && strings.HasPrefix(c[1], "(") && c[0] != "data":
			kind = "equal η/C"
			var of []string
			for place := range strings.SplitSeq(c[1], " and ") {
				of = append(of, distances[c[0]+" "+place])
			}
			c[2] = strings.Join(of, ", ")
		default:
			continue
		}
		rows[kind]++
		want := "| " + strings.Join(c, " | ") + " |"
		if line != want && !*update {
			t.Errorf("docs/paper.md has\n%s\nwant\n%s", line, want)
		}
		lines[i] = want
	}
	if rows["verdicts by edition"] != len(claims) || rows["what chains say"] != 12 || rows["scores"] != 12 || rows["equal η/C"] != 12 {
		t.Errorf("rows of docs/paper.md: %v, of %d claims", rows, len(claims))
	}
	if *update {
		if err := os.WriteFile("../../docs/paper.md", []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The mean of the powers is over data sets: one of which two numbers of batches were run, as under
// replacement, counts once.
func TestMeansOfPowersAreOverDataSets(t *testing.T) {
	lines := regexp.MustCompile(`(?m)^\| \w+ +\| heat +\| (\w+) +\| ([^|,]+?)(?:, K = \d+)? +\| ([+-]\S+) ± \S+ +\| `).
		FindAllStringSubmatch(read(t, "../../docs/results/regimes-exponents.txt"), -1)
	sets, twice, seen := make(map[string][]float64), false, 0
	for _, m := range lines {
		scheme, set := m[1], m[2]
		v, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		if set != "mean" {
			twice = twice || sets[set] != nil
			sets[set] = append(sets[set], v)
			continue
		}
		mean := 0.0
		for _, of := range sets {
			for _, v := range of {
				mean += v / float64(len(of)*len(sets))
			}
		}
		if math.Abs(mean-v) > 0.011 {
			t.Errorf("%s: the mean of %d sets is %+.3f, the table has %+.2f", scheme, len(sets), mean, v)
		}
		sets, seen = make(map[string][]float64), seen+1
	}
	if !twice || seen < 5 {
		t.Errorf("%d means, a set twice: %t", seen, twice)
	}
}

// The table of widths in docs/theory.md is that of the committed run: of each data set and
// width, batches of 8 at two steps, four batches, and the full batch at the same friction.
func TestWidthsOfTheTheoryAreThoseOfTheTable(t *testing.T) {
	lines, err := csv.NewReader(strings.NewReader(read(t, "../../docs/results/scaling-table.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := func(name string) int { return slices.Index(lines[0], name) }
	type network struct{ data, model string }
	rows := make(map[network][][]string)
	var networks []network
	for _, line := range lines[1:] {
		n := network{line[column("dataset")], line[column("model")]}
		if rows[n] == nil {
			networks = append(networks, n)
		}
		rows[n] = append(rows[n], line)
	}
	doc := read(t, "../../docs/theory.md")
	inputs := map[string]int{"boston": 13, "yacht": 6}
	least, most := make(map[string]float64), make(map[string]float64) // of V, up to a factor
	for _, n := range networks {
		// number is that of the chain with so many batches, at the place of its step among
		// those of its kind.
		number := func(name string, few bool, scheme string, place int) float64 {
			for _, line := range rows[n] {
				k, err := strconv.Atoi(line[column("K")])
				if err != nil {
					t.Fatal(err)
				}
				if (k <= 4) != few || line[column("scheme")] != scheme || scheme == "full" && line[column("friction")] != "5" {
					continue
				}
				if place--; place < 0 {
					x, err := strconv.ParseFloat(line[column(name)], 64)
					if err != nil {
						t.Fatal(err)
					}
					return x
				}
			}
			t.Fatalf("%v has no chain: %s, %d", n, scheme, place)
			return 0
		}
		const random, independent = "reshuffle", "replacement"
		width, _, _ := strings.Cut(strings.TrimPrefix(n.model, "bnn:"), ",")
		want := fmt.Sprintf("| %s | %s | %.2g | %.2g |", n.data, width, number("k_eta_omega", false, random, 0), number("eta_v_over_c", false, random, 0))
		for _, at := range []struct {
			few    bool
			scheme string
			place  int
		}{
			{false, random, 0}, {false, independent, 0}, {false, random, 1}, {false, independent, 1},
			{true, random, 0}, {true, independent, 0}, {true, "full", 0},
		} {
			want += fmt.Sprintf(" %.2f |", number("ks", at.few, at.scheme, at.place))
		}
		if !strings.Contains(doc, "\n"+want+"\n") {
			t.Errorf("docs/theory.md lacks the line %s", want)
		}
		// What it says below the table: V, the sum over all parameters, stays, and of four
		// batches independent ones alone leave the floor.
		units, err := strconv.Atoi(width)
		if err != nil {
			t.Fatal(err)
		}
		dim := float64((inputs[n.data]+1)*units + (units+1)*units + units + 1)
		v := dim * number("eta_v_over_c", false, random, 0)
		least[n.data], most[n.data] = min(cmp.Or(least[n.data], v), v), max(most[n.data], v)
		floor := number("ks", true, "full", 0)
		if few := number("ks", true, random, 0); few > floor+0.01 {
			t.Errorf("%v: four batches in random orders are at %v, the floor is %v", n, few, floor)
		}
		if few := number("ks", true, independent, 0); few < floor+0.015 {
			t.Errorf("%v: four independent batches are at %v, the floor is %v", n, few, floor)
		}
	}
	for data := range most {
		if most[data] > 3*least[data] {
			t.Errorf("%s: V varies by a factor of %v", data, most[data]/least[data])
		}
	}
	if len(networks) < 5 {
		t.Errorf("%d networks are compared", len(networks))
	}
}

// The identifiers of Software Heritage in docs/results are those of the committed store and of the
// commits that the text says made it.
func TestIdentifiersAreThoseOfTheResults(t *testing.T) {
	text := read(t, "../../docs/results/README.md")
	data := read(t, "../../docs/results/store.tar.gz")
	id := fmt.Sprintf("swh:1:cnt:%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(data), data)))
	if !strings.Contains(text, id) {
		t.Errorf("the store is %s, which docs/results/README.md does not say", id)
	}
	commits := regexp.MustCompile("`([0-9a-f]{7})`").FindAllStringSubmatch(text, -1)
	for _, c := range commits {
		if !strings.Contains(text, "swh:1:rev:"+c[1]) {
			t.Errorf("no identifier of commit %s", c[1])
		}
	}
	if len(commits) < 5 {
		t.Errorf("%d commits", len(commits))
	}
}

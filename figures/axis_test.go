package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

func labels(ticks []plot.Tick) []string {
	var out []string
	for _, t := range ticks {
		if t.Label != "" {
			out = append(out, t.Label)
		}
	}
	slices.Sort(out)
	return out
}

func TestLogTicksArePlainDecimals(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		length    vg.Length
		want      string
		reason    string
	}{
		{0.0009, 0.11, 400, "0.001 0.002 0.005 0.01 0.02 0.05 0.1", "all fit"},
		{0.0006, 0.16, 130, "0.001 0.01 0.1", "powers of ten come first"},
		{0.019, 0.06, 200, "0.02 0.03 0.05", "less than a decade, no power of ten in it"},
		{0.13, 0.42, 200, "0.15 0.2 0.3", "more than one label on half a decade"},
		{0.9, 120, 400, "1 10 100 2 20 5 50", "no decimals where none are needed"},
		{0.161, 0.195, 200, "0.17 0.18 0.19", "between two round numbers"},
		{0.16, 0.26, 200, "0.2 0.25", "one label does not tell the scale"},
		{0.8e-7, 1.2e-5, 130, "1e-7 1e-6 1e-5", "tiny numbers have exponents"},
		{0.99e-4, 1.2e-2, 130, "0.0002 0.001 0.01", "labels must not stick out"},
	} {
		got := labels(logTicks(c.low, c.high, c.length, false))
		if strings.Join(got, " ") != c.want && !slices.Equal(got, sorted(strings.Fields(c.want))) {
			t.Errorf("%v … %v on %v points: %v, want %s (%s)", c.low, c.high, c.length, got, c.want, c.reason)
		}
	}
}

// No label is so long that it pushes the panels off the sheet.
func TestLabelsOfLargeNumbersAreShort(t *testing.T) {
	for _, a := range []axis{{Log: true, Low: 0.3, High: 3e137}, {Log: true, Low: 2e-7, High: 9e-5}, {Log: true, Low: 30, High: 3e6}, {Low: -1e9, High: 3e75, Ticks: 4}} {
		for _, label := range labels(a.place(130, true)) {
			if len([]rune(label)) > 6 {
				t.Errorf("%v … %v: label %q", a.Low, a.High, label)
			}
		}
	}
}

// The label at the very end of a vertical axis, 1 for distances, stays.
func TestEndLabelStays(t *testing.T) {
	if got := labels(logTicks(0.01, 1, 180, true)); !slices.Contains(got, "1") || !slices.Contains(got, "0.01") {
		t.Errorf("labels %v: want those of both ends among them", got)
	}
}

func sorted(s []string) []string { slices.Sort(s); return s }

func TestLinearTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		n         int
		want      string
	}{
		{0, 1, 4, "0 0.2 0.4 0.6 0.8 1"},
		{-1.5, 3, 4, "−1 0 1 2 3"},
		{-0.12, 0.13, 5, "−0.1 −0.05 0 0.05 0.1"},
		{0, 1000, 5, "0 200 400 600 800 1000"},
		{-2e137, 1e137, 3, "−2e137 −1e137 0 1e137"},
	} {
		got := labels(linearTicks(c.low, c.high, c.n))
		if !slices.Equal(got, sorted(strings.Fields(c.want))) {
			t.Errorf("%v … %v: %v, want %v", c.low, c.high, got, c.want)
		}
	}
}

func TestRangesWithoutUsableValues(t *testing.T) {
	for name, values := range map[string][]float64{
		"none": nil, "zero": {0}, "negative": {-1}, "not a number": {math.NaN(), math.Inf(1)}, "one": {0.3}, "twice the same": {2, 2},
		"one of a chain that ran away": {1e75}, "two that differ in the last digit": {1e75, math.Nextafter(1e75, 0)},
	} {
		for kind, a := range map[string]axis{"log": axis{Log: true}.over(values), "linear": axis{}.over(values)} {
			if !(a.Low < a.High) || math.IsInf(a.Low, 0) || math.IsInf(a.High, 0) || kind == "log" && a.Low <= 0 {
				t.Errorf("%s axis over values %s: %v … %v", kind, name, a.Low, a.High)
			}
			// Such an axis had ticks without end.
			a.Ticks = 4
			if n := len(a.padded(0.06).place(200, false)); n < 2 || n > 20 {
				t.Errorf("%s axis over values %s: %d ticks", kind, name, n)
			}
		}
	}
}

func TestDecadeTicks(t *testing.T) {
	if got := labels(decadeTicks(0.5e-3, 2)); !slices.Equal(got, sorted([]string{"1e-3", "1e-2", "1e-1", "1e0"})) {
		t.Errorf("three decades are labelled %v", got)
	}
	if got := labels(decadeTicks(1e-13, 1)); len(got) > mostDecades+1 || len(got) < 4 {
		t.Errorf("thirteen decades have %d labels: %v", len(got), got)
	}
}

func TestWrapAndSubscripts(t *testing.T) {
	style := sans(captionSize, ink)
	words := "one two three four five six seven"
	for _, l := range wrap(style, words, 60) {
		if w := textWidth(style, l); w > 60 {
			t.Errorf("line %q is %.1f points wide, want at most 60", l, w)
		}
	}
	if got := strings.Join(wrap(style, words, 60), " "); got != words {
		t.Errorf("wrapping lost words: %q", got)
	}
	var got []string
	each(style, "N_l = 10", func(run string, _ text.Style, offset vg.Point) { got = append(got, fmt.Sprint(run, offset.Y < 0)) })
	if want := []string{"Nfalse", "ltrue", " = 10false"}; !slices.Equal(got, want) {
		t.Errorf("runs and whether they are lowered: %q, want %q", got, want)
	}
	for _, name := range []string{"red_wine, B = 8", "x_train", "split:A_B_A", "_", "a_", "re…d_w…e"} {
		each(style, name, func(run string, _ text.Style, offset vg.Point) {
			if run != name || offset.Y < 0 {
				t.Errorf("%q of %q is drawn apart: want a name as it is", run, name)
			}
		})
	}
	if textWidth(style, "N_l") >= textWidth(style, "Nl") {
		t.Error("a subscript is as wide as a letter of full size")
	}
}

// A macron stands over its letter and takes no room, and a character that the font lacks is a box where
// there is no other font.
func TestMacronsAndMissingCharacters(t *testing.T) {
	style := sans(captionSize, ink)
	var runs []string
	var places []vg.Length
	if width := each(style, "β(L\u0304 − L₀)", func(run string, s text.Style, at vg.Point) {
		runs, places = append(runs, run), append(places, at.X+s.Width(run)/2)
	}); math.Abs(float64(width-style.Width("β(L − L₀)"))) > 1 { // kerning
		t.Errorf("%v points wide, want %v", width, style.Width("β(L − L₀)"))
	}
	if middle := style.Width("β(") + style.Width("L")/2; !slices.Equal(runs, []string{"β(L", "¯", " − L₀)"}) || math.Abs(float64(places[1]-middle)) > 1e-9 {
		t.Errorf("runs %q in the middles %v, want the macron at %v", runs, places, middle)
	}
	if got := drawable(style.Handler.Cache().Lookup(style.Font, style.Font.Size), "η é 数据"); got != "η é □□" {
		t.Errorf("drawn is %q", got)
	}
	f := func(title string) *Figure {
		return &Figure{Title: title, width: 300, height: 200, panels: [][]*panel{{{X: axis{High: 1, Ticks: 2}, Y: axis{High: 1, Ticks: 2}}}}}
	}
	var drawn [2][]byte
	for i, title := range []string{"数", "□"} {
		drawn[i], _ = f(title).layout().png(72)
	}
	if !slices.Equal(drawn[0], drawn[1]) {
		t.Error("a character that the font lacks is not drawn as a box")
	}
}

// An axis of powers of ten that has one of them has other labels, too.
func TestAxesOfFewPowersHaveOtherLabels(t *testing.T) {
	for _, a := range []axis{{Log: true, Powers: true, Low: 2e-3, High: 8e-3}, {Log: true, Powers: true, Low: 0.3, High: 4}} {
		if got := labels(a.place(150, true)); len(got) < 2 {
			t.Errorf("%v … %v: labels %v, want two at least", a.Low, a.High, got)
		}
	}
}

// Titles of neighbours do not touch, and no label of the legend leaves the sheet: names of a user's
// own are of any length.
func TestLongNamesStayWithinTheirPlace(t *testing.T) {
	style, long := sans(panelSize, ink), "a-name-of-a-data-set-that-a-program-has-chosen, B = 8"
	got := shortened(style, long, 150)
	if textWidth(style, got) > 150 || !strings.HasPrefix(got, "a-name") || !strings.HasSuffix(got, "B = 8") || shortened(style, long, 999) != long {
		t.Errorf("%q in the place of %q", got, long)
	}
	// What follows the name is not cut, as long as there is enough of the name.
	if got := shortened(style, "a-name-of-an-integrator-of-a-user: cov(θ, r), gaussian", 190); textWidth(style, got) > 190 || !strings.HasSuffix(got, ": cov(θ, r), gaussian") {
		t.Errorf("%q", got)
	}
	if got := shortened(style, "many short words that do not fit", 90); textWidth(style, got) > 90 || !strings.HasPrefix(got, "many") || !strings.HasSuffix(got, "fit") {
		t.Errorf("%q", got)
	}
	var label []string
	for i, row := range flow([]legendEntry{{Label: "short"}, {Label: strings.Repeat("words of a label ", 9)}}, 300) {
		for _, e := range row {
			label = append(label, e.Label)
			if e.width() > 300 {
				t.Errorf("line %d: %q is %v points wide", i, e.Label, e.width())
			}
		}
	}
	if want := "short " + strings.TrimSpace(strings.Repeat("words of a label ", 9)); strings.Join(label, " ") != want {
		t.Errorf("legend %q, want %q", label, want)
	}
}

// A mark of a lost point stands at its place, beside it only where others are lost
// there, too.
func TestLostPointsStandAtTheirPlace(t *testing.T) {
	k := canvas{lanes: []string{"b", "a", "c"}, panel: &panel{Series: []curve{
		{Name: "a", X: []float64{1, 2}, Lost: []float64{0.5, 1}}, {Name: "b", X: []float64{2}, Lost: []float64{1}}, {Name: "c", X: []float64{1, 2}},
	}}}
	for x, want := range map[float64]string{1: "a", 2: "b a", 3: ""} {
		if got := strings.Join(k.lostAt(x), " "); got != want {
			t.Errorf("at %v: %q is lost, want %q", x, got, want)
		}
	}
}

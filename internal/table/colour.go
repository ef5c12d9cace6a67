package table

import (
	"io"
	"os"
	"regexp"
)

// colours has the escape sequence of each verdict: green, red or yellow.
var colours = map[string]string{
	"confirmed":    "\x1b[32m",
	"refuted":      "\x1b[31m",
	"unstable":     "\x1b[31m",
	"inconclusive": "\x1b[33m",
	"not decided":  "\x1b[33m",
}

// verdict matches a verdict at the start of a cell.
var verdict = regexp.MustCompile(`\| (confirmed|refuted|unstable|inconclusive|not decided)\b`)

// Colour colours the verdicts with which cells of a printed table begin, if the
// writer has a method Colours that reports true. It comes after printing, so that
// escape sequences do not count as width.
func Colour(w io.Writer, printed string) string {
	if c, ok := w.(interface{ Colours() bool }); !ok || !c.Colours() {
		return printed
	}
	return verdict.ReplaceAllStringFunc(printed, func(cell string) string {
		word := cell[len("| "):]
		return "| " + colours[word] + word + "\x1b[0m"
	})
}

// Colours reports whether a file is a terminal with colours whose user wants
// them (no-color.org).
func Colours(f *os.File) bool {
	term := os.Getenv("TERM")
	return Terminal(f) && term != "" && term != "dumb" && os.Getenv("NO_COLOR") == ""
}

// Terminal reports whether a file is a terminal.
func Terminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

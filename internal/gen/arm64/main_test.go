package main

import (
	"encoding/hex"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What the comments say, assembled by another program, must be the words.
func TestWordsAreWhatTheirCommentsSay(t *testing.T) {
	mc, err := exec.LookPath("llvm-mc")
	if err != nil {
		t.Skip("llvm-mc is not installed: Debian's package llvm has it")
	}
	said := map[string]string{} // words by comment
	for _, f := range files() {
		for _, m := range regexp.MustCompile(`WORD \$0x(\w{8}) // (.*)`).FindAllStringSubmatch(f.String(), -1) {
			if w, ok := said[m[2]]; ok && w != m[1] {
				t.Errorf("%s is %s and %s", m[2], w, m[1])
			}
			said[m[2]] = m[1]
		}
	}
	var source []string
	for s := range said {
		source = append(source, s)
	}
	slices.Sort(source)
	cmd := exec.Command(mc, "--triple=aarch64", "--show-encoding")
	cmd.Stdin = strings.NewReader(strings.Join(source, "\n") + "\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	encodings := regexp.MustCompile(`encoding: \[(.*)\]`).FindAllStringSubmatch(string(out), -1)
	if len(encodings) != len(source) {
		t.Fatalf("%d encodings of %d instructions", len(encodings), len(source))
	}
	for i, m := range encodings {
		bytes, err := hex.DecodeString(strings.NewReplacer("0x", "", ",", "").Replace(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(bytes)
		if got := fmt.Sprintf("%x", bytes); got != said[source[i]] {
			t.Errorf("%s is %s, written as %s", source[i], got, said[source[i]])
		}
	}
}

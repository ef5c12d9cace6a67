//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// The environment of the small program.
const (
	clockVariable = "FAULT_CLOCK" // not empty: the wall clock jumps at every look at it
	leakVariable  = "FAULT_LEAK"  // bytes that every cell leaks
)

// build makes the program as users have it.
func build(module, to string) error {
	return goBuild(module, to)
}

// buildSmall makes the program with oracles and chains so short that a sweep
// of hundreds of cells is over in seconds. All else is the program's own code,
// except that its wall clock can be made to jump and that it can be made to
// leak. The sources stay as they are: the compiler is given other ones in the
// place of a few.
func buildSmall(module, work, to string) error {
	o := &overlay{module: module, work: work, Replace: make(map[string]string)}
	o.edit("bench/experiments.go", `timePerSample = 2\.5\n`, "timePerSample = 0.05\n")
	o.edit("bench/experiments.go", `timeOfBurnIn  = 10\n`, "timeOfBurnIn  = 0.2\n")
	o.edit("oracle/spec.go", `Samples: 200, Thin: 500, BurnIn: 10_000`, "Samples: 20, Thin: 10, BurnIn: 200")
	o.edit("bench/profiles.go", `Splits: 5, Precision: "float32", Samples: 200,`, `Splits: 20, Precision: "float32", Samples: 20,`)
	o.edit("bench/runner.go", `func \(s \*session\) compute\(.*\{\n`, "${0}\tfaultLeak()\n")
	o.clock("bench")
	o.clock("oracle")
	o.add("bench/fault_leak.go", leakSource)
	if o.err != nil {
		return fmt.Errorf("small program: %w", o.err)
	}
	list, err := json.Marshal(o)
	if err != nil {
		return err
	}
	file := filepath.Join(work, "overlay.json")
	if err := os.WriteFile(file, list, 0o644); err != nil {
		return err
	}
	return goBuild(module, to, "-overlay", file)
}

func goBuild(module, to string, flags ...string) error {
	args := append([]string{"build", "-o", to}, flags...)
	cmd := exec.Command("go", append(args, "./cmd/hambench")...)
	cmd.Dir = module
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// overlay collects the files that the compiler sees in the place of others.
type overlay struct {
	Replace map[string]string

	module, work string
	err          error // the first
}

// edit replaces the one match of a pattern in a source file.
func (o *overlay) edit(name, pattern, by string) {
	o.rewrite(name, func(source string) (string, error) {
		re := regexp.MustCompile(pattern)
		if n := len(re.FindAllString(source, -1)); n != 1 {
			return "", fmt.Errorf("%s has %d matches of %q: want 1; this test must follow the source", name, n, pattern)
		}
		return re.ReplaceAllString(source, by), nil
	})
}

func (o *overlay) rewrite(name string, change func(string) (string, error)) {
	if o.err != nil {
		return
	}
	from := filepath.Join(o.module, name)
	if to, ok := o.Replace[from]; ok {
		from = to
	}
	source, err := os.ReadFile(from)
	if err != nil {
		o.err = err
		return
	}
	changed, err := change(string(source))
	if err != nil {
		o.err = err
		return
	}
	o.add(name, changed)
}

// add puts a file in place.
func (o *overlay) add(name, source string) {
	if o.err != nil {
		return
	}
	to := filepath.Join(o.work, strings.ReplaceAll(name, "/", "_"))
	o.err = os.WriteFile(to, []byte(source), 0o644)
	o.Replace[filepath.Join(o.module, name)] = to
}

// clock makes every look at the clock in a package one at a clock that jumps.
func (o *overlay) clock(pkg string) {
	files, err := filepath.Glob(filepath.Join(o.module, pkg, "*.go"))
	if err != nil {
		o.err = err
	}
	looks := 0
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		o.rewrite(pkg+"/"+filepath.Base(f), func(source string) (string, error) {
			n := strings.Count(source, "time.Now")
			looks += n
			source = strings.ReplaceAll(source, "time.Now", "faultNow")
			if n > 0 && !strings.Contains(source, "time.") {
				source += "\nvar _ time.Time\n"
			}
			return source, nil
		})
	}
	if o.err == nil && looks == 0 {
		o.err = fmt.Errorf("package %s never looks at the clock: this test must follow the source", pkg)
	}
	o.add(pkg+"/fault_clock.go", fmt.Sprintf(clockSource, pkg, clockVariable))
}

// clockSource is a wall clock that is up to 50 years off, anew at each look.
// As on a machine whose clock is set, the monotonic reading goes on. A
// time.Time with a monotonic reading has the seconds since 1885 above 30 bits
// of nanoseconds in its first word.
const clockSource = `package %s

import (
	"math/rand/v2"
	"os"
	"time"
	"unsafe"
)

var faultClock = os.Getenv(%q) != ""

func faultNow() time.Time {
	t := time.Now()
	if !faultClock {
		return t
	}
	years := rand.IntN(101) - 50
	jumped := t
	*(*uint64)(unsafe.Pointer(&jumped)) += uint64(int64(years)*365*86400) << 30
	if jumped.Unix()-t.Unix() != int64(years)*365*86400 || jumped.Sub(t) != 0 {
		panic("the planted clock does not jump as it should")
	}
	return jumped
}
`

const leakSource = `package bench

import (
	"os"
	"strconv"
	"sync"
)

var (
	faultLeakSize, _ = strconv.Atoi(os.Getenv("` + leakVariable + `"))
	faultLeaked      [][]byte
	faultLeakMutex   sync.Mutex
)

func faultLeak() {
	if faultLeakSize == 0 {
		return
	}
	b := make([]byte, faultLeakSize)
	for i := range b {
		b[i] = 1
	}
	faultLeakMutex.Lock()
	faultLeaked = append(faultLeaked, b)
	faultLeakMutex.Unlock()
}
`

package page

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// browser is a page in headless Chromium, spoken to over a pipe in the DevTools
// protocol: keys and the pointer come from outside the page, as a reader's do.
type browser struct {
	t       *testing.T
	write   io.Writer
	read    *bufio.Reader
	id      int
	session string
	events  []message // since the start, in order
}

// message is an answer to a call, or an event.
type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct{ Message string }
}

// openBrowser starts a browser on an empty page, or skips the test where there is
// none. Nothing of it is left when the test ends.
func openBrowser(t *testing.T, width int) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no browser: install chromium (apt-get install chromium)")
	}
	in, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{in, out}
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, write: write, read: bufio.NewReader(read)}
	watchdog := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
	t.Cleanup(func() {
		fmt.Fprintf(write, "{\"id\":0,\"method\":\"Browser.close\"}\x00")
		io.Copy(io.Discard, read)
		cmd.Wait()
		watchdog.Stop()
		if t.Failed() {
			t.Logf("browser: %.2000s", log.String())
		}
	})
	in.Close()
	out.Close()
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	b.session = session.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
	return b
}

// call asks the browser, and takes note of the events until the answer is there.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	b.id++
	text, err := json.Marshal(map[string]any{"id": b.id, "method": method, "params": params, "sessionId": b.session})
	if err != nil {
		b.t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`,"sessionId":""`), nil, 1)
	text = bytes.Replace(text, []byte(`"params":null`), []byte(`"params":{}`), 1)
	if _, err := b.write.Write(append(text, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		m := b.next()
		if m.ID != b.id {
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatal(err)
			}
		}
		return
	}
}

// next reads a message.
func (b *browser) next() (m message) {
	b.t.Helper()
	text, err := b.read.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser ended: %v", err)
	}
	if err := json.Unmarshal(text[:len(text)-1], &m); err != nil {
		b.t.Fatal(err)
	}
	if m.Method != "" {
		b.events = append(b.events, m)
	}
	return m
}

// open loads a file and waits for it.
func (b *browser) open(path string) {
	b.t.Helper()
	seen := len(b.events)
	b.call("Page.navigate", map[string]any{"url": "file://" + path}, nil)
	for !slices.ContainsFunc(b.events[seen:], func(m message) bool { return m.Method == "Page.loadEventFired" }) {
		b.next()
	}
}

// eval returns the value of an expression, waiting for it if it is a promise.
func (b *browser) eval(expression string, value any) {
	b.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %.500s", expression, r.ExceptionDetails)
	}
	if value != nil {
		if err := json.Unmarshal(r.Result.Value, value); err != nil {
			b.t.Fatalf("%s: %v: %s", expression, err, r.Result.Value)
		}
	}
}

// text returns the value of an expression as text.
func (b *browser) text(expression string) (s string) {
	b.t.Helper()
	b.eval("String("+expression+")", &s)
	return s
}

// keys presses keys one after another, as a keyboard does.
func (b *browser) keys(names ...string) {
	b.t.Helper()
	for _, name := range names {
		p := map[string]any{"type": "keyDown", "key": name, "code": name}
		switch name {
		case "Enter":
			p["text"], p["windowsVirtualKeyCode"] = "\r", 13
		case " ":
			p["text"], p["code"], p["windowsVirtualKeyCode"] = " ", "Space", 32
		default:
			p["windowsVirtualKeyCode"] = map[string]int{"Tab": 9, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}[name]
			if len(name) == 1 {
				p["text"] = name
			}
		}
		b.call("Input.dispatchKeyEvent", p, nil)
		p["type"] = "keyUp"
		delete(p, "text")
		b.call("Input.dispatchKeyEvent", p, nil)
	}
}

// point moves the pointer to the middle of an element, and clicks if asked to.
func (b *browser) point(element string, click bool) {
	b.t.Helper()
	var at []float64
	b.eval(fmt.Sprintf(`(() => { const e = %s; e.scrollIntoView({ block: "center" }); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`, element), &at)
	p := map[string]any{"type": "mouseMoved", "x": at[0], "y": at[1]}
	b.call("Input.dispatchMouseEvent", p, nil)
	if click {
		p["button"], p["clickCount"] = "left", 1
		for _, p["type"] = range []string{"mousePressed", "mouseReleased"} {
			b.call("Input.dispatchMouseEvent", p, nil)
		}
	}
}

// download returns the name and the text of the file that an act loads down.
func (b *browser) download(act func()) (name, text string) {
	b.t.Helper()
	dir := b.t.TempDir()
	b.call("Browser.setDownloadBehavior", map[string]any{"behavior": "allow", "downloadPath": dir, "eventsEnabled": true}, nil)
	seen := len(b.events)
	act()
	for {
		for _, m := range b.events[seen:] {
			var p struct{ SuggestedFilename, State string }
			if err := json.Unmarshal(m.Params, &p); err != nil {
				b.t.Fatal(err)
			}
			if m.Method == "Browser.downloadWillBegin" {
				name = p.SuggestedFilename
			}
			if m.Method == "Browser.downloadProgress" && p.State != "inProgress" {
				out, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					b.t.Fatalf("download %s: %v", p.State, err)
				}
				return name, string(out)
			}
		}
		seen = len(b.events)
		b.next()
	}
}

// complaints are what the page said on the console, what it asked of others, and
// what failed in it.
func (b *browser) complaints() (out []string) {
	for _, m := range b.events {
		switch m.Method {
		case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded":
			out = append(out, fmt.Sprintf("console: %.1000s", m.Params))
		case "Network.requestWillBeSent":
			var p struct{ Request struct{ URL string } }
			if err := json.Unmarshal(m.Params, &p); err != nil || !strings.HasPrefix(p.Request.URL, "file:") && !strings.HasPrefix(p.Request.URL, "data:") && !strings.HasPrefix(p.Request.URL, "blob:") {
				out = append(out, "request: "+p.Request.URL)
			}
		}
	}
	return out
}

// axe is the checker of accessibility whose findings the pages are held to.
const axe = "axe-core@4.14.1"

// axeScript returns the checker's script: fetched once by npm, since its licence,
// MPL 2.0, is not that of this project. It skips the test where it is not to be had.
func axeScript(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir() // not the temporary folder, which others may write to
	if err != nil {
		cache = t.TempDir()
	}
	dir := filepath.Join(cache, "hambench-"+axe)
	script := filepath.Join(dir, "package", "axe.min.js")
	if _, err := os.Stat(script); err != nil {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "sh", "-c", "npm pack --silent "+axe+" && tar xzf axe-core-*.tgz package/axe.min.js")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("no accessibility check: %s cannot be had from npm: %v %.300s", axe, err, out)
		}
	}
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// violation is a finding of axe.
type violation struct {
	ID, Impact, Help string
	Nodes            []struct {
		HTML           string
		FailureSummary string
	}
}

// violations are the findings on the page as it is shown now.
func (b *browser) violations(script string) (found []violation) {
	b.t.Helper()
	b.eval(script, nil)
	b.eval("axe.run().then((r) => r.violations)", &found)
	return found
}

// checkAccess reports what axe calls serious or critical, in light and dark.
func (b *browser) checkAccess(script string) {
	b.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
		for _, v := range b.violations(script) {
			b.t.Logf("%s: %s: %s (%d places)", scheme, v.Impact, v.Help, len(v.Nodes))
			if v.Impact == "serious" || v.Impact == "critical" {
				b.t.Errorf("%s: %s: %s: %.300s\n%.400s", scheme, v.ID, v.Help, v.Nodes[0].HTML, v.Nodes[0].FailureSummary)
			}
		}
	}
}

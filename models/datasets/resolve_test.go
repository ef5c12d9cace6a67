package datasets

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hambench/internal/fingerprint"
	"hambench/usage"
)

var content = []byte("1 2 3\n4 5 6\n")

// serve starts an HTTPS server and returns a file that names it, and a
// resolver that trusts it.
func serve(t *testing.T, paths []string, handler http.HandlerFunc) (File, *Resolver) {
	t.Helper()
	s := httptest.NewTLSServer(handler)
	t.Cleanup(s.Close)
	f := File{Path: "small/data.txt", SHA256: fingerprint.Bytes(content)}
	for _, p := range paths {
		f.URLs = append(f.URLs, s.URL+p)
	}
	return f, &Resolver{CacheDir: t.TempDir(), Client: s.Client()}
}

func TestDownload(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(content) }))
	defer plain.Close()
	handler := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/good":
			w.Write(content)
		case "/wrong":
			w.Write([]byte("other bytes"))
		case "/cut":
			w.Header().Set("Content-Length", "1000")
			w.Write(content)
		case "/huge":
			w.Write(bytes.Repeat([]byte("x"), maxFileSize+1))
		case "/moved":
			http.Redirect(w, r, "/good", http.StatusFound)
		case "/insecure":
			http.Redirect(w, r, plain.URL, http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}
	for _, c := range []struct {
		reason string
		paths  []string
		want   string // part of the error; "" is success
	}{
		{"as it should be", []string{"/good"}, ""},
		{"the next address when one is gone", []string{"/gone", "/good"}, ""},
		{"the next address when one has wrong bytes", []string{"/wrong", "/good"}, ""},
		{"a redirect within HTTPS", []string{"/moved"}, ""},
		{"a redirect to HTTP is refused", []string{"/insecure"}, "only HTTPS is followed"},
		{"after a refused redirect the next address", []string{"/insecure", "/good"}, ""},
		{"redirects without end", []string{"/loop"}, "redirects"},
		{"wrong bytes", []string{"/wrong"}, "wrong contents"},
		{"a body cut off", []string{"/cut"}, "cut off after 12 bytes"},
		{"a body without end", []string{"/huge"}, "larger than"},
		{"gone", []string{"/gone"}, "404"},
	} {
		f, r := serve(t, c.paths, handler)
		data, err := r.file(context.Background(), twoByTwo(), f)
		kept, _ := os.ReadFile(filepath.Join(r.CacheDir, f.Path))
		if c.want == "" {
			if err != nil || !bytes.Equal(data, content) || !bytes.Equal(kept, content) {
				t.Errorf("%s: error %v, got %q, cached %q", c.reason, err, data, kept)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: error %v, want ErrUnavailable with %q", c.reason, err, c.want)
		}
		if kept != nil {
			t.Errorf("%s: cached %q", c.reason, kept)
		}
	}
}

func TestSlowServerIsGivenUp(t *testing.T) {
	stop := make(chan struct{})
	f, r := serve(t, []string{"/"}, func(http.ResponseWriter, *http.Request) { <-stop })
	defer close(stop)
	r.Client.Timeout = 100 * time.Millisecond
	requests := &counted{RoundTripper: r.Client.Transport}
	r.Client.Transport = requests
	_, err := r.download(context.Background(), f)
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "exceeded") {
		t.Errorf("error %v, want a time-out", err)
	}
	// The second file is not asked for at all.
	asked := requests.n.Load()
	if _, err = r.download(context.Background(), f); !errors.Is(err, ErrUnavailable) {
		t.Errorf("second file: error %v", err)
	}
	if n := requests.n.Load(); asked == 0 || n > asked {
		t.Errorf("%d requests for the first file, %d for the second; want some and none", asked, n-asked)
	}
}

// counted counts requests.
type counted struct {
	http.RoundTripper
	n atomic.Int32
}

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return c.RoundTripper.RoundTrip(r)
}

// A network that swallows everything costs less than 10 s in all: here every
// connection is waited for as long as a dialer does (in fake time).
func TestSilentNetworkIsNoticedInTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := func(ctx context.Context, _, _ string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, connectTime)
			defer cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		}
		r := &Resolver{Client: &http.Client{Transport: &http.Transport{DialContext: silent}}}
		start := time.Now()
		for _, s := range uci() {
			if _, err := r.Load(t.Context(), s.Name); !errors.Is(err, ErrUnavailable) {
				t.Errorf("%s: error %v, want ErrUnavailable", s.Name, err)
			}
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("noticed after %v, want 10 s at most", took)
		}
	})
}

func TestUnwritableCacheIsUsageError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := keep(dir, File{Path: "small/data.txt"}, content)
	var u *usage.Error
	if !errors.As(err, &u) || !strings.Contains(err.Error(), dir+" cannot be written") {
		t.Errorf("error %v, want a usage error that names the cache", err)
	}
}

func TestUnreachableNetworkIsRemembered(t *testing.T) {
	var dials int
	client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		dials++
		return nil, errors.New("network is down")
	}}}
	r := &Resolver{Client: client}
	for range 3 {
		if _, err := r.Load(context.Background(), "vehicle"); !errors.Is(err, ErrUnavailable) {
			t.Fatalf("error %v, want ErrUnavailable", err)
		}
	}
	if dials != 1 {
		t.Errorf("%d attempts to reach a dead network, want 1", dials)
	}
}

func TestOfflineDoesNotDial(t *testing.T) {
	f, r := serve(t, []string{"/"}, func(http.ResponseWriter, *http.Request) { t.Error("request while offline") })
	r.Offline = true
	if _, err := r.download(context.Background(), f); !errors.Is(err, ErrUnavailable) {
		t.Errorf("error %v, want ErrUnavailable", err)
	}
}

func TestPlainHTTPIsRefused(t *testing.T) {
	if _, err := new(network).get(context.Background(), "http://127.0.0.1:1/x"); err == nil || !strings.Contains(err.Error(), "not an HTTPS address") {
		t.Errorf("error %v", err)
	}
}

func TestConcurrentFetches(t *testing.T) {
	f, r := serve(t, []string{"/good"}, func(w http.ResponseWriter, _ *http.Request) { w.Write(content) })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if data, err := r.file(context.Background(), twoByTwo(), f); err != nil || !bytes.Equal(data, content) {
				t.Errorf("error %v, got %q", err, data)
			}
		})
	}
	wg.Wait()
	if got, _ := os.ReadFile(filepath.Join(r.CacheDir, f.Path)); !bytes.Equal(got, content) {
		t.Errorf("cached %q", got)
	}
}

func TestDataFolderWithWrongFile(t *testing.T) {
	dir := t.TempDir()
	write := func(data string) {
		if err := os.MkdirAll(filepath.Join(dir, "boston"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "boston", "data.txt"), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	row := strings.Repeat("1 ", 14) + "\n"
	for _, c := range []struct{ reason, data, want string }{
		{"a missing column", row + "1 2 3\n", "line 2: 3 columns: want 14"},
		{"a word", strings.Repeat("1 ", 13) + "x\n", `column 14: "x" is not a number from -1e+150 to 1e+150`},
		{"well-formed, but not the file", strings.Repeat(row, 506), "wrong contents: SHA-256"},
	} {
		write(c.data)
		_, err := (&Resolver{Dir: dir, Offline: true}).Load(context.Background(), "boston")
		var u *usage.Error
		if !errors.As(err, &u) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %q", c.reason, err, c.want)
		}
	}
}

// A program's own entry may leave out where its files can be fetched.
func TestFileWithoutAddressIsUnavailable(t *testing.T) {
	d := twoByTwo()
	d.Files = []File{{Path: "small/data.txt", SHA256: fingerprint.Bytes(content)}}
	_, err := (&Resolver{Registry: Registry{d}, CacheDir: t.TempDir()}).Load(t.Context(), d.Name)
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "no address is known") {
		t.Errorf("error %v, want ErrUnavailable", err)
	}
}

func TestDamagedCacheIsFetchedAgain(t *testing.T) {
	f, r := serve(t, []string{"/"}, func(w http.ResponseWriter, _ *http.Request) { w.Write(content) })
	if err := keep(r.CacheDir, f, []byte("damaged")); err != nil {
		t.Fatal(err)
	}
	if data, err := r.file(context.Background(), twoByTwo(), f); err != nil || !bytes.Equal(data, content) {
		t.Errorf("error %v, got %q", err, data)
	}
}

func TestNewResolverNamesMissingFolder(t *testing.T) {
	_, err := NewResolver(filepath.Join(t.TempDir(), "nowhere"))
	var u *usage.Error
	if !errors.As(err, &u) {
		t.Errorf("error %v, want a usage error", err)
	}
}

// A body that stops is given up after the time of a file.
func TestStalledBodyIsGivenUp(t *testing.T) {
	stop := make(chan struct{})
	f, r := serve(t, []string{"/stalled"}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		w.Write(content)
		w.(http.Flusher).Flush()
		<-stop
	})
	defer close(stop)
	r.Client.Timeout = 100 * time.Millisecond
	_, err := r.download(context.Background(), f)
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "Timeout") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v, want one line: unavailable, timed out", err)
	}
}

// A host that is down does not keep the next address from being tried, and
// is not asked again.
func TestDeadHostIsPassedOver(t *testing.T) {
	f, r := serve(t, []string{"/good"}, func(w http.ResponseWriter, _ *http.Request) { w.Write(content) })
	dead := httptest.NewTLSServer(nil)
	f.URLs = append([]string{dead.URL + "/first"}, f.URLs...)
	dead.Close()
	for range 2 {
		if data, err := r.download(context.Background(), f); err != nil || !bytes.Equal(data, content) {
			t.Fatalf("error %v, got %q", err, data)
		}
	}
	if down := downHosts(r); len(down) != 1 {
		t.Errorf("hosts known as down: %v, want the first", down)
	}
}

func downHosts(r *Resolver) (hosts []any) {
	r.network.down.Range(func(host, _ any) bool {
		hosts = append(hosts, host)
		return true
	})
	return hosts
}

// A client that trusts any redirect is not followed to HTTP.
func TestOwnClientIsGuarded(t *testing.T) {
	f, r := serve(t, []string{"/"}, func(w http.ResponseWriter, req *http.Request) {
		http.Redirect(w, req, "http://127.0.0.1:1/", http.StatusFound)
	})
	r.Client.CheckRedirect = func(*http.Request, []*http.Request) error { return nil }
	if _, err := r.download(context.Background(), f); err == nil || !strings.Contains(err.Error(), "only HTTPS is followed") {
		t.Errorf("error %v, want the redirect refused", err)
	}
}

func TestInterruptIsNotUnavailability(t *testing.T) {
	f, r := serve(t, []string{"/"}, func(w http.ResponseWriter, _ *http.Request) { w.Write(content) })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.download(ctx, f); !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnavailable) {
		t.Errorf("error %v, want context.Canceled alone", err)
	}
	if down := downHosts(r); len(down) != 0 {
		t.Errorf("an interrupt marked %v as down", down)
	}
}

func TestStatus(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	r := &Resolver{Dir: dir, CacheDir: cache, Offline: true}
	at := func(name string) Status {
		all, err := r.Status(name)
		if err != nil || len(all) == 0 {
			t.Fatalf("%s: %v, error %v", name, all, err)
		}
		return all[len(all)-1]
	}
	if s := at("vehicle"); !s.Missing() || s.File.Path != "vehicle/xai.dat" || s.Dataset != "vehicle" {
		t.Errorf("without files: %+v, want xai.dat missing", s)
	}
	if err := os.WriteFile(filepath.Join(cache, "boston"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if s := at("boston"); !s.Missing() {
		t.Errorf("with a file in the place of the folder: %+v", s)
	}
	if err := keep(cache, File{Path: "vehicle/xai.dat"}, []byte("1 2 van\n")); err != nil {
		t.Fatal(err)
	}
	if s := at("vehicle"); s.Missing() || s.Err == nil || !strings.HasPrefix(s.Path, cache) || !strings.Contains(s.Err.Error(), "line 1: 3 columns: want 19") {
		t.Errorf("with a damaged copy in the cache: %+v", s)
	}
	if all, err := r.Status("toy"); err != nil || len(all) != 0 {
		t.Errorf("a built-in set has files %v, error %v", all, err)
	}
	if _, err := r.Status("toys"); err == nil {
		t.Error("no error for an unknown set")
	}
}

func TestStatusOfRealFiles(t *testing.T) {
	r := &Resolver{Dir: realData(t), Offline: true}
	for _, s := range uci() {
		all, err := r.Status(s.Name)
		if err != nil || len(all) != len(s.Files) {
			t.Fatalf("%s: %d files, error %v", s.Name, len(all), err)
		}
		for _, f := range all {
			if f.Missing() || f.Err != nil {
				t.Errorf("%s: %+v, want it verified", f.File.Path, f)
			}
		}
	}
}

func TestNewResolverObeysTheEnvironment(t *testing.T) {
	named, flag := t.TempDir(), t.TempDir()
	t.Setenv(EnvData, named)
	for value, offline := range map[string]bool{"": false, "0": false, "1": true} {
		t.Setenv(EnvOffline, value)
		r, err := NewResolver("")
		if err != nil || r.Offline != offline || r.Dir != named {
			t.Errorf("%s=%q: %+v, error %v", EnvOffline, value, r, err)
		}
	}
	if r, err := NewResolver(flag); err != nil || r.Dir != flag {
		t.Errorf("the flag does not come before the environment: %+v, error %v", r, err)
	}
	t.Setenv(EnvData, "")
	if r, err := NewResolver(""); err != nil || r.Dir != "" {
		t.Errorf("empty %s: %+v, error %v, want no folder", EnvData, r, err)
	}
}

// What the table says can be looked up and stored safely.
func TestRegistry(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range uci() {
		for _, f := range s.Files {
			if !filepath.IsLocal(filepath.FromSlash(f.Path)) || seen[f.Path] {
				t.Errorf("%s: path leaves the folder, or stands twice", f.Path)
			}
			seen[f.Path] = true
			if len(f.SHA256) != 64 || strings.Trim(f.SHA256, "0123456789abcdef") != "" || seen[f.SHA256] {
				t.Errorf("%s: SHA-256 %q is malformed, or stands twice", f.Path, f.SHA256)
			}
			seen[f.SHA256] = true
			for _, u := range f.URLs {
				if !strings.HasPrefix(u, "https://") {
					t.Errorf("%s: address %s is not HTTPS", f.Path, u)
				}
			}
		}
	}
	if len(seen) != 2*28 {
		t.Errorf("%d paths and digests, want those of 28 files", len(seen))
	}
}

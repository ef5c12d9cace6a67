package datasets

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// filesIn lists what lies in a folder, temporary files too.
func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// raw answers a request with bytes of its own, whatever HTTP says of them.
func raw(answer string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		fmt.Fprint(conn, answer)
	}
}

// gzipped compresses a text.
func gzipped(text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(text)
	w.Close()
	return b.Bytes()
}

// What a broken or hostile server sends is refused in one line and leaves no
// file behind, not even a temporary one.
func TestHostileServers(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nConnection: close\r\n"
	compressed := func(text []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(gzipped(text))
		}
	}
	for _, c := range []struct {
		reason  string
		handler http.HandlerFunc
		want    string
	}{
		{"a length below that of the body", raw(ok + "Content-Length: 5\r\n\r\n" + string(content)), "wrong contents"},
		{"a length above that of the body", raw(ok + "Content-Length: 500\r\n\r\n" + string(content)), "cut off after 12 bytes"},
		{"a length below 0", raw(ok + "Content-Length: -1\r\n\r\n" + string(content)), "Content-Length"},
		{"two lengths", raw(ok + "Content-Length: 12\r\nContent-Length: 13\r\n\r\n" + string(content)), "Content-Length"},
		{"a chunk that is cut off", raw(ok + "Transfer-Encoding: chunked\r\n\r\nc\r\n" + string(content)), "cut off after 12 bytes"},
		{"a chunk of a false size", raw(ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\n" + string(content)), "cut off after 0 bytes"},
		{"no HTTP", raw("SSH-2.0-OpenSSH_9.9\r\n"), "malformed HTTP"},
		{"nothing", raw(""), "EOF"},
		{"headers without end", raw(ok + "X: " + strings.Repeat("x", 11<<20)), "header"},
		{"a small body that unpacks to a large one", compressed(make([]byte, 8*maxFileSize)), "larger than"},
		{"packed bytes of the wrong file", compressed([]byte("other")), "wrong contents"},
		{"a part of the file", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusPartialContent)
			w.Write(content)
		}, "status 206"},
		{"a page instead of an error", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>not found</html>") }, "wrong contents"},
		{"a redirect to a local file", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/hosts", http.StatusFound)
		}, "only HTTPS is followed"},
		{"a redirect to nowhere", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) }, "status 302"},
	} {
		f, r := serve(t, []string{"/"}, c.handler)
		_, err := r.file(context.Background(), twoByTwo(), f)
		if err == nil || !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("%s: error %v, want one line: unavailable, with %q", c.reason, err, c.want)
		}
		if left := filesIn(t, r.CacheDir); len(left) != 0 {
			t.Errorf("%s: left %v", c.reason, left)
		}
	}
}

// The right bytes arrive packed as well.
func TestPackedDownload(t *testing.T) {
	f, r := serve(t, []string{"/"}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(gzipped(content))
	})
	if data, err := r.download(context.Background(), f); err != nil || !bytes.Equal(data, content) {
		t.Errorf("error %v, got %q", err, data)
	}
}

// A server that nobody vouches for is not believed, whatever it sends; the
// next address is.
func TestUnknownCertificateIsRefused(t *testing.T) {
	strange, _ := serve(t, []string{"/"}, func(w http.ResponseWriter, _ *http.Request) { w.Write(content) })
	r := &Resolver{CacheDir: t.TempDir()} // trusts what the machine trusts
	_, err := r.file(context.Background(), twoByTwo(), strange)
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("error %v, want the certificate refused", err)
	}
	if left := filesIn(t, r.CacheDir); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

// An interrupt in the middle of a body ends the download at once and leaves
// nothing; the next attempt succeeds.
func TestInterruptedDownloadLeavesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	stop := make(chan struct{})
	first := true
	f, r := serve(t, []string{"/"}, func(w http.ResponseWriter, _ *http.Request) {
		if !first {
			w.Write(content)
			return
		}
		first = false
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		w.Write(content[:6])
		w.(http.Flusher).Flush()
		cancel()
		<-stop
	})
	_, err := r.file(ctx, twoByTwo(), f)
	close(stop)
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnavailable) {
		t.Errorf("error %v, want context.Canceled alone", err)
	}
	if left := filesIn(t, r.CacheDir); len(left) != 0 {
		t.Errorf("left %v", left)
	}
	if data, err := r.file(context.Background(), twoByTwo(), f); err != nil || !bytes.Equal(data, content) {
		t.Errorf("afterwards: error %v, got %q", err, data)
	}
	if kept := filesIn(t, r.CacheDir); len(kept) != 1 {
		t.Errorf("afterwards the cache holds %v, want the file alone", kept)
	}
}

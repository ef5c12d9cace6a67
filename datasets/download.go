package datasets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Limits of a download.
const (
	maxFileSize  = 4 << 20          // the largest file is 76 KB
	maxRedirects = 5                // public archives use one or two
	contactTime  = 8 * time.Second  // until some server must have answered, in all
	fileTime     = 60 * time.Second // for one file, once a server has answered
)

// network remembers what a resolver learnt of the network, so that one that
// cannot be reached is waited for once and not at every file.
type network struct {
	mu       sync.Mutex
	started  time.Time
	answered bool
	down     error
}

// contact returns the deadline of the next request, or the error that shows
// the network is down.
func (n *network) contact() (time.Time, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	if n.answered {
		return now.Add(fileTime), nil
	}
	if n.down != nil {
		return now, n.down
	}
	if n.started.IsZero() {
		n.started = now
	}
	return n.started.Add(contactTime), nil
}

// saw takes note of a server's answer.
func (n *network) saw() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answered = true
}

// failed takes note that no server answered.
func (n *network) failed(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.answered {
		n.down = err
	}
}

// newClient returns a client that gives up on silence soon and follows
// redirects only to HTTPS.
func newClient() *http.Client {
	dial := &net.Dialer{Timeout: 4 * time.Second}
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dial.DialContext,
			TLSHandshakeTimeout: 4 * time.Second, ResponseHeaderTimeout: 10 * time.Second,
		},
		CheckRedirect: checkRedirect,
	}
}

func checkRedirect(req *http.Request, via []*http.Request) error {
	if req.URL.Scheme != "https" {
		return fmt.Errorf("redirect to %s: only HTTPS is followed", req.URL.Redacted())
	}
	if len(via) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	return nil
}

// download fetches a file from the first of its addresses that gives the
// right bytes.
func (r *Resolver) download(ctx context.Context, f File) ([]byte, error) {
	if r.Offline {
		return nil, fmt.Errorf("%w: no copy of %s, and %s forbids the network", ErrUnavailable, f.Path, EnvOffline)
	}
	r.once.Do(func() {
		if r.Client == nil {
			r.Client = newClient()
		}
	})
	var failures []string
	for _, u := range f.URLs {
		data, err := r.get(ctx, u)
		if err == nil {
			if got := digest(data); got != f.SHA256 {
				err = fmt.Errorf("%s: wrong contents: SHA-256 is %s: want %s", u, got, f.SHA256)
			}
		}
		if err == nil {
			return data, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		failures = append(failures, err.Error())
	}
	return nil, fmt.Errorf("%w: no copy of %s, and it cannot be fetched: %s", ErrUnavailable, f.Path, strings.Join(failures, "; "))
}

// get fetches one address.
func (r *Resolver) get(ctx context.Context, address string) ([]byte, error) {
	if u, err := url.Parse(address); err != nil || u.Scheme != "https" {
		return nil, fmt.Errorf("%s: not an HTTPS address", address)
	}
	deadline, err := r.network.contact()
	if err != nil {
		return nil, err
	}
	headers, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(time.Until(deadline), func() { cancel(errors.New("no answer in time")) })
	defer silence.Stop()
	req, err := http.NewRequestWithContext(headers, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := r.Client.Do(req)
	if err != nil {
		return nil, r.unanswered(ctx, headers, resp, err)
	}
	defer resp.Body.Close()
	r.network.saw()
	silence.Reset(fileTime)
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: status %s", address, resp.Status)
	}
	return body(resp, address)
}

// unanswered takes note of a request that failed: the network may be down,
// unless there is a response (a refused redirect) or the caller gave up.
func (r *Resolver) unanswered(ctx, headers context.Context, resp *http.Response, err error) error {
	if cause := context.Cause(headers); cause != nil && ctx.Err() == nil {
		err = cause
	}
	switch {
	case resp != nil:
		r.network.saw()
	case ctx.Err() == nil:
		r.network.failed(err)
	}
	return err
}

// body reads a response whole, within the size limit.
func body(resp *http.Response, address string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("%s: cut off after %d bytes: %w", address, len(data), err)
	}
	if len(data) > maxFileSize {
		return nil, fmt.Errorf("%s: larger than %d bytes", address, maxFileSize)
	}
	return data, nil
}

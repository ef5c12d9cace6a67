package datasets

import (
	"cmp"
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

// Limits of downloads.
const (
	maxFileSize  = 4 << 20          // the largest file is 76 KB
	maxRedirects = 5                // public archives use one or two
	contactTime  = 8 * time.Second  // until some server must have answered, in all
	hostTime     = 4 * time.Second  // to connect to one host
	fileTime     = 60 * time.Second // for one file, once a server has answered
)

var errNoAnswer = errors.New("no answer in time")

// network remembers what a resolver learnt of the network, so that a server
// that cannot be reached is waited for once and not at every file, and all
// of them together no longer than contactTime.
type network struct {
	mu       sync.Mutex
	started  time.Time
	answered bool
	down     map[string]error // by host
	fileTime time.Duration    // 0 is the constant
}

// contact returns the deadline of the next request to a host, or the error
// that shows it is down.
func (n *network) contact(host string) (time.Time, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	if n.started.IsZero() {
		n.started = now
	}
	if err := n.down[host]; err != nil {
		return now, err
	}
	if n.answered {
		return now.Add(n.perFile()), nil
	}
	deadline := n.started.Add(contactTime)
	if !now.Before(deadline) {
		return now, errNoAnswer
	}
	return deadline, nil
}

func (n *network) perFile() time.Duration { return cmp.Or(n.fileTime, fileTime) }

// saw takes note of a server's answer.
func (n *network) saw() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answered = true
}

// failed takes note that a host did not answer.
func (n *network) failed(host string, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.down == nil {
		n.down = make(map[string]error)
	}
	n.down[host] = err
}

// newClient returns a client that gives up on silence soon.
func newClient() *http.Client {
	dial := &net.Dialer{Timeout: hostTime}
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dial.DialContext,
			TLSHandshakeTimeout: hostTime, ResponseHeaderTimeout: 10 * time.Second,
		},
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

// prepare makes the resolver's client: the given one or its own, with
// redirects to nothing but HTTPS.
func (r *Resolver) prepare() {
	r.client = newClient()
	if r.Client != nil {
		*r.client = *r.Client
	}
	r.client.CheckRedirect = checkRedirect
}

// download fetches a file from the first of its addresses that gives the
// right bytes.
func (r *Resolver) download(ctx context.Context, f File) ([]byte, error) {
	if r.Offline {
		return nil, fmt.Errorf("%w: no copy of %s, and %s forbids the network", ErrUnavailable, f.Path, EnvOffline)
	}
	r.once.Do(r.prepare)
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
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" {
		return nil, fmt.Errorf("%s: not an HTTPS address", address)
	}
	deadline, err := r.network.contact(u.Host)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	patient, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(time.Until(deadline), func() { cancel(errNoAnswer) })
	defer silence.Stop()
	req, err := http.NewRequestWithContext(patient, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := r.client.Do(req)
	if err != nil {
		r.unanswered(ctx, u.Host, resp, err)
		return nil, because(patient, err)
	}
	defer resp.Body.Close()
	r.network.saw()
	silence.Reset(r.network.perFile())
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: status %s", address, resp.Status)
	}
	data, err := body(resp, address)
	return data, because(patient, err)
}

// because adds to an error why its context ended, where that is the cause.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return fmt.Errorf("%w (%w)", err, cause)
	}
	return err
}

// unanswered takes note of a request that failed: the host is down, unless
// there is a response (a refused redirect) or the caller gave up.
func (r *Resolver) unanswered(ctx context.Context, host string, resp *http.Response, err error) {
	switch {
	case resp != nil:
		r.network.saw()
	case ctx.Err() == nil:
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // without the address: it stands for all of the host's
		}
		r.network.failed(host, err)
	}
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

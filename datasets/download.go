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
	"sync/atomic"
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

// network is what a resolver learnt of the network, so that a server that
// cannot be reached is waited for once and not at every file, and all of them
// together no longer than contactTime.
type network struct {
	once     sync.Once
	client   *http.Client
	deadline time.Time     // until which some server must have answered
	answered atomic.Bool   // one has
	down     sync.Map      // error by host
	fileTime time.Duration // 0 is the constant
}

// prepare makes the client: the given one, or one that gives up on silence soon;
// redirects lead to nothing but HTTPS. The time until a server must have answered begins.
func (n *network) prepare(client *http.Client) {
	dial := &net.Dialer{Timeout: hostTime}
	n.client = &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dial.DialContext,
		TLSHandshakeTimeout: hostTime, ResponseHeaderTimeout: 10 * time.Second,
	}}
	if client != nil {
		*n.client = *client
	}
	n.client.CheckRedirect = checkRedirect
	n.deadline = time.Now().Add(contactTime)
	n.fileTime = cmp.Or(n.fileTime, fileTime)
}

// patience is how long a request may take until it is answered.
func (n *network) patience() time.Duration {
	if n.answered.Load() {
		return n.fileTime
	}
	return time.Until(n.deadline)
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
	r.network.once.Do(func() { r.network.prepare(r.Client) })
	var failures []string
	for _, u := range f.URLs {
		data, err := r.network.get(ctx, u)
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
	return nil, fmt.Errorf("%w: no copy of %s, and it cannot be fetched: %s", ErrUnavailable, f.Path, cmp.Or(strings.Join(failures, "; "), "no address is known"))
}

// get fetches one address. A host that does not answer is down from then on,
// unless the caller gave up.
func (n *network) get(ctx context.Context, address string) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" {
		return nil, fmt.Errorf("%s: not an HTTPS address", address)
	}
	if cause, ok := n.down.Load(u.Host); ok {
		return nil, fmt.Errorf("%s: %w", address, cause.(error))
	}
	wait := n.patience()
	if wait <= 0 {
		return nil, fmt.Errorf("%s: %w", address, errNoAnswer)
	}
	patient, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(wait, func() { cancel(errNoAnswer) })
	defer silence.Stop()
	req, err := http.NewRequestWithContext(patient, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := n.client.Do(req)
	if resp != nil { // also with a redirect that was refused
		defer resp.Body.Close()
		n.answered.Store(true)
	}
	if err != nil {
		if resp == nil && ctx.Err() == nil {
			n.down.Store(u.Host, errors.Unwrap(err)) // without the address: it stands for all of the host's
		}
		return nil, because(patient, err)
	}
	silence.Reset(n.fileTime)
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: status %s", address, resp.Status)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxFileSize+1))
	if err != nil {
		return nil, because(patient, fmt.Errorf("%s: cut off after %d bytes: %w", address, len(data), err))
	}
	if len(data) > maxFileSize {
		return nil, fmt.Errorf("%s: larger than %d bytes", address, maxFileSize)
	}
	return data, nil
}

// because adds to an error why its context ended, where that is the cause.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("%w (%w)", err, cause)
	}
	return err
}

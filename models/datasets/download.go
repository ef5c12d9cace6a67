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

	"hambench/internal/fingerprint"
)

// Limits of downloads.
const (
	// maxFileSize bounds a file in bytes; the largest, naval's, has 3.4 MB.
	maxFileSize = 4 << 20
	// maxRedirects bounds a chain of redirects; public archives use one or two.
	maxRedirects = 5
	// connectTime bounds a connection to one host. A network that answers nothing is
	// noticed after this time for each of the three hosts that the built-in sets name.
	connectTime = 3 * time.Second
	// answerTime bounds the time until a host that is there answers: the handshake, for which a
	// busy machine needs its time, too, and then the request. fileTime is that of a file in all,
	// with its body: of the largest one over a link of 20 kB/s.
	answerTime = 8 * time.Second
	fileTime   = 4 * time.Minute
)

// network is the client of a resolver, and the hosts that did not answer: each is waited
// for once and not at every file. It is safe for concurrent use.
type network struct {
	once   sync.Once // prepares client
	client http.Client
	down   sync.Map // the error of each host that did not answer, by its name
}

// prepare makes the client: a copy of the given one, or one with the time-outs above.
// Either follows redirects to HTTPS only.
func (n *network) prepare(client *http.Client) {
	dial := &net.Dialer{Timeout: connectTime}
	// A given client brings its own transport and so replaces this one.
	n.client.Transport = &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dial.DialContext,
		TLSHandshakeTimeout: answerTime, ResponseHeaderTimeout: answerTime,
	}
	if client != nil {
		n.client = *client
	}
	n.client.CheckRedirect = checkRedirect
	n.client.Timeout = cmp.Or(n.client.Timeout, fileTime)
}

// checkRedirect refuses a redirect to anything but HTTPS, and a long chain of them.
func checkRedirect(req *http.Request, via []*http.Request) error {
	if req.URL.Scheme != "https" {
		return fmt.Errorf("redirect to %s: only HTTPS is followed", req.URL.Redacted())
	}
	if len(via) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	return nil
}

// download fetches a file from the first of its addresses that gives bytes with the
// right digest. If none does, or the network is forbidden, the error wraps
// ErrUnavailable and lists what each address gave.
func (r *Resolver) download(ctx context.Context, f File) ([]byte, error) {
	if r.Offline {
		return nil, fmt.Errorf("%w: no copy of %s, and %s forbids the network",
			ErrUnavailable, f.Path, EnvOffline)
	}
	r.network.once.Do(func() { r.network.prepare(r.Client) })
	// A mirror with other bytes is no better than one that does not answer: both are noted,
	// and the next one is tried.
	var failures []string
	for _, u := range f.URLs {
		data, err := r.network.get(ctx, u)
		if err == nil {
			if got := fingerprint.Bytes(data); got != f.SHA256 {
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
	return nil, fmt.Errorf("%w: no copy of %s, and it cannot be fetched: %s",
		ErrUnavailable, f.Path, cmp.Or(strings.Join(failures, "; "), "no address is known"))
}

// get fetches one address, at most maxFileSize bytes. A host that does not answer is down
// from then on, and later calls return at once, unless it was ctx that ended the call.
func (n *network) get(ctx context.Context, address string) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" {
		return nil, fmt.Errorf("%s: not an HTTPS address", address)
	}
	if cause, ok := n.down.Load(u.Host); ok {
		return nil, fmt.Errorf("%s: %w", address, cause.(error))
	}
	// The client's time-out covers the body, too.
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := n.client.Do(req)
	if resp != nil { // also with a redirect that was refused
		defer resp.Body.Close()
	}
	switch {
	case err != nil && resp == nil && ctx.Err() == nil:
		// The cause is stored without this address: it stands for all of the host's.
		n.down.Store(u.Host, errors.Unwrap(err))
		return nil, err
	case err != nil:
		return nil, err
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: status %s", address, resp.Status)
	}
	// One byte more than the limit tells a file of that size from a longer one.
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxFileSize+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: cut off after %d bytes: %w", address, len(data), err)
	case len(data) > maxFileSize:
		return nil, fmt.Errorf("%s: larger than %d bytes", address, maxFileSize)
	}
	return data, nil
}

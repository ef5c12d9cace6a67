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

// Limits of downloads. A network that answers nothing is noticed after connectTime for
// each of the three hosts that the built-in sets name.
const (
	maxFileSize  = 4 << 20          // the largest file is 76 KB
	maxRedirects = 5                // public archives use one or two
	connectTime  = 3 * time.Second  // to connect to one host
	answerTime   = 8 * time.Second  // until a host answers a request
	fileTime     = 60 * time.Second // for one file in all
)

// network is the client of a resolver, and the hosts that did not answer: each is waited
// for once and not at every file.
type network struct {
	once   sync.Once
	client http.Client
	down   sync.Map // error by host
}

// prepare makes the client: the given one, or one that gives up on silence soon;
// redirects lead to nothing but HTTPS.
func (n *network) prepare(client *http.Client) {
	dial := &net.Dialer{Timeout: connectTime}
	n.client.Transport = &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dial.DialContext,
		TLSHandshakeTimeout: connectTime, ResponseHeaderTimeout: answerTime,
	}
	if client != nil {
		n.client = *client
	}
	n.client.CheckRedirect = checkRedirect
	n.client.Timeout = cmp.Or(n.client.Timeout, fileTime)
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
		return nil, fmt.Errorf("%w: no copy of %s, and %s forbids the network",
			ErrUnavailable, f.Path, EnvOffline)
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
	return nil, fmt.Errorf("%w: no copy of %s, and it cannot be fetched: %s",
		ErrUnavailable, f.Path, cmp.Or(strings.Join(failures, "; "), "no address is known"))
}

// get fetches one address. A host that does not answer is down from then on, unless the
// caller gave up.
func (n *network) get(ctx context.Context, address string) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" {
		return nil, fmt.Errorf("%s: not an HTTPS address", address)
	}
	if cause, ok := n.down.Load(u.Host); ok {
		return nil, fmt.Errorf("%s: %w", address, cause.(error))
	}
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
		n.down.Store(u.Host, errors.Unwrap(err)) // without the address: it stands for all of the host's
		return nil, err
	case err != nil:
		return nil, err
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: status %s", address, resp.Status)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxFileSize+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: cut off after %d bytes: %w", address, len(data), err)
	case len(data) > maxFileSize:
		return nil, fmt.Errorf("%s: larger than %d bytes", address, maxFileSize)
	}
	return data, nil
}

package azuredns

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// The values that are used where the options name none.
const (
	// DefaultTenant is the tenant that all principals are in.
	DefaultTenant = "11111111-1111-1111-1111-111111111111"
	// DefaultSubscription is the subscription of zones that name none.
	DefaultSubscription = "22222222-2222-2222-2222-222222222222"

	defaultRecordSets = 10_000
	defaultLifetime   = time.Hour
)

// Clock tells the time. Every clock of k8s.io/utils/clock fits.
type Clock interface {
	Now() time.Time
}

// RealClock is the machine's clock.
type RealClock struct{}

// Now returns the current time in UTC.
func (RealClock) Now() time.Time {
	return time.Now().UTC() //nolint:forbidigo // the one clock that is real by definition
}

// Options are what a simulated Azure starts with.
type Options struct {
	// Clock is the machine's if nil.
	Clock Clock
	// Tenant is DefaultTenant if empty.
	Tenant     string
	Principals []Principal
	Zones      []Zone
	// VisibleAfter is how long a change takes to the name servers.
	VisibleAfter time.Duration
	// PageSize is the most that a page holds, whatever the client asks for. Zero: Azure's own limits.
	PageSize int
	// MaxRecordSets is the quota of each zone, 10,000 if zero.
	MaxRecordSets int
	// TokenLifetime is an hour if zero.
	TokenLifetime time.Duration
	// Limits are the request rates. There are none if it is empty.
	Limits []Limit
}

// Sim is a simulated Azure. It is safe for concurrent use.
type Sim struct {
	options Options

	mu         sync.Mutex
	principals []*Principal
	zones      []*zone
	tokens     map[string]token
	faults     []*Fault
	journal    []Entry
	windows    map[string]window
	serial     uint64
	stalled    bool
}

// New returns a simulated Azure. It panics if a seed makes no sense: that is a mistake in a test.
func New(o Options) *Sim {
	if o.Clock == nil {
		o.Clock = RealClock{}
	}
	if o.Tenant == "" {
		o.Tenant = DefaultTenant
	}
	if o.MaxRecordSets == 0 {
		o.MaxRecordSets = defaultRecordSets
	}
	if o.TokenLifetime == 0 {
		o.TokenLifetime = defaultLifetime
	}
	s := &Sim{options: o, tokens: map[string]token{}, windows: map[string]window{}}
	for _, p := range o.Principals {
		s.principals = append(s.principals, &p)
	}
	for _, z := range o.Zones {
		s.AddZone(z)
	}
	return s
}

func (s *Sim) now() time.Time { return s.options.Clock.Now() }

// etag is a new one, in the shape that Azure's have.
func (s *Sim) etag() string {
	s.serial++
	return fmt.Sprintf("00000000-0000-4000-8000-%012x", s.serial)
}

// Transport reaches the simulator without a socket, whatever the host of a request is.
func (s *Sim) Transport() http.RoundTripper { return transport{s} }

type transport struct{ sim *Sim }

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	defer func() {
		if broken := recover(); broken == http.ErrAbortHandler { //nolint:errorlint // a panic's value is compared as net/http does
			answer, err = nil, errors.New("connection reset by the simulator")
		} else if broken != nil {
			panic(broken)
		}
	}()
	served := r.Clone(r.Context())
	served.Host, served.RequestURI = r.URL.Host, r.URL.RequestURI()
	if served.Body == nil {
		served.Body = http.NoBody
	}
	recorder := httptest.NewRecorder()
	t.sim.ServeHTTP(recorder, served)
	answer = recorder.Result()
	answer.Request = r
	return answer, nil
}

package aws

import (
	"fmt"
	"sync"
	"time"
)

// Options say how a simulated AWS behaves. The zero value is usable: one
// account, a wildcard certificate, documented quotas, strict switches, and
// changes that are deployed at once.
type Options struct {
	// Clock tells the time; [RealClock] if nil.
	Clock Clock
	// RandomSeed decides ids, ETags and the dice of faults with a probability.
	RandomSeed uint64
	// DeployDelay is how long a change stays InProgress.
	DeployDelay time.Duration
	// Seed is the world at the start; [DefaultSeed] if nil.
	Seed *Seed
	// Switches decide what is unknown about AWS; [DefaultSwitches] if nil. The
	// deploy delay in them is overridden by DeployDelay when that is set.
	Switches *Switches
	// LenientCertificates makes every well-formed certificate ARN in us-east-1
	// count as an issued certificate for *.example.com and example.com.
	LenientCertificates bool
	// Quotas are the account limits; fields that are zero take the default.
	// The quotas of the seed win over these.
	Quotas Quotas
	// PageSize is the default and the cap of MaxItems in lists; 100 if zero.
	PageSize int
	// JournalSize bounds the journal; 100,000 entries if zero.
	JournalSize int
	// Watch, if set, is shown the world right before and right after every call
	// that changes it, and after time was advanced, for tests of what must hold
	// at every moment. It must not call the simulator, only the view.
	Watch func(View)
}

// Sim is a simulated AWS. It is safe for concurrent use.
type Sim struct {
	options  Options
	clock    Clock
	derive   deriver
	services []service

	mu       sync.Mutex
	offset   time.Duration
	switches Switches
	quotas   Quotas
	world    *world
	requests uint64
	stats    map[string]*OperationCalls
	journal  *journal
	faults   *faultBook
	limits   *limitBook
	hanging  map[chan struct{}]struct{}
}

// world is everything AWS remembers.
type world struct {
	accounts       map[string]*account
	accessKeys     map[string]string
	defaultAccount string
	domains        map[string]domainHolder // across all accounts, as AWS has it
	resolving      map[string]struct{}
	roles          map[string]*role
	sessions       map[string]*session      // by access key id
	pending        []*certificate           // managed ones that wait for their proofs
	proved         time.Time                // when all of them were looked at
	aging          time.Time                // when the next certificate is to be renewed or ends
	zones          map[string]*hostedZone   // by id, of all accounts
	zonesNamed     map[string][]*hostedZone // oldest first
	zoneIDs        map[string]struct{}      // of deleted zones too
}

// account is what one AWS account holds.
type account struct {
	id             string
	tenants        *table[tenant]
	groups         *table[group]
	distributions  *table[distribution]
	certificates   *certificateBook
	attached       map[string]map[string]int // certificate -> distribution id -> tenants
	requests       map[string]int            // tenant id -> certificates asked for
	callerRefs     map[string]string         // caller reference -> distribution id
	endpoints      map[string]string         // routing endpoint -> group id
	tenantsOf      map[string]int            // distribution id -> tenants
	tenantsIn      map[string]int            // connection group id -> tenants
	webACLUses     map[string]int
	invalidations  map[string][]invalidation // by tenant id, oldest first
	defaultGroupID string
	zones          []*hostedZone // in order of creation
	changes        map[string]*change
	itemTables     map[string]*itemTable  // of DynamoDB, by name
	streams        map[string]*itemStream // by ARN, also of tables that are gone
	stores         map[string]*keyStore   // key value stores, by ARN
}

// New returns a simulated AWS. It panics if the seed is not valid: a seed that
// comes from outside goes through [ParseSeed] or [Seed.Validate] first.
func New(options Options) *Sim {
	if options.Clock == nil {
		options.Clock = RealClock{}
	}
	if options.PageSize <= 0 {
		options.PageSize = 100
	}
	if options.JournalSize <= 0 {
		options.JournalSize = 100_000
	}
	s := &Sim{options: options, clock: options.Clock, derive: deriver{seed: options.RandomSeed}}
	s.services = []service{cloudFront{}, route53{}, acm{}, serviceQuotas{}, dynamoDB{}, keyValueStores{}, sts{}}
	s.hanging = map[chan struct{}]struct{}{}
	if err := s.restart(); err != nil {
		panic(fmt.Sprintf("starting the simulated AWS: %v", err))
	}
	return s
}

// restart puts everything back to how New left it.
func (s *Sim) restart() error {
	s.offset = 0
	s.switches = DefaultSwitches()
	if s.options.Switches != nil {
		s.switches = s.options.Switches.clone()
	}
	if s.options.DeployDelay > 0 {
		s.switches.DeployDelay = s.options.DeployDelay
	}
	s.quotas = DefaultQuotas()
	s.quotas.merge(s.options.Quotas)
	s.world = &world{
		accounts:   map[string]*account{},
		accessKeys: map[string]string{},
		domains:    map[string]domainHolder{},
		resolving:  map[string]struct{}{},
		roles:      map[string]*role{},
		sessions:   map[string]*session{},
		zones:      map[string]*hostedZone{},
		zonesNamed: map[string][]*hostedZone{},
		zoneIDs:    map[string]struct{}{},
	}
	s.requests = 0
	s.stats = map[string]*OperationCalls{}
	s.journal = newJournal(s.options.JournalSize)
	s.faults = &faultBook{}
	s.limits = &limitBook{}
	seed := DefaultSeed()
	if s.options.Seed != nil {
		seed = *s.options.Seed
	}
	return s.load(seed)
}

// Reset puts the simulated AWS back to its start: the seeded world, the
// switches and quotas it was made with, an empty journal, no faults, no limits,
// the clock without what was advanced. Calls that hang are cut.
func (s *Sim) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release()
	if err := s.restart(); err != nil {
		panic(fmt.Sprintf("resetting the simulated AWS: %v", err))
	}
}

// Advance moves the simulated time forward.
func (s *Sim) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.progressAll(s.now())
	s.offset += d
	s.progressAll(s.now())
	s.watch("", true)
}

// Now returns the simulated time.
func (s *Sim) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now()
}

// now needs the lock.
func (s *Sim) now() time.Time {
	return s.clock.Now().UTC().Add(s.offset)
}

// account returns an account, made on first use.
func (s *Sim) account(id string) *account {
	a := s.world.accounts[id]
	if a == nil {
		a = &account{
			id:            id,
			tenants:       newTable[tenant](),
			groups:        newTable[group](),
			distributions: newTable[distribution](),
			certificates:  newCertificateBook(),
			attached:      map[string]map[string]int{},
			requests:      map[string]int{},
			callerRefs:    map[string]string{},
			endpoints:     map[string]string{},
			tenantsOf:     map[string]int{},
			tenantsIn:     map[string]int{},
			webACLUses:    map[string]int{},
			invalidations: map[string][]invalidation{},
			changes:       map[string]*change{},
			itemTables:    map[string]*itemTable{},
			streams:       map[string]*itemStream{},
			stores:        map[string]*keyStore{},
		}
		s.world.accounts[id] = a
	}
	return a
}

// accountOf returns the account an access key belongs to; keys that were not seeded belong to the default account.
func (s *Sim) accountOf(accessKey string) *account {
	if id, ok := s.world.accessKeys[accessKey]; ok {
		return s.account(id)
	}
	return s.account(s.world.defaultAccount)
}

// keep is how long old versions of a resource can still be shown.
func (s *Sim) keep() time.Duration {
	return max(s.switches.ListLag, s.switches.UpdateLag, s.switches.DeleteLag)
}

// changed returns the metadata of a resource after a mutation: a new ETag, and
// InProgress for the deploy delay.
func (s *Sim) changed(id string, rev int, now time.Time) meta {
	return meta{
		etag:     s.derive.etag(id, fmt.Sprint(rev)),
		settled:  s.derive.etag(id, fmt.Sprint(rev), "settled"),
		modified: now,
		ready:    now.Add(s.switches.DeployDelay),
	}
}

// etagAt is the ETag a resource has at a moment.
func (s *Sim) etagAt(m meta, at time.Time) string {
	if s.switches.DeployMovesETag && !at.Before(m.ready) {
		return m.settled
	}
	return m.etag
}

// summaryETag is the ETag lists show.
func (s *Sim) summaryETag(id string, m meta, at time.Time) string {
	etag := s.etagAt(m, at)
	if s.switches.SummaryETagDiffers {
		return s.derive.etag(id, etag, "summary")
	}
	return etag
}

//go:build linux

package node_test

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/dnsserver"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/node"
)

const (
	awsAddress = node.Address + ":4566"
	// fleetQuota is more than all scenarios create.
	fleetQuota = 20_000
)

// simulated is the simulated AWS, which Pods reach at the node's address, and its public DNS.
type simulated struct {
	*sim.Sim

	mu sync.Mutex
	// callers are the addresses that requests came from, by the id that their answers have.
	callers map[string]string
	// identity answers for tokens of service accounts.
	identity atomic.Pointer[webIdentity]
}

// write is a call that changes something, also if it was refused, and the address of the Pod that made it.
type write struct {
	sim.Entry

	from string
}

func startAWS(t *testing.T, root string) *simulated {
	t.Helper()
	path := filepath.Join(root, "cmd", "playground", "seed.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seed, err := sim.ParseSeed(path, text)
	if err != nil {
		t.Fatal(err)
	}
	seed.Roles = append(seed.Roles, sim.SeedRole{ARN: roleARN})
	s := &simulated{callers: map[string]string{}, Sim: sim.New(sim.Options{
		Seed: &seed, DeployDelay: time.Second, Quotas: sim.Quotas{Tenants: fleetQuota, RecordsPerZone: fleetQuota},
	})}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", awsAddress)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	dns, err := dnsserver.Start(t.Context(), node.Address+":53", s.DNSHandler())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = server.Close(), dns.Stop() })
	return s
}

func (s *simulated) serve(w http.ResponseWriter, r *http.Request) {
	if identity := s.identity.Load(); identity != nil && r.URL.Path == "/" && r.Header.Get("Authorization") == "" && r.ParseForm() == nil {
		identity.serve(r.Context(), w, r.PostForm)
		return
	} else if identity != nil {
		identity.see(r.Header.Get("Authorization"))
	}
	s.ServeHTTP(w, r)
	address, _, _ := net.SplitHostPort(r.RemoteAddr)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.callers[w.Header().Get("X-Amzn-Requestid")] = address
}

// now is where the journal is.
func (s *simulated) now() uint64 {
	all := s.Journal()
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].Seq
}

// writes are the calls since then that were to change CloudFront, in their order.
func (s *simulated) writes(since uint64) []write {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []write
	for _, entry := range s.JournalSince(since) {
		if entry.Mutating {
			out = append(out, write{Entry: entry, from: s.callers[entry.RequestID]})
		}
	}
	return out
}

// created counts how often AWS was asked since then to create each tenant that it has. It refuses a name that is taken.
func (s *simulated) created(since uint64) map[string]int {
	out := map[string]int{}
	for _, w := range s.writes(since) {
		if w.Operation == "CreateDistributionTenant" {
			out[w.Name]++
		}
	}
	return out
}

// pause is the longest time without a write that began after begin.
func pause(writes []write, begin time.Time) (longest time.Duration) {
	first := max(0, slices.IndexFunc(writes, func(w write) bool { return w.Time.After(begin) })-1)
	for n := first + 1; n < len(writes); n++ {
		longest = max(longest, writes[n].Time.Sub(writes[n-1].Time))
	}
	return longest
}

// Package authority asks the DNS servers of a zone whether they answer as a change says.
package authority

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/query"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// operation names the failures.
const operation = "AskNameServer"

const (
	// atOnce is how many questions are on their way to one server: a batch has hundreds of names.
	atOnce = 16
	// patience is how long after a change name servers that don't respond are asked. Many clusters let no DNS out but
	// to their own resolver. Services usually have a change at their servers within seconds, so then their answer has
	// to be enough.
	patience = time.Minute
)

// Accepted is Show for changes that the service has accepted, and says are carried out. Its word counts once no server has
// answered for the age of patience, also if the zone's servers are not known.
func Accepted(ctx context.Context, servers []string, flattened string, changes []dns.Change, age func() time.Duration) (bool, error) {
	changes = final(changes)
	if len(changes) == 0 {
		return true, nil
	}
	// If nothing responds, one question finds that out, not one for each change.
	shown, err := Show(ctx, servers, flattened, changes[:1])
	if err == nil && len(changes) > 1 {
		shown, err = Show(ctx, servers, flattened, changes)
	}
	if fault.Is(err, fault.Transient) && age() >= patience {
		return true, nil
	}
	return shown, err
}

// Show reports whether all servers, each a host with a port, answer as the changes say, as far as sets have values that
// can be seen. A server that does not answer has no say, unless none answers: that is fault.Transient. Of a CNAME at
// the name that is flattened, empty for none, servers show addresses only.
func Show(ctx context.Context, servers []string, flattened string, changes []dns.Change) (bool, error) {
	answered, failure := false, error(nil)
	changes = final(changes)
	for _, server := range servers {
		missing, err := showsNot(ctx, server, flattened, changes)
		switch {
		case err != nil:
			failure = err
			continue
		case len(missing) > 0:
			return false, nil
		}
		answered = true
	}
	if !answered {
		return false, silent(servers, failure)
	}
	return true, nil
}

// Missing are the names at which a server, a host with a port, does not answer as the changes say.
func Missing(ctx context.Context, server string, changes []dns.Change) ([]string, error) {
	missing, err := showsNot(ctx, server, "", final(changes))
	if err != nil {
		return nil, silent([]string{server}, err)
	}
	return missing, nil
}

// silent is the failure of a question that no server has answered.
func silent(servers []string, cause error) error {
	return query.Silent(operation, "name servers", servers, cause)
}

// final leaves out sets without values, and the deletions at a name at which something is created: that replaces them.
func final(changes []dns.Change) (out []dns.Change) {
	created := map[string]bool{}
	for _, c := range changes {
		if c.Action == dns.Create && len(c.Set.Values) > 0 {
			created[c.Set.Name] = true
		}
	}
	for _, c := range changes {
		if len(c.Set.Values) > 0 && (c.Action == dns.Create || !created[c.Set.Name]) {
			out = append(out, c)
		}
	}
	return out
}

// showsNot asks one server for all changes, and returns the names where it does not answer as they say.
func showsNot(ctx context.Context, server, flattened string, changes []dns.Change) (missing []string, failure error) {
	var (
		running sync.WaitGroup
		mu      sync.Mutex
	)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	slots := make(chan struct{}, atOnce)
	for _, c := range changes {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break // a server that does not answer one question is not asked the others
		}
		running.Go(func() {
			defer func() { <-slots }()
			ok, err := shows(ctx, server, c, c.Set.Type == dns.CNAME && c.Set.Name == flattened)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil && failure == nil:
				failure = err
				cancel()
			case err == nil && !ok:
				missing = append(missing, c.Set.Name)
			}
		})
	}
	running.Wait()
	if failure != nil {
		return nil, failure
	}
	slices.Sort(missing)
	return missing, nil
}

// shows reports whether the server answers as one change says.
func shows(ctx context.Context, server string, c dns.Change, flattened bool) (bool, error) {
	if flattened {
		answer, err := ask(ctx, server, c.Set.Name, wire.TypeA)
		return err == nil && (len(answer.Values(c.Set.Name, dns.A)) > 0) == (c.Action == dns.Create), err
	}
	kind, known := wire.StringToType[c.Set.Type]
	if !known {
		return true, nil
	}
	answer, err := ask(ctx, server, c.Set.Name, kind)
	if err != nil {
		return false, err
	}
	there := containsAll(answer.Values(c.Set.Name, c.Set.Type), c.Set.Values)
	if there && c.Action == dns.Delete {
		return covered(ctx, server, c.Set, kind), nil
	}
	return there == (c.Action == dns.Create), nil
}

// unlikely is a label that no zone has. A server that answers for it does so for every name there.
const unlikely = "cloudfront-tenant-operator-wildcard-probe."

// covered reports whether a wildcard shows what a deleted set had shown: then it can't be told whether the set is gone, and
// the name leads to the same.
func covered(ctx context.Context, server string, set dns.RecordSet, kind uint16) bool {
	// What covers a wildcard is a wildcard above its own parent.
	_, parent, below := strings.Cut(strings.TrimPrefix(set.Name, "*."), ".")
	if !below {
		return false
	}
	probe := unlikely + parent
	// The parent may be above the zone, where the server has no say.
	answer, err := ask(ctx, server, probe, kind)
	return err == nil && containsAll(answer.Values(probe, set.Type), set.Values)
}

func containsAll(have, want []string) bool {
	return len(want) > 0 && !slices.ContainsFunc(want, func(v string) bool { return !slices.Contains(have, v) })
}

// ask puts a question to a server that has to be one of the zone.
func ask(ctx context.Context, server, name string, kind uint16) (query.Answer, error) {
	answer, err := query.Ask(ctx, server, query.Question{Name: name, Kind: kind})
	if err != nil {
		return query.Answer{}, err
	}
	return answer, answer.NoAuthority()
}

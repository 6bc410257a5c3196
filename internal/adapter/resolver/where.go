package resolver

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"

	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/query"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const (
	// longestChain is how many CNAMEs are followed: as many as common resolvers do.
	longestChain = 8
	// challengeLabel stands before a name that leads to CloudFront by an alias, with the target as its text.
	challengeLabel = "_cf-challenge."
	// edge is below which CloudFront has its endpoints.
	edge = ".cloudfront.net"
	// longestSeen is the length of a name. Values of a server can be longer.
	longestSeen = 253
)

var _ port.Guide = (*Resolver)(nil)

// Result is how a question has ended.
type Result string

// The results.
const (
	// Answered means that the server has answered, even if only that there is no such name.
	Answered Result = "answered"
	// Failed means that there was no answer in time, or one that reports a failure.
	Failed Result = "failed"
)

// Counting has a function told how each question of Where has ended. It is set before the first one.
func (r *Resolver) Counting(asked func(Result)) *Resolver {
	r.asked = asked
	return r
}

// Where implements port.Guide with few questions: one server is enough to know that a name does not lead to a target,
// and only if it does, or if the server fails, the others are asked, too.
func (r *Resolver) Where(ctx context.Context, name string, targets []string) onboarding.Sight {
	name, targets = dns.Lower(name), lowered(targets)
	known, broken := onboarding.Sight{Way: onboarding.Silent}, onboarding.Sight{}
	first := int(r.turn.Add(1) % uint32(len(r.servers)))
	for _, server := range slices.Concat(r.servers[first:], r.servers[:first]) {
		shown, err := where(r.counted(asking(ctx, server)), name, targets)
		switch {
		case err != nil && shown.Way == onboarding.Failing:
			broken = shown
		case err != nil:
		case shown.Way == onboarding.Here:
			known = shown
		case known.Way == onboarding.Here:
			return onboarding.Sight{Way: onboarding.Partly, Seen: shown.Seen}
		default:
			return shown
		}
	}
	if known.Way == onboarding.Silent && broken.Way == onboarding.Failing && r.resolve(ctx, name) {
		return broken
	}
	return known
}

func lowered(names []string) (out []string) {
	for _, n := range names {
		out = append(out, dns.Lower(n))
	}
	return out
}

// resolve reports whether a server works although it has failed for a name: it finds out that another name below the same
// top does not exist. No cache can tell it that.
func (r *Resolver) resolve(ctx context.Context, name string) bool {
	other := strings.ToLower(rand.Text()) + "." + name[strings.LastIndexByte(name, '.')+1:]
	return ctx.Err() == nil && slices.ContainsFunc(r.servers, func(server string) bool {
		_, err := r.counted(asking(ctx, server))(other, wire.TypeA)
		return err == nil
	})
}

// counted tells how questions end.
func (r *Resolver) counted(ask asker) asker {
	return func(name string, kind uint16) (query.Answer, error) {
		answer, err := ask(name, kind)
		if err != nil {
			r.asked(Failed)
		} else {
			r.asked(Answered)
		}
		return answer, err
	}
}

// where is what one server shows. If it can't follow the name itself, that is a sight, too.
func where(ask asker, name string, targets []string) (onboarding.Sight, error) {
	t, err := follow(ask, name, targets...)
	switch {
	case refused(err):
		return sight(onboarding.Failing, t.names[1:]...), err
	case err != nil:
		return onboarding.Sight{}, err
	case t.circle:
		return sight(onboarding.Circle, t.names[1]), nil
	case slices.Contains(targets, t.end()):
		return onboarding.Sight{Way: onboarding.Here}, nil
	case strings.HasSuffix(t.end(), edge):
		return sight(onboarding.Edge, t.end()), nil
	}
	found, err := t.addresses(ask)
	if err != nil {
		return onboarding.Sight{}, err
	}
	if len(found) > 0 { // an alias shows addresses, and not whose they are
		if alias, err := aliasOf(ask, t, targets); err != nil || alias.Way != "" {
			return alias, err
		}
	}
	switch {
	case len(t.names) > 1:
		return sight(onboarding.Elsewhere, t.names[1]), nil
	case len(found) > 0:
		return sight(onboarding.Elsewhere, found...), nil
	}
	return onboarding.Sight{Way: onboarding.Nowhere}, nil
}

// aliasOf is where the challenges next to addresses say that these lead; its way is empty if there are none.
func aliasOf(ask asker, t trail, targets []string) (other onboarding.Sight, err error) {
	for _, at := range slices.Compact([]string{t.names[0], t.end()}) {
		texts, err := challenges(ask, at)
		if err != nil {
			return onboarding.Sight{}, err
		}
		if slices.ContainsFunc(texts, func(text string) bool { return slices.Contains(targets, text) }) {
			return onboarding.Sight{Way: onboarding.Here}, nil
		}
		texts = slices.DeleteFunc(texts, func(text string) bool { return !strings.HasSuffix(text, edge) })
		if len(texts) > 0 && other.Way == "" {
			other = sight(onboarding.Edge, texts...)
		}
	}
	return other, nil
}

// sight is one with some values that a server has shown, which can be anything.
func sight(way onboarding.Way, values ...string) onboarding.Sight {
	var seen []string
	for _, v := range values {
		seen = append(seen, prose.Fit(v, longestSeen))
	}
	slices.Sort(seen)
	seen = slices.Compact(seen)
	return onboarding.Sight{Way: way, Seen: seen[:min(len(seen), onboarding.MaxSeen)]}
}

// trail is where a name leads: the names along its CNAMEs, its own first, and the answer with the addresses of the
// last.
type trail struct {
	names  []string
	answer query.Answer
	// circle means that the CNAMEs lead back or are too many, and then there is no answer.
	circle bool
}

func (t trail) end() string { return t.names[len(t.names)-1] }

// addresses are those of the end.
func (t trail) addresses(ask asker) ([]string, error) {
	found := t.answer.Values(t.end(), dns.A)
	if len(found) > 0 || t.answer.Rcode == wire.RcodeNameError {
		return found, nil
	}
	answer, err := ask(t.end(), wire.TypeAAAA)
	if err != nil {
		return nil, err
	}
	return answer.Values(t.end(), dns.AAAA), nil
}

// follow goes along the CNAMEs of a name, as far as a target if one is among them. A resolver tells the whole chain at
// once; a server that only knows its own zones is asked again.
func follow(ask asker, name string, targets ...string) (trail, error) {
	t, asked := trail{names: []string{name}}, name
	var err error
	t.answer, err = step(ask, name)
	for err == nil && !slices.Contains(targets, t.end()) {
		switch next := t.answer.Values(t.end(), dns.CNAME); {
		case len(next) > 0 && next[0] != "": // a CNAME to the root leads nowhere
			t.circle = slices.Contains(t.names, next[0]) || len(t.names) > longestChain
			if t.names = append(t.names, next[0]); t.circle {
				t.answer = query.Answer{Msg: new(wire.Msg)}
				return t, nil
			}
		case t.end() == asked || t.answer.Rcode == wire.RcodeNameError || len(t.answer.Values(t.end(), dns.A)) > 0:
			return t, nil
		default:
			asked = t.end()
			t.answer, err = step(ask, asked)
		}
	}
	return t, err
}

// step asks for the addresses of a name. A resolver that fails to follow its CNAME still knows that.
func step(ask asker, name string) (query.Answer, error) {
	answer, err := ask(name, wire.TypeA)
	if refused(err) {
		if alias, aliasErr := ask(name, wire.TypeCNAME); aliasErr == nil && len(alias.Values(name, dns.CNAME)) > 0 {
			return alias, nil
		}
	}
	return answer, err
}

// challenges are the texts next to an alias, each of which names an endpoint.
func challenges(ask asker, name string) (out []string, err error) {
	answer, err := ask(challengeLabel+name, wire.TypeTXT)
	if err != nil {
		return nil, err
	}
	for _, text := range answer.Texts() {
		out = append(out, dns.Lower(text))
	}
	return out, nil
}

package claim_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
)

const moving = "shop.example.com"

// member is an object of a namespace with the moving domain. A later one was made later.
type member struct {
	namespace, name string
	domain          claim.Domain
}

func (m member) key() claim.Key { return claim.Key{Namespace: m.namespace, Name: m.name} }

func indexOf(members []member, claims ...claim.Claim) *claim.Index {
	x := claim.New()
	for n, m := range members {
		x.Observe(claim.Object{Key: m.key(), UID: m.namespace + m.name, Created: start.Add(time.Duration(n) * time.Minute)}, []claim.Domain{m.domain})
	}
	for _, c := range claims {
		x.Claim(c)
	}
	return x
}

func TestWhoGetsADomainThatIsHandedOver(t *testing.T) {
	serves, asks := wants(moving, claim.Serves), wants(moving, claim.Wants)
	idle := claim.Domain{Name: "other.example.com", Stake: claim.Serves, Wanted: true}
	for name, test := range map[string]struct {
		about   string
		members []member
		claim   claim.Claim
		// moves are the objects that take the domain from another, inherits those that take its record, and refused those
		// that may not have it.
		moves, inherits, refused []string
	}{
		"to a namespace": {
			"Without a receiver, any object of the namespace takes it from another namespace.",
			[]member{{"a", "giver", serves}, {"b", "first", asks}}, reserved(moving, "b", handedOver), []string{"b/first"}, []string{"b/first"}, []string{"a/giver"},
		},
		"to the namespace that has it": {
			"Without a receiver, objects of one namespace take nothing from each other.",
			[]member{{"a", "giver", serves}, {"a", "first", asks}}, reserved(moving, "a", handedOver), nil, []string{"a/giver", "a/first"}, nil,
		},
		"to an object of the same namespace": {
			"A receiver takes it from another object of its namespace, which is refused it from then on.",
			[]member{{"a", "giver", serves}, {"a", "first", asks}}, reserved(moving, "a", handedTo("first")), []string{"a/first"}, []string{"a/first"}, []string{"a/giver"},
		},
		"to an object of another namespace": {
			"A receiver takes it from an object of another namespace.",
			[]member{{"a", "giver", serves}, {"b", "first", asks}}, reserved(moving, "b", handedTo("first")), []string{"b/first"}, []string{"b/first"}, []string{"a/giver"},
		},
		"and not to a third one": {
			"Another object of the receiver's namespace that asks for it, and is older, is refused.",
			[]member{{"a", "giver", serves}, {"b", "older", asks}, {"b", "first", asks}}, reserved(moving, "b", handedTo("first")), []string{"b/first"}, []string{"b/first"}, []string{"a/giver", "b/older"},
		},
		"an object of that name elsewhere": {
			"An object of the receiver's name in another namespace is not the receiver.",
			[]member{{"a", "giver", serves}, {"b", "first", asks}}, reserved(moving, "a", handedTo("first")), nil, nil, []string{"b/first"},
		},
		"a receiver that does not exist": {
			"What is served stays as long as the receiver does not exist. All others are refused.",
			[]member{{"a", "giver", serves}, {"a", "third", asks}}, reserved(moving, "a", handedTo("missing")), nil, nil, []string{"a/third"},
		},
		"a receiver that does not ask": {
			"Or as long as it does not have the domain in its spec.",
			[]member{{"a", "giver", serves}, {"a", "first", idle}}, reserved(moving, "a", handedTo("first")), nil, nil, nil,
		},
		"a receiver that may not ask": {
			"Or has not proven it.",
			[]member{{"a", "giver", serves}, {"a", "first", claim.Domain{Name: moving, Stake: claim.Unproven}}}, reserved(moving, "a", handedTo("first")), nil, nil, nil,
		},
		"a receiver that has it": {
			"A receiver that serves it already has nothing to take.",
			[]member{{"a", "giver", asks}, {"a", "first", serves}}, reserved(moving, "a", handedTo("first")), nil, []string{"a/first"}, []string{"a/giver"},
		},
		"from a standard distribution": {
			"An object of the namespace takes it from the distribution, whatever others have. Who serves it keeps it.",
			[]member{{"a", "giver", serves}, {"b", "first", asks}, {"c", "third", asks}}, reserved(moving, "b", from), []string{"b/first"}, []string{"b/first"}, []string{"c/third"},
		},
		"from a standard distribution to one object": {
			"Only the receiver takes it.",
			[]member{{"b", "first", asks}, {"b", "second", asks}}, reserved(moving, "b", handedTo("first"), from), []string{"b/first"}, []string{"b/first"}, []string{"b/second"},
		},
		"a claim above": {
			"A claim above the domain hands nothing over: what is below it is reserved for the namespace, whichever object asks.",
			[]member{{"a", "giver", serves}, {"a", "first", asks}, {"b", "second", asks}}, reserved("example.com", "a", handedTo("first"), subdomains), nil, nil, []string{"b/second"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Log(test.about)
			x := indexOf(test.members, test.claim)
			var moves, inherits, refused []string
			for _, m := range test.members {
				id := m.namespace + "/" + m.name
				if slices.Contains(x.Moves(m.key()), moving) {
					moves = append(moves, id)
				}
				if slices.Contains(x.Inherits(m.key()), moving) {
					inherits = append(inherits, id)
				}
				if x.Judge(m.key()) != nil {
					refused = append(refused, id)
				}
			}
			for _, list := range []struct {
				what      string
				want, got []string
			}{{"moves", test.moves, moves}, {"inherits", test.inherits, inherits}, {"refused", test.refused, refused}} {
				if d := cmp.Diff(list.want, list.got); d != "" {
					t.Errorf("%s (-want +got):\n%s", list.what, d)
				}
			}
		})
	}
}

// from takes the domain from a standard distribution.
func from(c *claim.Claim) { c.HandOver, c.FromDistribution = true, "E2OLD" }

// The distribution that gives a domain is told with the object that has it as an alias, and only where the claim names one.
func TestWhichDistributionGivesADomain(t *testing.T) {
	x := indexOf([]member{{"b", "first", wants(moving, claim.Wants)}}, reserved(moving, "b", from), reserved("other.example.com", "b", handedOver))
	list := []string{moving, "other.example.com"}
	if d := cmp.Diff(map[string]claim.Giver{moving: {Distribution: "E2OLD"}}, x.Givers(list)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	old := claim.Key{Kind: claim.KindDistribution, Namespace: "a", Name: "old"}
	x.Observe(claim.Object{Key: old, UID: "old"}, []claim.Domain{wants(moving, claim.Serves)})
	if d := cmp.Diff(map[string]claim.Giver{moving: {Distribution: "E2OLD", Declared: old}}, x.Givers(list)); d != "" {
		t.Errorf("with an object (-want +got):\n%s", d)
	}
}

// In its own namespace, the receiver is named to those that have to do something. Others learn nothing of it.
func TestARefusalNamesTheReceiverInItsNamespaceOnly(t *testing.T) {
	members := []member{{"mine", "giver", wants(moving, claim.Serves)}, {"theirs", "giver", wants(moving, claim.Wants)}, {"mine", "receiver", wants(moving, claim.Wants)}}
	x := indexOf(members, reserved(moving, "mine", handedTo("receiver")))
	own, other := x.Judge(members[0].key()).Halt(), x.Judge(members[1].key()).Halt()
	if !strings.Contains(own.Message, moving+", which is handed over to the DistributionTenant receiver of this namespace") {
		t.Errorf("in the same namespace, the message is %s", own.Message)
	}
	if strings.Contains(other.Message, "receiver") || strings.Contains(other.Message, "mine") || !strings.Contains(other.Detail, "mine") {
		t.Errorf("in another namespace, the message is %q, and the detail %q", other.Message, other.Detail)
	}
	if own.Reason != claim.ReasonDomainClaimed || !own.Alone {
		t.Errorf("the halt is %+v", own)
	}
}

// A domain that a hand-over assigns to another object needs no claim when the former one releases it, unless the
// hand-over ends too soon.
func TestADomainThatIsHandedOverIsNotHeld(t *testing.T) {
	enough := start.Add(time.Hour)
	giver := member{"a", "giver", claim.Domain{Name: moving, Stake: claim.Serves}}
	soon := func(c *claim.Claim) { c.Until = start.Add(time.Minute) }
	for name, test := range map[string]struct {
		claim claim.Claim
		need  bool
	}{
		"to another object":                       {reserved(moving, "a", handedTo("receiver")), false},
		"to another object, for a minute":         {reserved(moving, "a", handedTo("receiver"), soon), true},
		"to the object that releases it, shortly": {reserved(moving, "a", handedTo("giver"), soon), true},
	} {
		t.Run(name, func(t *testing.T) {
			if need := len(indexOf([]member{giver}, test.claim).Unheld(giver.key(), []string{moving}, enough)) > 0; need != test.need {
				t.Errorf("a claim is needed: %t, want %t", need, test.need)
			}
		})
	}
}

// Whatever the world is like: if a hand-over names its receiver, no other object takes the domain or is let have it, unless
// it serves it and the receiver does not ask. And no refusal tells another namespace of the receiver.
func TestOnlyTheReceiverGetsTheDomain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		namespaces, names := rapid.SampledFrom([]string{"a", "b", "c"}), rapid.SampledFrom([]string{"x", "y", "z"})
		receiver := claim.Key{Namespace: namespaces.Draw(t, "namespace"), Name: names.Draw(t, "receiver")}
		var members []member
		seen, asks := map[claim.Key]bool{}, false
		for range rapid.IntRange(1, 6).Draw(t, "objects") {
			m := member{namespaces.Draw(t, "in"), names.Draw(t, "name"), claim.Domain{
				Name: moving, Wanted: rapid.Bool().Draw(t, "wanted"), Stake: claim.Stake(rapid.IntRange(int(claim.Wants), int(claim.Serves)).Draw(t, "stake")),
			}}
			if !seen[m.key()] {
				members = append(members, m)
				seen[m.key()] = true
				asks = asks || m.key() == receiver && m.domain.Wanted
			}
		}
		x := indexOf(members, reserved(moving, receiver.Namespace, handedTo(receiver.Name)))
		for _, m := range members {
			moves, refusal := x.Moves(m.key()), x.Judge(m.key())
			switch {
			case m.key() == receiver && refusal != nil:
				t.Fatalf("the receiver is refused %s", refusal.Domain)
			case m.key() != receiver && len(moves) > 0:
				t.Fatalf("%v takes the domain", m)
			case m.key() != receiver && m.domain.Wanted && refusal == nil && (asks || m.domain.Stake < claim.Serves):
				t.Fatalf("%v may have the domain", m)
			case refusal != nil && m.namespace != receiver.Namespace && strings.Contains(refusal.Halt().Message, "DistributionTenant"):
				t.Fatalf("%v is told %s", m, refusal.Halt().Message)
			}
		}
	})
}

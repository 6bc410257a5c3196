package claim_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
)

// start is when the first object of a test was made.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// object is the n-th object that was made, and the only one of its namespace. UIDs say nothing of the age.
func object(namespace string, n int) claim.Object {
	return claim.Object{Key: claim.Key{Namespace: namespace, Name: "tenant"}, UID: fmt.Sprintf("uid-%02d", 99-n), Created: start.Add(time.Duration(n) * time.Minute)}
}

// wants is a domain of the spec, of which the object has that much.
func wants(name string, stake claim.Stake) claim.Domain {
	return claim.Domain{Name: name, Stake: stake, Wanted: true}
}

func reserved(domain, namespace string, change ...func(*claim.Claim)) claim.Claim {
	c := claim.Claim{UID: "claim-" + domain, Domain: domain, Namespace: namespace}
	for _, how := range change {
		how(&c)
	}
	return c
}

func subdomains(c *claim.Claim) { c.Subdomains = true }
func held(c *claim.Claim)       { c.ReleasedBy = "former" }
func handedOver(c *claim.Claim) { c.HandOver = true }

// handedTo is a hand-over to one object alone.
func handedTo(name string) func(*claim.Claim) {
	return func(c *claim.Claim) { c.HandOver, c.Receiver = true, name }
}

// party is what one namespace has.
type party struct {
	namespace string
	domains   []claim.Domain
}

func only(namespace string, domain string, stake claim.Stake) party {
	return party{namespace, []claim.Domain{wants(domain, stake)}}
}

var judgements = map[string]struct {
	about   string
	parties []party
	claims  []claim.Claim
	// refused are the namespaces whose objects are refused.
	refused []string
}{
	"alone": {
		about: "An object that is alone has the domain.", parties: []party{only("a", "shop.example.com", claim.Wants)},
	},
	"older": {
		about:   "Of those who only want it, the older has it.",
		parties: []party{only("a", "shop.example.com", claim.Wants), only("b", "shop.example.com", claim.Wants)}, refused: []string{"b"},
	},
	"admitted": {
		about:   "Who was let have it keeps it from one who is older and came later.",
		parties: []party{only("a", "shop.example.com", claim.Wants), only("b", "shop.example.com", claim.Admitted)}, refused: []string{"a"},
	},
	"recorded": {
		about:   "Who has a record of it comes before who has it in AWS without serving it.",
		parties: []party{only("a", "shop.example.com", claim.InAWS), only("b", "shop.example.com", claim.Recorded)}, refused: []string{"a"},
	},
	"serving": {
		about:   "Who serves it comes before all others.",
		parties: []party{only("a", "shop.example.com", claim.Recorded), only("b", "shop.example.com", claim.Serves)}, refused: []string{"a"},
	},
	"spelled otherwise": {
		about: "Case, a dot at the end and punycode don't make another domain.",
		parties: []party{
			{"a", []claim.Domain{wants("bücher.Example.COM", claim.Wants)}}, {"b", []claim.Domain{wants("xn--bcher-kva.example.com.", claim.Wants)}},
		}, refused: []string{"b"},
	},
	"leaving": {
		about: "A domain that is still in AWS is not free, although its object doesn't want it any more.",
		parties: []party{
			only("a", "shop.example.com", claim.Wants), {"b", []claim.Domain{{Name: "shop.example.com", Stake: claim.Serves}}},
		}, refused: []string{"a"},
	},
	"a wildcard over a live name": {
		about:   "A wildcard that covers a name of another namespace is refused.",
		parties: []party{only("a", "*.example.com", claim.Wants), only("b", "shop.example.com", claim.Serves)}, refused: []string{"a"},
	},
	"a name under a live wildcard": {
		about:   "So is a name that a wildcard of another namespace covers.",
		parties: []party{only("a", "shop.example.com", claim.Wants), only("b", "*.example.com", claim.Serves)}, refused: []string{"a"},
	},
	"two labels under a wildcard": {
		about:   "A wildcard covers one label.",
		parties: []party{only("a", "*.example.com", claim.Serves), only("b", "a.shop.example.com", claim.Wants)},
	},
	"two labels over a live name": {
		about:   "So a name that is further below is nothing to it.",
		parties: []party{only("a", "*.example.com", claim.Wants), only("b", "a.shop.example.com", claim.Serves), only("c", "*.shop.example.com", claim.Wants)},
		refused: []string{"c"},
	},
	"both live": {
		about:   "A wildcard and a name that were both live before the judgement stay so.",
		parties: []party{only("a", "*.example.com", claim.Serves), only("b", "shop.example.com", claim.Serves)},
	},
	"a refused wildcard": {
		about: "An older wildcard that was refused keeps no new name from its namespace.",
		parties: []party{
			only("a", "*.example.com", claim.Wants), only("b", "shop.example.com", claim.Serves), only("c", "new.example.com", claim.Wants),
		}, refused: []string{"a"},
	},
	"wildcards left to others": {
		about:   "A claim for a wildcard without subdomains leaves the names below it free.",
		parties: []party{only("a", "*.example.com", claim.Serves), only("b", "shop.example.com", claim.Wants), only("c", "*.example.com", claim.Wants)},
		claims:  []claim.Claim{reserved("*.example.com", "a")}, refused: []string{"c"},
	},
	"the wildcard that was left to others": {
		about:   "The namespace of such a claim has its wildcard, although names below it are live.",
		parties: []party{only("a", "shop.example.com", claim.Serves), only("b", "*.example.com", claim.Wants)},
		claims:  []claim.Claim{reserved("*.example.com", "b")},
	},
	"a wildcard with all below": {
		about:   "With subdomains, it is for all names below.",
		parties: []party{only("a", "shop.example.com", claim.Wants), only("b", "x.shop.example.com", claim.Wants), only("c", "example.com", claim.Wants)},
		claims:  []claim.Claim{reserved("*.example.com", "p", subdomains)}, refused: []string{"a", "b"},
	},
	"reserved": {
		about:   "A claim refuses other namespaces, and lets its own have it, also where that one is younger.",
		parties: []party{only("a", "shop.example.com", claim.Wants), only("b", "shop.example.com", claim.Wants)},
		claims:  []claim.Claim{reserved("shop.example.com", "b")}, refused: []string{"a"},
	},
	"reserved and live": {
		about:   "What is served when a claim for another namespace comes is served on.",
		parties: []party{only("a", "shop.example.com", claim.Serves)}, claims: []claim.Claim{reserved("shop.example.com", "b")},
	},
	"reserved above": {
		about:   "A claim with subdomains is for all names below it, wildcards included.",
		parties: []party{only("a", "shop.example.com", claim.Wants), only("b", "*.example.com", claim.Wants), only("c", "x.y.example.com", claim.Wants)},
		claims:  []claim.Claim{reserved("example.com", "p", subdomains)}, refused: []string{"a", "b", "c"},
	},
	"reserved above without subdomains": {
		about:   "Without subdomains it is not.",
		parties: []party{only("a", "shop.example.com", claim.Wants)}, claims: []claim.Claim{reserved("example.com", "p")},
	},
	"the nearest claim": {
		about:   "Of several claims the nearest decides.",
		parties: []party{only("a", "shop.example.com", claim.Wants), only("b", "x.eu.example.com", claim.Wants), only("c", "y.eu.example.com", claim.Wants)},
		claims: []claim.Claim{
			reserved("example.com", "p", subdomains), reserved("shop.example.com", "a"), reserved("eu.example.com", "b", subdomains),
		}, refused: []string{"c"},
	},
	"a wildcard over a reserved name": {
		about:   "A wildcard that covers a name that is claimed for another namespace is refused.",
		parties: []party{only("a", "*.example.com", claim.Wants)},
		claims:  []claim.Claim{reserved("shop.example.com", "b", held)}, refused: []string{"a"},
	},
	"a held wildcard": {
		about:   "While a wildcard is held, so is what it covered.",
		parties: []party{only("a", "shop.example.com", claim.Wants), only("b", "x.example.com", claim.Wants)},
		claims:  []claim.Claim{reserved("*.example.com", "b", held)}, refused: []string{"a"},
	},
	"one of many": {
		about: "One domain that is refused stops the object.",
		parties: []party{
			only("a", "shop.example.com", claim.Serves), {"b", []claim.Domain{wants("free.example.com", claim.Wants), wants("shop.example.com", claim.Wants)}},
		}, refused: []string{"b"},
	},
}

func TestWhoMayHaveADomain(t *testing.T) {
	for name, test := range judgements {
		t.Run(name, func(t *testing.T) {
			t.Log(test.about)
			x := claim.New()
			for n, p := range test.parties {
				x.Observe(object(p.namespace, n), p.domains)
			}
			for _, c := range test.claims {
				x.Claim(c)
			}
			var refused []string
			for n, p := range test.parties {
				if x.Judge(object(p.namespace, n).Key) != nil {
					refused = append(refused, p.namespace)
				}
			}
			if d := cmp.Diff(test.refused, refused); d != "" {
				t.Errorf("refused (-want +got):\n%s", d)
			}
		})
	}
}

// A refusal names the object's own field and domain, and nothing of the objects that have it.
func TestARefusalNamesNothingOfOthers(t *testing.T) {
	x := claim.New()
	x.Observe(object("their-namespace", 1), []claim.Domain{wants("shop.example.com", claim.Serves)})
	x.Observe(object("mine", 2), []claim.Domain{wants("shop.example.com", claim.Wants)})
	h := x.Judge(object("mine", 2).Key).Halt()
	if !strings.Contains(h.Message, "spec.domains") || !strings.Contains(h.Message, "shop.example.com") {
		t.Errorf("the message is %s", h.Message)
	}
	if strings.Contains(h.Message, "their-namespace") || !strings.Contains(h.Detail, "their-namespace/tenant") {
		t.Errorf("the message is %q, and the detail %q", h.Message, h.Detail)
	}
	if h.Reason != claim.ReasonDomainClaimed || !h.Alone {
		t.Errorf("the halt is %+v", h)
	}
}

// Who was let have a domain has it before an older one that comes later, until it wants it no more.
func TestAnAdmissionLastsUntilTheDomainIsGivenUp(t *testing.T) {
	x := claim.New()
	first, older := object("a", 5), object("b", 1)
	want := []claim.Domain{wants("shop.example.com", claim.Wants)}
	x.Observe(first, want)
	x.Admit(first.Key, x.Judge(first.Key) == nil)
	x.Observe(older, want)
	x.Observe(first, want)
	if x.Judge(older.Key) == nil || x.Judge(first.Key) != nil {
		t.Error("the older one has taken the domain from the one that was first")
	}
	if freed := x.Observe(first, []claim.Domain{wants("other.example.com", claim.Wants)}); !freed {
		t.Error("giving the domain up did not free it")
	}
	if x.Judge(older.Key) != nil {
		t.Error("the domain is free, and was refused")
	}
	again := first
	again.UID, again.Created = "uid-again", start.Add(time.Hour)
	x.Observe(older, nil)
	x.Observe(first, want)
	x.Admit(first.Key, true)
	x.Observe(older, want)
	x.Observe(again, want)
	if x.Judge(again.Key) == nil {
		t.Error("another object of the same name has inherited the admission")
	}
}

func TestWhichReleasesNeedAClaim(t *testing.T) {
	mine, now := object("a", 1), start
	other := claim.Object{Key: claim.Key{Namespace: "a", Name: "other"}, UID: "other"}
	enough := now.Add(36 * time.Hour)
	until := func(d time.Duration) func(*claim.Claim) { return func(c *claim.Claim) { c.Until = now.Add(d) } }
	for name, test := range map[string]struct {
		about  string
		other  []claim.Domain
		claims []claim.Claim
		need   bool
	}{
		"nothing else":             {"A domain that leaves is held.", nil, nil, true},
		"moves":                    {"One that moves to another object of the namespace is not.", []claim.Domain{wants("shop.example.com", claim.Admitted)}, nil, false},
		"not admitted":             {"It is if that object may not have it yet: an older one of another namespace would come before it.", []claim.Domain{wants("shop.example.com", claim.Wants)}, nil, true},
		"leaves the other as well": {"It is if that object gives it up too.", []claim.Domain{{Name: "shop.example.com", Stake: claim.Serves}}, nil, true},
		"held":                     {"A claim that lasts is enough.", nil, []claim.Claim{reserved("shop.example.com", "a", held, until(72*time.Hour))}, false},
		"nearly over":              {"One that is nearly over is not.", nil, []claim.Claim{reserved("shop.example.com", "a", held, until(time.Hour))}, true},
		"reserved for good":        {"Nor is anything needed for what is reserved for good.", nil, []claim.Claim{reserved("example.com", "a", subdomains)}, false},
		"reserved above for others": {
			"A claim above it that is for others doesn't hold it.", nil, []claim.Claim{reserved("example.com", "p", subdomains)}, true,
		},
		"reserved for others": {"What an administrator has given to another namespace is that one's.", nil, []claim.Claim{reserved("shop.example.com", "b")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Log(test.about)
			x := claim.New()
			x.Observe(mine, []claim.Domain{{Name: "shop.example.com", Stake: claim.Serves}})
			x.Observe(other, test.other)
			for _, c := range test.claims {
				x.Claim(c)
			}
			if got := len(x.Unheld(mine.Key, []string{"Shop.example.com"}, enough)) > 0; got != test.need {
				t.Errorf("a claim is needed: %t, want %t", got, test.need)
			}
		})
	}
}

// A held claim is over when its namespace serves the domain and wants it, and only then.
func TestAHeldClaimEndsWhenItsNamespaceServesAgain(t *testing.T) {
	c := reserved("shop.example.com", "a", held)
	for name, test := range map[string]struct {
		namespace string
		domain    claim.Domain
		claim     claim.Claim
		over      bool
	}{
		"served again":                 {"a", wants("shop.example.com", claim.Serves), c, true},
		"on its way":                   {"a", wants("shop.example.com", claim.InAWS), c, false},
		"served, and about to leave":   {"a", claim.Domain{Name: "shop.example.com", Stake: claim.Serves}, c, false},
		"served by another namespace":  {"b", wants("shop.example.com", claim.Serves), c, false},
		"reserved by an administrator": {"a", wants("shop.example.com", claim.Serves), reserved("shop.example.com", "a"), false},
	} {
		t.Run(name, func(t *testing.T) {
			x := claim.New()
			x.Claim(test.claim)
			o := object(test.namespace, 1)
			x.Observe(o, []claim.Domain{test.domain})
			if x.Reclaimed(test.claim) != test.over || x.Reclaims(o.Key) != test.over {
				t.Errorf("over: %t and %t, want %t", x.Reclaimed(test.claim), x.Reclaims(o.Key), test.over)
			}
		})
	}
}

func TestNamesOfClaims(t *testing.T) {
	longest := strings.Repeat("a.", 125) + "com"
	for domain, want := range map[string]string{
		"shop.example.com": "shop.example.com", "*.example.com": "0wildcard.example.com", longest: longest, "*." + longest[2:]: "",
	} {
		if got := claim.Name(domain); got != want {
			t.Errorf("the claim for %s is named %q, want %q", domain, got, want)
		}
	}
}

// world is a random world: some namespaces, with few domains that meet each other often.
type world struct {
	parties []party
	claims  []claim.Claim
}

var spellings = []func(string) string{
	func(s string) string { return s }, strings.ToUpper, func(s string) string { return s + "." },
	func(s string) string { return strings.ReplaceAll(s, "xn--bcher-kva", "Bücher") },
}

func worlds() *rapid.Generator[world] {
	return rapid.Custom(func(t *rapid.T) world {
		names := []string{"example.com", "*.example.com", "a.example.com", "xn--bcher-kva.example.com", "*.a.example.com", "b.a.example.com"}
		domain := rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom(spellings).Draw(t, "spelling")(rapid.SampledFrom(names).Draw(t, "name"))
		})
		var w world
		for range rapid.IntRange(1, 5).Draw(t, "objects") {
			p := party{namespace: string(rune('a' + rapid.IntRange(0, 3).Draw(t, "namespace")))}
			for _, d := range rapid.SliceOfN(domain, 1, 3).Draw(t, "domains") {
				p.domains = append(p.domains, claim.Domain{
					Name: d, Wanted: rapid.Bool().Draw(t, "wanted"), Stake: claim.Stake(rapid.IntRange(0, int(claim.Serves)-1).Draw(t, "stake")),
				})
			}
			w.parties = append(w.parties, p)
		}
		seen := map[string]bool{}
		for _, d := range rapid.SliceOfN(domain, 0, 3).Draw(t, "claims") {
			if name := claim.Canonical(d); !seen[name] {
				seen[name] = true
				c := reserved(d, string(rune('a'+rapid.IntRange(0, 3).Draw(t, "for"))))
				c.Subdomains = rapid.Bool().Draw(t, "subdomains")
				if rapid.Bool().Draw(t, "held") {
					held(&c)
				}
				w.claims = append(w.claims, c)
			}
		}
		return w
	})
}

func (w world) object(n int) claim.Object {
	o := object(w.parties[n].namespace, n)
	o.Name = fmt.Sprintf("tenant-%d", n)
	return o
}

// play tells an index of the world in an order, and some of it twice.
func (w world) play(order []int) *claim.Index {
	x := claim.New()
	for _, n := range order {
		if n < len(w.parties) {
			x.Observe(w.object(n), w.parties[n].domains)
			continue
		}
		x.Claim(w.claims[n-len(w.parties)])
	}
	return x
}

// refused are the numbers of the objects that are refused, with the domain.
func (w world) refused(x *claim.Index) map[int]string {
	out := map[int]string{}
	for n := range w.parties {
		if r := x.Judge(w.object(n).Key); r != nil {
			out[n] = r.Domain
		}
	}
	return out
}

// The order in which an index was told of objects and claims does not matter, nor how domains are spelled.
func TestTheOrderOfEventsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := worlds().Draw(t, "world")
		order := make([]int, len(w.parties)+len(w.claims))
		for n := range order {
			order[n] = n
		}
		want := w.refused(w.play(order))
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		shuffled := slices.Clone(order)
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if d := cmp.Diff(want, w.refused(w.play(append(shuffled, order...)))); d != "" {
			t.Errorf("in another order (-want +got):\n%s", d)
		}
		for n := range w.parties {
			for i := range w.parties[n].domains {
				d := &w.parties[n].domains[i]
				d.Name = claim.Canonical(d.Name)
			}
		}
		if d := cmp.Diff(want, w.refused(w.play(order))); d != "" {
			t.Errorf("spelled canonically (-want +got):\n%s", d)
		}
	})
}

// No domain has two winners in two namespaces, nor have a wildcard and a name that it covers, unless claims say so.
func TestThereAreNeverTwoWinners(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := worlds().Draw(t, "world")
		order := make([]int, len(w.parties)+len(w.claims))
		for n := range order {
			order[n] = n
		}
		x := w.play(order)
		refused := w.refused(x)
		winners := map[string]string{}
		for n, p := range w.parties {
			for _, d := range p.domains {
				name := claim.Canonical(d.Name)
				if _, lost := refused[n]; lost || !d.Wanted {
					continue
				}
				if before := winners[name]; before != "" && before != p.namespace {
					t.Fatalf("%s has the winners %s and %s", name, before, p.namespace)
				}
				winners[name] = p.namespace
			}
		}
		for _, pair := range [][2]string{
			{"*.example.com", "a.example.com"}, {"*.example.com", "xn--bcher-kva.example.com"}, {"*.a.example.com", "b.a.example.com"},
		} {
			a, b := winners[pair[0]], winners[pair[1]]
			if a != "" && b != "" && a != b && len(w.claims) == 0 {
				t.Fatalf("%s belongs to %s, and %s to %s", pair[0], a, pair[1], b)
			}
		}
	})
}

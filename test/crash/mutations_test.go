package crash_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/module"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/overlay"
)

// mutation is a deliberate mistake in the operator. It is compiled in with an overlay: the
// sources stay as they are.
//
// A mistake wraps a function that stands for one decision, best a rule of a chain or something exported, and uses as few
// other names as it can: it has to outlive the next tidy-up of what it spoils.
type mutation struct {
	name         string
	replacements []replacement
	// cases are the names of those that have to catch it: one is enough.
	cases []string
	// oracles are those that may object.
	oracles []string
}

// replacement is written without the names of its fields.
type replacement overlay.Replacement

func (m mutation) apply(s *overlay.Source) error {
	for _, r := range m.replacements {
		if err := s.Apply(m.name, overlay.Replacement(r)); err != nil {
			return err
		}
	}
	return nil
}

// The packages with mistakes.
const (
	cloudfrontAPI          = "internal/adapter/aws/cloudfront"
	cloudflareAPI          = "internal/adapter/dns/cloudflare"
	azureAPI               = "internal/adapter/dns/azure"
	dynamicUpdates         = "internal/adapter/dns/rfc2136"
	externalDNSAPI         = "internal/adapter/dns/externaldns"
	resourceController     = "internal/controller/awsresource"
	distributionController = "internal/controller/distribution"
	tenantController       = "internal/controller/distributiontenant"
	distributionRules      = "internal/domain/distribution"
	tenantRules            = "internal/domain/distributiontenant"
	invalidationController = "internal/controller/invalidation"
	invalidationRules      = "internal/domain/invalidation"
	sharedRules            = "internal/domain/resource"
	breakerRules           = "internal/domain/guard/loss"
	grantRegistry          = "internal/guard/grants"
	claimRegistry          = "internal/guard/claims"
	claimRules             = "internal/domain/guard/claim"
	rolloutRules           = "internal/domain/guard/rollout"
	dnsDomain              = "internal/domain/dns"
	ownershipDomain        = "internal/domain/ownership"
	tenantInventory        = "internal/inventory"
	theOperator            = "internal/operator"
	theDriver              = "internal/reconcile"

	stateWriter = "internal/controller/tenantsource/writer"
	redisStates = "internal/adapter/source/redis"
	stateRules  = "internal/domain/statetable"

	faultDomain = "internal/domain/fault"
	kubeAPI     = "api/cloudfront/v1alpha1"
)

// passes is the body of a rule that never fires.
const passes = `return Decision{}, false`

func mutations() []mutation {
	return slices.Concat(tenantMutations(), dnsMutations(), parentMutations(), budgetMutations(), grantMutations(), providerMutations(), invalidationMutations(), rolloutMutations(), handOverMutations(), stateMutations(), keyMutations())
}

// providerMutations are mistakes about DNS providers other than Route 53.
func providerMutations() []mutation {
	return []mutation{{
		name:         "records that move to another provider are taken back at once",
		replacements: []replacement{{dnsDomain, "Entry.moves", `return false`, nil}},
		cases:        []string{"dns/cf-move/name servers lag 20s"},
		oracles:      []string{oracleUnserved},
	}, {
		name:         "what Cloudflare's API has accepted counts as in effect",
		replacements: []replacement{{cloudflareAPI, "(*DNS).InSync", `return true, nil`, nil}},
		cases:        []string{"dns/cf-delete/name servers lag 20s"},
		oracles:      []string{oracleDangling},
	}, {
		name:         "what Azure's Resource Manager has accepted counts as in effect",
		replacements: []replacement{{azureAPI, "(*DNS).InSync", `return true, nil`, nil}},
		cases:        []string{"dns/az-delete/name servers lag 20s"},
		oracles:      []string{oracleDangling},
	}, {
		name:         "what the primary server has accepted counts as in effect",
		replacements: []replacement{{dynamicUpdates, "(*DNS).InSync", `return true, nil`, nil}},
		cases:        []string{"dns/rfc-delete/name servers lag 20s"},
		oracles:      []string{oracleDangling},
	}, {
		name:         "what ExternalDNS is asked for counts as in effect",
		replacements: []replacement{{externalDNSAPI, "(*DNS).InSync", `return true, nil`, nil}},
		cases:        []string{"dns/ext-delete/name servers lag 20s"},
		oracles:      []string{oracleDangling},
	}, {
		name: "an update deletes a record set whatever its values",
		replacements: []replacement{{dynamicUpdates, "(*update).remove", `if c.Action == dns.Delete {
				rrs, err := records(c.Set)
				if err != nil {
					return err
				}
				u.RemoveRRset(rrs[:1])
			}
			return nil`, nil}},
		cases:   []string{"reference/rfc-publish/undisturbed"},
		oracles: []string{oracleLedger},
	}}
}

// budgetMutations are mistakes about deletions that have to wait.
func budgetMutations() []mutation {
	return []mutation{
		{
			name:         "the breaker is not asked",
			replacements: []replacement{{sharedRules, "(*View).WithinBudget", `return Verdict{}`, nil}},
			cases:        []string{"reference/mistake/undisturbed"},
			oracles:      []string{oracleMass},
		}, {
			name: "the ceiling is not asked",
			replacements: []replacement{{breakerRules, "(*judge).allowed", `j.Ceiling = 100
				return original(class, namespace, size)`, nil}},
			cases:   []string{"reference/mistake/undisturbed"},
			oracles: []string{oracleMass},
		},
	}
}

// grantMutations are mistakes about who may use what.
func grantMutations() []mutation {
	return []mutation{{
		name:         "the grant is not asked",
		replacements: []replacement{{grantRegistry, "(*Registry).Judge", `return Verdict{}, nil`, nil}},
		cases:        []string{"reference/ungranted/undisturbed"},
		oracles:      []string{oracleGrant},
	}, {
		name:         "the proof of a domain is not asked",
		replacements: []replacement{{tenantRules, "Input.missingProofs", `return nil`, nil}},
		cases:        []string{"reference/ungranted/undisturbed"},
		oracles:      []string{oracleGrant},
	}}
}

// parentMutations are mistakes about distributions and connection groups.
func parentMutations() []mutation {
	return []mutation{
		{
			name: "each try has a caller reference of its own",
			replacements: []replacement{{distributionController, "reference",
				`return original(o) + "-" + strconv.FormatInt(time.Now().Unix(), 10)`, []string{"strconv", "time"}}},
			cases:   []string{"lag/dist-create/new tenants hidden 20s/aws:CreateDistributionWithTags#1/kill-committed"},
			oracles: []string{oracleDuplicate},
		}, {
			name:         "a distribution is deleted before its disable has settled",
			replacements: []replacement{{distributionRules, "settledFirst", passes, nil}},
			cases:        []string{"reference/dist-delete/undisturbed"},
			oracles:      []string{oracleTwoPhases},
		}, {
			name: "a distribution is disabled without asking for its tenants",
			replacements: []replacement{{distributionRules, "unused", `if in.World.Resource.Enabled {
					return Decision{}, false
				}
				return original(in)`, nil}},
			cases:   []string{"reference/dist-in-use/undisturbed"},
			oracles: []string{oracleOffline},
		}, {
			name: "a connection group that can't be read is taken for gone",
			replacements: []replacement{{resourceController, "(*pass).locate", `r, err := original(ctx)
				if err != nil {
					err = &fault.Error{Kind: fault.NotFound}
				}
				return r, err`, []string{faultDomain}}},
			cases:   []string{"kill and errors/group-delete/aws:UpdateConnectionGroup#1/kill-committed, then errors"},
			oracles: []string{oracleLeak},
		},
	}
}

// dnsMutations are mistakes about zones and certificates.
func dnsMutations() []mutation {
	unsynced := "dns/managed-delete/not in sync for " + syncTime.String()
	return []mutation{
		{
			name: "names are out of DNS after the tenant, not before",
			replacements: []replacement{{tenantRules, "dnsRemoved", `if _, absent := gone(in); absent {
					return original(in)
				}
				return Decision{}, false`, nil}},
			cases:   []string{unsynced},
			oracles: []string{oracleDangling},
		}, {
			name: "a record leaves the ledger when its deletion was sent, not when it is in sync",
			replacements: []replacement{{dnsDomain, "Advance", `return slices.DeleteFunc(original(ledger, wants, view, policy), func(e Entry) bool {
					return e.State == Retracting && view.Of(e.Record).Phase == Leaving
				})`, []string{"slices"}}},
			cases:   []string{unsynced},
			oracles: []string{oracleDangling},
		}, {
			name: "what is to be published is sent before it is stored",
			// A zone collects for a second what it sends; a status that is stored later is too late.
			replacements: []replacement{{tenantController, "(*pass).Conclude", `c := original(err)
				if c.Stored != nil {
					c.Stored()
					time.Sleep(4 * time.Second)
				}
				return c`, []string{"time"}}},
			cases:   []string{"reference/publish/undisturbed"},
			oracles: []string{oracleLedger},
		}, {
			name:         "a record is deleted by its name, whatever its value",
			replacements: []replacement{{dnsDomain, "RecordSet.Is", `return s.Key == r.Key()`, nil}},
			cases:        []string{"reference/taken-record/undisturbed"},
			oracles:      []string{oracleLeak, oracleLedger},
		}, {
			name:         "a process that was paused writes without asking how old its lease is",
			replacements: []replacement{{theOperator, "(*leadership).standing", `return true, true`, nil}},
			// The process that wakes may hear of the deletion before it sends the batch.
			cases: []string{
				"frozen/managed-early/kube:patch distributiontenants/status#1/freeze-later",
				"frozen/publish/kube:patch distributiontenants/status#3/freeze-later",
				"frozen/rivals/kube:patch distributiontenants/status#2/freeze-later",
			},
			oracles: []string{oracleLeader, oracleLedger, oracleLeak, oracleDangling},
		}, {
			name: "the certificate is requested with every update",
			replacements: []replacement{{tenantRules, "inSync", `d, fires := original(in)
				if u, is := d.Step.(Update); is {
					u.Request = in.Desired.Request
					d.Step = u
				}
				return d, fires`, nil}},
			cases:   []string{"reference/managed/undisturbed"},
			oracles: []string{oracleLiveness, oracleQuiescence, oracleDifferential, oracleHonesty},
		}, {
			name: "a certificate that the spec names is deleted with the tenant",
			replacements: []replacement{{tenantRules, "judge", `named := in.Desired.Customizations.CertificateARN
				if in.Deleting && named != "" && !slices.Contains(in.Memory.Certificates, named) {
					in.Memory.Certificates = append(slices.Clone(in.Memory.Certificates), named)
				}
				if in.Deleting {
					in.Desired.Customizations.CertificateARN = ""
				}
				return original(in)`, []string{"slices"}}},
			cases:   []string{"reference/equal-record/undisturbed"},
			oracles: []string{oracleDelete},
		},
	}
}

// tenantMutations are mistakes about tenants.
func tenantMutations() []mutation {
	return slices.Concat(createMutations(), keepMutations(), removeMutations())
}

func createMutations() []mutation {
	return []mutation{
		{
			name: "the create mark is not stored",
			replacements: []replacement{{tenantController, "act.ensureFinalizer", `delete(annotations, v1alpha1.AnnotationCreatePending)
				return original(ctx, annotations)`, []string{kubeAPI}}},
			cases:   []string{"lag/create-delete/new tenants hidden 20s/aws:CreateDistributionTenant#1/kill-committed"},
			oracles: []string{oracleLeak},
		}, {
			name: "the finalizer is not stored before the create",
			replacements: []replacement{{tenantController, "act.ensureFinalizer", `if annotations[v1alpha1.AnnotationCreatePending] != "" {
					return nil
				}
				return original(ctx, annotations)`, []string{kubeAPI}}},
			cases:   []string{"kill/create-delete/aws:CreateDistributionTenant#1/kill-committed"},
			oracles: []string{oracleLeak},
		}, {
			name: "a tenant is not looked up by its name",
			replacements: []replacement{{tenantRules, "lookedUp", `if in.Memory.ID == "" {
					return Decision{}, false
				}
				return original(in)`, nil}},
			cases:   []string{"kill/create/aws:CreateDistributionTenant#1/kill-committed", "aws/create/aws:CreateDistributionTenant#1/error-committed"},
			oracles: []string{oracleCalls},
		}, {
			name:         "whatever has the name is taken for ours",
			replacements: []replacement{{ownershipDomain, "Relate", `return Ours`, nil}},
			cases:        []string{"reference/adopt/undisturbed"},
			oracles:      []string{oracleForeign, oracleLiveness},
		}, {
			name: "after a lost answer the tenant is created under another name",
			replacements: []replacement{{tenantInventory, "(*Inventory).Create", `t, err := original(ctx, s)
				if fault.Is(err, fault.Transient) {
					s.Tenant.Name += "-2"
					t, err = original(ctx, s)
				}
				return t, err`, []string{faultDomain}}},
			cases:   []string{"aws/create/aws:CreateDistributionTenant#1/error-before"},
			oracles: []string{oracleDuplicate, oracleLiveness, oracleDifferential, oracleHonesty},
		},
	}
}

func keepMutations() []mutation {
	return []mutation{
		{
			name: "If-Match is ignored: a refused update is forced",
			replacements: []replacement{{cloudfrontAPI, "(*Client).update", `t, err := original(ctx, in)
				if err != nil {
					if now, unread := c.GetTenant(ctx, *in.Id); unread == nil {
						in.IfMatch = &now.ETag
						return original(ctx, in)
					}
				}
				return t, err`, nil}},
			cases:   []string{"frozen/edit-domains/aws:UpdateDistributionTenant#1/freeze-before", "frozen/disable/aws:UpdateDistributionTenant#1/freeze-before"},
			oracles: []string{oracleDifferential, oracleHonesty},
		}, {
			name: "status is written on each pass",
			replacements: []replacement{{theDriver, "(*Driver).conclude", `result, err := original(ctx, o, pass, more, failure)
				_ = d.Client.Status().Patch(ctx, o, client.MergeFrom(o))
				return result, err`, []string{"sigs.k8s.io/controller-runtime/pkg/client"}}},
			cases:   []string{"reference/create/undisturbed"},
			oracles: []string{oracleQuiescence},
		}, {
			name: "Ready does not wait for the deployment",
			replacements: []replacement{
				{tenantRules, "settled", passes, nil},
				{tenantRules, "Conclude", `known := in.World.Tenant
				if known != nil {
					deployed := *known
					deployed.Status, in.World.Tenant = Deployed, &deployed
				}
				r := original(in, out)
				if r.Tenant != nil {
					r.Tenant.Status = known.Status
				}
				return r`, nil},
			},
			cases:   []string{"reference/create/undisturbed"},
			oracles: []string{oracleHonesty},
		},
	}
}

func removeMutations() []mutation {
	return []mutation{
		{
			name:         "the grace after a create mark is not waited for",
			replacements: []replacement{{sharedRules, "(*View).AwaitCreate", `return Verdict{}`, nil}},
			cases:        []string{"lag/create-delete/new tenants hidden 20s/aws:CreateDistributionTenant#1/kill-committed"},
			oracles:      []string{oracleLeak},
		}, {
			name: "a tenant that can't be read is taken for gone",
			replacements: []replacement{{tenantInventory, "(*Inventory).Read", `t, err := original(ctx, name)
				if err != nil {
					err = &fault.Error{Kind: fault.NotFound}
				}
				return t, err`, []string{faultDomain}}},
			cases:   []string{"kill and errors/delete/aws:UpdateDistributionTenant#1/kill-committed, then errors"},
			oracles: []string{oracleLeak},
		}, {
			name: "what the list does not show is taken for gone",
			replacements: []replacement{{tenantRules, "located", `d, fires := original(in)
				if fires && in.World.Swept {
					return Decision{Step: LetGo{}}, true
				}
				return d, fires`, nil}},
			cases:   []string{"lag/create-delete/list 30s/aws:CreateDistributionTenant#1/kill-committed"},
			oracles: []string{oracleLeak},
		}, {
			name:         "an enabled tenant is deleted without being disabled",
			replacements: []replacement{{tenantRules, "disabled", passes, nil}},
			cases:        []string{"reference/delete/undisturbed"},
			oracles:      []string{oracleLiveness},
		}, {
			name: "the object is let go although the deletion failed",
			replacements: []replacement{{tenantController, "act.delete", `err := original(ctx, s)
				if fault.Is(err, fault.Transient) {
					p.in.World.Knowledge, p.in.World.Tenant = resource.Absent, nil
					return nil
				}
				return err`, []string{faultDomain, "internal/domain/resource"}}},
			cases:   []string{"aws/delete/aws:DeleteDistributionTenant#2/error-before"},
			oracles: []string{oracleLeak},
		}, {
			name:         "a tenant that is to stay is deleted",
			replacements: []replacement{{sharedRules, "(*View).Retained", `return Verdict{}`, nil}},
			cases:        []string{"reference/retain/undisturbed"},
			oracles:      []string{oracleDelete},
		},
	}
}

// TestMutationsApply fails when the code has moved on from under a mutation, or a case that has to catch it is no more.
// One build with all of them in it shows that each compiles.
func TestMutationsApply(t *testing.T) {
	references, err := readReferences()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, k := range allCases(references, *seed) {
		names[k.name()] = true
	}
	all, packages := overlay.Of(theRig.root), map[string]bool{}
	for _, m := range mutations() {
		if err := m.apply(all); err != nil {
			t.Error(err)
		}
		for _, r := range m.replacements {
			packages["./"+r.Dir] = true
		}
		for _, name := range m.cases {
			if !names[name] {
				t.Errorf("the mutation %q is to be caught by %q, which does not exist", m.name, name)
			}
		}
	}
	path, err := all.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-overlay", path}, slices.Sorted(maps.Keys(packages))...)
	if err := module.Build(t.Context(), theRig.root, nil, args...); err != nil {
		t.Errorf("the mutations do not compile: %v", err)
	}
}

// TestMutations builds each mistake into the operator and wants an oracle to object: a
// campaign that can't fail proves nothing.
func TestMutations(t *testing.T) {
	if *count == 0 {
		t.Skip("it takes minutes: it belongs to the whole campaign")
	}
	references, err := readReferences()
	if err != nil {
		t.Fatal(err)
	}
	cases := allCases(references, *seed)
	began := time.Now()
	list := slices.DeleteFunc(mutations(), func(m mutation) bool { return !isNamed(m.name) })
	slots := slot{free: make(chan struct{}, *parallel)}
	var (
		mu     sync.Mutex
		group  sync.WaitGroup
		caught int
	)
	fmt.Fprintf(os.Stdout, "\n%-62s %s\n", "mutation", "caught by")
	for _, m := range list {
		slots.take()
		group.Go(func() {
			defer slots.release()
			by, err := m.play(t, cases, references)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				t.Error(err)
			case by == "":
				t.Errorf("no oracle noticed that %s", m.name)
			default:
				caught++
			}
			fmt.Fprintf(os.Stdout, "%-62s %s\n", m.name, cmp.Or(by, "NO ORACLE"))
		})
	}
	group.Wait()
	fmt.Fprintf(os.Stdout, "%d of %d mutations caught in %s\n", caught, len(list), time.Since(began).Round(time.Second))
}

// play runs the mistaken operator through the cases that have to catch it.
func (m mutation) play(t *testing.T, cases []*kase, references map[string]*reference) (by string, err error) {
	t.Helper()
	dir := t.TempDir()
	path, err := m.overlay(dir)
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "operator")
	if err := theRig.build(t.Context(), binary, path); err != nil {
		return "", err
	}
	var chosen []*kase
	for _, k := range cases {
		if slices.Contains(m.cases, k.name()) {
			chosen = append(chosen, m.hurried(k))
		}
	}
	for _, r := range playWith(t.Context(), chosen, references, binary, func(*result) {}) {
		for _, v := range r.Violations {
			if slices.Contains(m.oracles, v.Oracle) {
				return v.Oracle + " in " + r.Name, nil
			}
		}
		t.Log(story(r))
	}
	return "", nil
}

// hurried waits less long for what will never come.
func (m mutation) hurried(k *kase) *kase {
	if !slices.Contains(m.oracles, oracleLiveness) {
		return k
	}
	copied := *k
	copied.setUp = func(o *options) {
		if k.setUp != nil {
			k.setUp(o)
		}
		o.patience = 75 * time.Second
	}
	return &copied
}

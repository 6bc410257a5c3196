package aws_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

const (
	otherAccount = "444455556666"
	roleARN      = "arn:aws:iam::" + otherAccount + ":role/dns/tenant-dns"
	// taggedRoleARN also trusts sessions with tags.
	taggedRoleARN = "arn:aws:iam::" + otherAccount + ":role/dns/tenant-tagged"
	// podRoleARN is the role of a pod.
	podRoleARN = "arn:aws:iam::" + sim.DefaultAccount + ":role/pod"
)

// roleWorld is a simulated STS with the roles that the operator assumes there.
type roleWorld struct {
	*sim.Sim
	roles    *aws.Roles
	registry *prometheus.Registry
	// own are the operator's own credentials.
	own awssdk.CredentialsProvider
}

// newRoleWorld works in a bubble of fake time. The role trusts the namespace shop.
func newRoleWorld(t *testing.T) *roleWorld {
	t.Helper()
	seed := sim.DefaultSeed()
	seed.Accounts = append(seed.Accounts, sim.SeedAccount{ID: otherAccount})
	seed.Roles = []sim.SeedRole{
		{ARN: roleARN, ExternalID: "cluster-1/shop"},
		{ARN: taggedRoleARN, ExternalID: "cluster-1/shop", TagSession: true},
		{ARN: podRoleARN, TagSession: true},
	}
	w := &roleWorld{
		Sim: sim.New(sim.Options{RandomSeed: 1, Seed: &seed}), registry: prometheus.NewRegistry(),
		own: credentials.NewStaticCredentialsProvider("AKIATEST", "secret", ""),
	}
	metrics, err := aws.NewMetrics(w.registry)
	if err != nil {
		t.Fatal(err)
	}
	allowed, err := identity.ParseRolePatterns([]string{"arn:aws:iam::" + otherAccount + ":role/dns/tenant-*"})
	if err != nil {
		t.Fatal(err)
	}
	w.roles = aws.NewRoles(aws.RolesConfig{
		SDK: awssdk.Config{
			Region: "eu-west-1", BaseEndpoint: awssdk.String("http://sts.invalid"),
			Credentials: awssdk.CredentialsProviderFunc(func(ctx context.Context) (awssdk.Credentials, error) { return w.own.Retrieve(ctx) }),
			HTTPClient:  &http.Client{Transport: w.Transport()},
		},
		ClusterID: "cluster-1", Allowed: allowed, Metrics: metrics, Clock: clock.RealClock{},
		Limiter: aws.NewLimiter(aws.LimiterConfig{API: "sts", Rate: 10, Burst: 50, Clock: clock.RealClock{}, Metrics: metrics}),
	})
	return w
}

func (w *roleWorld) assumed() int { return w.Calls()["AssumeRole"].Total }

func (w *roleWorld) get(ctx context.Context, role, namespace string) (awssdk.Credentials, error) {
	return w.roles.Credentials(role, identity.OfNamespace(namespace)).Retrieve(ctx)
}

func (w *roleWorld) deny(t *testing.T, code string, status int) {
	t.Helper()
	_, err := w.AddFault(sim.Fault{Operation: "AssumeRole", Times: -1, Kind: sim.Instead, Error: &sim.FaultError{Status: status, Code: code, Message: "text"}})
	if err != nil {
		t.Fatal(err)
	}
}

func TestARoleIsAssumedOnceForANamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRoleWorld(t)
		var workers sync.WaitGroup
		for range 20 {
			workers.Go(func() {
				c, err := w.get(t.Context(), roleARN, "shop")
				if err != nil || c.SessionToken == "" || c.AccountID != otherAccount {
					t.Errorf("credentials of account %q, error %v", c.AccountID, err)
				}
			})
		}
		workers.Wait()
		if w.assumed() != 1 {
			t.Errorf("assumed %d times", w.assumed())
		}
		entry := w.Journal()[0]
		if entry.Name != "cloudfront-tenant-operator@shop" {
			t.Errorf("the session is named %q", entry.Name)
		}
		// They are renewed some minutes before they end, and not long before that.
		<-time.After(50 * time.Minute)
		first, err := w.get(t.Context(), roleARN, "shop")
		if err != nil || w.assumed() != 1 {
			t.Errorf("after 50 minutes: assumed %d times, error %v", w.assumed(), err)
		}
		<-time.After(6 * time.Minute)
		second, err := w.get(t.Context(), roleARN, "shop")
		if err != nil || w.assumed() != 2 || first.AccessKeyID == second.AccessKeyID {
			t.Errorf("after 56 minutes: assumed %d times, error %v", w.assumed(), err)
		}
	})
}

// Thousands of objects of a namespace need its credentials at once. They take one turn at STS, so that others are not kept
// waiting for calls that are never made.
func TestTheObjectsOfANamespaceShareATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRoleWorld(t)
		ask := func(object int, namespace string) error {
			ctx := port.WithCall(t.Context(), port.Call{Key: fmt.Sprint(namespace, object), Namespace: namespace, Class: port.Class(object % 2)})
			_, err := w.get(ctx, roleARN, namespace)
			return err
		}
		for n := range 60 {
			_ = ask(0, fmt.Sprint("elsewhere-", n))
		}
		for object := range 1000 {
			if err := ask(object, "shop"); !fault.Is(err, fault.Throttled) {
				t.Fatalf("object %d: %v, want it to wait", object, err)
			}
		}
		err := ask(0, "last")
		failure, ok := errors.AsType[*fault.Error](err)
		if !ok || failure.RetryAfter > 5*time.Second {
			t.Fatalf("the next namespace: %v, %+v", err, failure)
		}
		time.Sleep(3 * time.Second)
		for object := range 1000 {
			if err := ask(object, "shop"); err != nil {
				t.Fatalf("object %d: %v", object, err)
			}
		}
	})
}

func TestANamespaceIsNotAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRoleWorld(t)
		if _, err := w.get(t.Context(), roleARN, "shop"); err != nil {
			t.Fatal(err)
		}
		_, err := w.get(t.Context(), roleARN, "rival")
		if !fault.Is(err, fault.Denied) {
			t.Fatalf("error %v: one namespace got the credentials of another", err)
		}
		for _, says := range []string{roleARN, "namespace rival", "trust policy", "external ID cluster-1/rival"} {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("error %q does not say %q", err, says)
			}
		}
	})
}

func TestARefusalIsNotAskedForAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRoleWorld(t)
		start := time.Now()
		var asked []time.Duration
		var text string
		for time.Since(start) < 40*time.Minute {
			before := w.assumed()
			_, err := w.get(t.Context(), roleARN, "rival")
			if !fault.Is(err, fault.Denied) || fault.RetryAfter(err) <= 0 {
				t.Fatalf("error %v, retry after %v", err, fault.RetryAfter(err))
			}
			failure, _ := errors.AsType[*fault.Error](err)
			if text == "" {
				text = failure.Error()
			}
			if failure.Error() != text {
				t.Fatalf("the text moves: %s", failure)
			}
			if w.assumed() > before {
				asked = append(asked, time.Since(start).Round(time.Minute))
			}
			<-time.After(10 * time.Second)
		}
		want := []time.Duration{0, 1, 3, 7, 15, 25, 35}
		if len(asked) != len(want) {
			t.Fatalf("asked at %v", asked)
		}
		for i := range want {
			if asked[i] != want[i]*time.Minute {
				t.Errorf("asked at %v, want minutes %v", asked, want)
			}
		}
		// Another namespace is not held up, and the next try shows that the policy is fixed.
		if _, err := w.get(t.Context(), roleARN, "shop"); err != nil {
			t.Errorf("another namespace: %v", err)
		}
		if err := w.Load(sim.Seed{Roles: []sim.SeedRole{{ARN: roleARN, ExternalID: "cluster-1/rival"}}}); err != nil {
			t.Fatal(err)
		}
		<-time.After(10 * time.Minute)
		if _, err := w.get(t.Context(), roleARN, "rival"); err != nil {
			t.Errorf("after it was fixed: %v", err)
		}
	})
}

// Without credentials of the operator's own, no policy of the role is at fault.
func TestOwnCredentialsThatFailAreNotTheRoles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRoleWorld(t)
		refused := &fault.Error{Kind: fault.Denied, Operation: "getting credentials from STS", Code: "AccessDenied", Message: "no"}
		w.own = awssdk.CredentialsProviderFunc(func(context.Context) (awssdk.Credentials, error) { return awssdk.Credentials{}, refused })
		if _, err := w.get(t.Context(), roleARN, "shop"); !errors.Is(err, refused) || err.Error() != refused.Error() {
			t.Errorf("it fails with %q, want %q", err, refused)
		}
		if w.assumed() > 0 {
			t.Error("STS was asked for the role")
		}
	})
}

func TestARoleThatIsNotAllowedIsNotAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRoleWorld(t)
		_, err := w.get(t.Context(), "arn:aws:iam::"+otherAccount+":role/dns/admin", "shop")
		if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "--allowed-roles") || w.assumed() != 0 {
			t.Errorf("error %v, asked %d times", err, w.assumed())
		}
	})
}

// Anyone who may write objects can name roles: those that are not allowed take no memory.
func TestOnlyAllowedRolesAreRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRoleWorld(t)
		for role, remembered := range map[string]bool{roleARN: true, "arn:aws:iam::" + otherAccount + ":role/dns/admin": false} {
			if same := w.roles.Credentials(role, identity.OfNamespace("shop")) == w.roles.Credentials(role, identity.OfNamespace("shop")); same != remembered {
				t.Errorf("the credentials of %s are remembered: %t, want %t", role, same, remembered)
			}
		}
	})
}

func TestWhatStsSays(t *testing.T) {
	for name, tt := range map[string]struct {
		code   string
		status int
		want   fault.Kind
		asked  int
	}{
		"a refusal is remembered":             {"AccessDenied", 403, fault.Denied, 1},
		"credentials of our own that ran out": {"ExpiredToken", 403, fault.Denied, 1},
		"a request that has no sense":         {"ValidationError", 400, fault.Invalid, 1},
		"a throttle says nothing of the role": {"Throttling", 400, fault.Throttled, 2},
		"nor does a server that breaks":       {"InternalFailure", 500, fault.Transient, 2},
		"nor does an unknown code":            {"BrandNew", 400, fault.Transient, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newRoleWorld(t)
				w.deny(t, tt.code, tt.status)
				for range 2 {
					if _, err := w.get(t.Context(), roleARN, "shop"); !fault.Is(err, tt.want) {
						t.Errorf("error %v is %v, want %v", err, fault.KindOf(err), tt.want)
					}
					<-time.After(2 * time.Second)
				}
				if w.assumed() != tt.asked {
					t.Errorf("asked %d times, want %d", w.assumed(), tt.asked)
				}
			})
		})
	}
}

// EKS Pod Identity puts tags into a session, and AWS passes them to every role that is assumed with it.
func TestSessionTagsHaveToBeTrusted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRoleWorld(t)
		_, err := w.get(t.Context(), roleARN, "shop")
		if err != nil {
			t.Errorf("without tags: %v", err)
		}
		w.own = w.podIdentity(t)
		if _, err := w.get(t.Context(), taggedRoleARN, "shop"); err != nil {
			t.Errorf("a role that trusts tags: %v", err)
		}
		<-time.After(time.Hour)
		w.own = w.podIdentity(t)
		_, err = w.get(t.Context(), roleARN, "shop")
		if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "must also allow sts:TagSession") || !strings.Contains(err.Error(), "disableSessionTags") {
			t.Errorf("a role that does not trust tags: %v", err)
		}
	})
}

// podIdentity are credentials as the agent of EKS gives them to a pod.
func (w *roleWorld) podIdentity(t *testing.T) awssdk.CredentialsProvider {
	t.Helper()
	agent := sts.New(sts.Options{
		Region: "eu-west-1", BaseEndpoint: awssdk.String("http://sts.invalid"), HTTPClient: &http.Client{Transport: w.Transport()},
		Credentials: credentials.NewStaticCredentialsProvider("AKIAAGENT", "secret", ""),
	})
	out, err := agent.AssumeRole(t.Context(), &sts.AssumeRoleInput{
		RoleArn: awssdk.String(podRoleARN), RoleSessionName: awssdk.String("pod"), TransitiveTagKeys: []string{"eks-cluster-name"},
		Tags: []ststypes.Tag{{Key: awssdk.String("eks-cluster-name"), Value: awssdk.String("cluster-1")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return credentials.NewStaticCredentialsProvider(*out.Credentials.AccessKeyId, *out.Credentials.SecretAccessKey, *out.Credentials.SessionToken)
}

// Credentials are renewed early, so STS may be away for a while.
func TestCredentialsOutliveAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRoleWorld(t)
		first, err := w.get(t.Context(), roleARN, "shop")
		if err != nil {
			t.Fatal(err)
		}
		w.deny(t, "ServiceUnavailable", 503)
		for _, minute := range []time.Duration{56, 57, 58} {
			<-time.After(time.Until(first.Expires.Add(minute*time.Minute - 60*time.Minute)))
			c, err := w.get(t.Context(), roleARN, "shop")
			if err != nil || c.AccessKeyID != first.AccessKeyID {
				t.Errorf("minute %d: %v", minute, err)
			}
		}
		<-time.After(3 * time.Minute)
		if _, err := w.get(t.Context(), roleARN, "shop"); !fault.Is(err, fault.Transient) {
			t.Errorf("after their end: %v", err)
		}
		w.ClearFaults()
		if _, err := w.get(t.Context(), roleARN, "shop"); err != nil {
			t.Errorf("after the outage: %v", err)
		}
	})
}

// Credentials that the administrator of the role has revoked are not used to their end.
func TestARefusalEndsCredentialsAtTheirRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRoleWorld(t)
		if _, err := w.get(t.Context(), roleARN, "shop"); err != nil {
			t.Fatal(err)
		}
		w.deny(t, "AccessDenied", 403)
		<-time.After(56 * time.Minute)
		if _, err := w.get(t.Context(), roleARN, "shop"); !fault.Is(err, fault.Denied) {
			t.Errorf("error %v, want Denied", err)
		}
	})
}

func TestEachAccountHasItsLimiter(t *testing.T) {
	registry := prometheus.NewRegistry()
	metrics, err := aws.NewMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	limiters := aws.NewLimiters(aws.LimiterConfig{API: "route53", Rate: 4, Burst: 20, Clock: clock.RealClock{}, Metrics: metrics})
	own, other := limiters.For(""), limiters.For(otherAccount)
	if own == other {
		t.Error("two accounts share a limiter")
	}
	if own != limiters.For("") || other != limiters.For(otherAccount) {
		t.Error("an account has two limiters")
	}
	if _, err := registry.Gather(); err != nil {
		t.Errorf("the rates can't be told apart: %v", err)
	}
}

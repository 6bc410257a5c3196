package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// mover is a world with an operator, in which a domain is moved by the command, from giver to the receiver.
type mover struct {
	*world.World

	t                *testing.T
	domain, receiver string
	sampling         bool
	gaps             []string
}

func newMover(t *testing.T, within bool) *mover {
	t.Helper()
	m := &mover{t: t, receiver: "receiver"}
	seed := world.Seed()
	const certificate = "arn:aws:acm:us-east-1:111122223333:certificate/broad"
	seed.Certificates = append(seed.Certificates, sim.SeedCertificate{ARN: certificate, Names: []string{"*.example.com"}})
	seed.Distributions[0].CertificateARN = certificate
	seed.HostedZones = []sim.SeedHostedZone{{ID: "ZCOVERED", Name: "example.com"}}
	config := plane.RESTConfig()
	config.QPS, config.Burst = -1, 0
	m.World = world.New(t, config, world.Options{Shared: true, Seed: &seed, Claims: &world.Holds{Own: time.Hour, Customer: time.Hour}, Watch: m.sample})
	m.domain = m.Namespace + ".example.com"
	namespace := m.Namespace
	if !within {
		namespace = m.AddNamespace()
		m.receiver = namespace + "/receiver"
	}
	object := func(name string, change func(*v1alpha1.DistributionTenant), list ...string) {
		o := m.Tenant(name, func(o *v1alpha1.DistributionTenant) {
			o.Spec.DNS = &v1alpha1.DNS{Provider: v1alpha1.DNSProviderRoute53}
			o.Spec.Domains = nil
			for _, d := range list {
				o.Spec.Domains = append(o.Spec.Domains, v1alpha1.TenantDomain{Domain: d})
			}
		}, change)
		m.Apply(o)
	}
	object("giver", func(*v1alpha1.DistributionTenant) {}, "giver.example.com", m.domain)
	object("receiver", func(o *v1alpha1.DistributionTenant) { o.Namespace = namespace }, "receiver.example.com")
	m.Advance(15 * time.Minute)
	m.sampling = true
	t.Cleanup(func() {
		m.forget()
		if len(m.gaps) > 0 {
			t.Errorf("%s was not served, or not in DNS:\n%s", m.domain, strings.Join(m.gaps, "\n"))
		}
	})
	return m
}

// forget removes the objects, which no operator looks at any more.
func (m *mover) forget() {
	ctx := context.WithoutCancel(m.t.Context())
	for _, name := range []string{"giver", m.receiver} {
		namespace, own, found := strings.Cut(name, "/")
		if !found {
			namespace, own = m.Namespace, name
		}
		o := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: own}}
		if err := m.Kube.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))); client.IgnoreNotFound(err) != nil {
			m.t.Error(err)
		}
		if err := m.Kube.Delete(ctx, o); client.IgnoreNotFound(err) != nil {
			m.t.Error(err)
		}
	}
	c := &v1alpha1.DomainClaim{ObjectMeta: metav1.ObjectMeta{Name: m.domain}}
	if err := client.IgnoreNotFound(m.Kube.Delete(ctx, c)); err != nil {
		m.t.Error(err)
	}
}

// sample looks whether the domain is served and leads to CloudFront, at every change of AWS.
func (m *mover) sample(v sim.View) {
	if m.sampling && (v.Domains()[m.domain] == "" || v.PublicRouting()[m.domain] == "") {
		m.gaps = append(m.gaps, fmt.Sprintf("%s: served by %q, leads to %q, around %s", v.Now.Format(time.TimeOnly), v.Domains()[m.domain], v.PublicRouting()[m.domain], v.Operation))
	}
}

// stopper ends a context when a text was printed.
type stopper struct {
	io.Writer

	mu     sync.Mutex
	text   string
	cancel func()
}

func (s *stopper) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.text != "" && bytes.Contains(p, []byte(s.text)) {
		s.cancel()
	}
	return s.Writer.Write(p)
}

// run runs the command while the operator works. It ends as if interrupted when it prints a text; empty: it does not.
func (m *mover) run(until string, args ...string) (out string, failure error) {
	m.t.Helper()
	ctx, cancel := context.WithCancel(m.t.Context())
	defer cancel()
	var text bytes.Buffer
	c := cli.New(cli.Options{
		Streams:    genericiooptions.IOStreams{In: strings.NewReader(""), Out: &stopper{Writer: &text, text: until, cancel: cancel}, ErrOut: io.Discard},
		Kubeconfig: plane.Kubeconfig(), Clock: clock.RealClock{}, Version: "1.2.3",
	})
	c.SetArgs(append([]string{"move-domain", m.domain, "-n", m.Namespace}, args...))
	done := make(chan error)
	go func() { done <- c.ExecuteContext(ctx) }()
	for range 2000 {
		select {
		case err := <-done:
			return text.String(), err
		default:
			m.Advance(10 * time.Second)
		}
	}
	cancel()
	m.t.Fatalf("the command did not end: %v\n%s", <-done, text.String())
	return "", nil
}

// moved checks that the receiver alone has the domain, with its record, and that no claim is left.
func (m *mover) moved() {
	m.t.Helper()
	m.Advance(10 * time.Minute)
	for name, want := range map[string]bool{"giver": false, m.receiver: true} {
		o, _ := m.Get(name)
		var spec, aws, record bool
		for _, d := range o.Spec.Domains {
			spec = spec || d.Domain == m.domain
		}
		for _, s := range m.AllInAWS() {
			if s.ARN == o.Status.ARN {
				_, aws = s.Domains[m.domain]
			}
		}
		for _, r := range o.Status.DNS.Records {
			record = record || strings.TrimSuffix(r.Name, ".") == m.domain
		}
		if spec != want || aws != want || record != want {
			m.t.Errorf("%s has the domain in its spec: %t, in AWS: %t, its record: %t, want %t", name, spec, aws, record, want)
		}
		for _, c := range o.Status.Conditions {
			if (c.Type == "Ready" || c.Type == "Synced") && c.Status != metav1.ConditionTrue {
				m.t.Errorf("%s: %s is %s: %s", name, c.Type, c.Reason, c.Message)
			}
		}
	}
	if claims := m.DomainClaims(); len(claims) > 0 {
		m.t.Errorf("%d claims are left, the first is %s", len(claims), claims[0].Name)
	}
}

// A domain is moved by one command, within a namespace and between two, and is served all the time.
func TestMoveDomainServesAllTheTime(t *testing.T) {
	for name, within := range map[string]bool{"within a namespace": true, "between namespaces": false} {
		t.Run(name, func(t *testing.T) {
			m := newMover(t, within)
			out, err := m.run("", "--to", m.receiver, "--yes")
			if err != nil {
				t.Fatal(err, out)
			}
			t.Log(out)
			shows(t, out, "1/6 create the DomainClaim "+m.domain, "2/6 add", "3/6 wait", "4/6 remove", "5/6 wait", "6/6 delete the DomainClaim", m.domain+" is moved to ")
			m.moved()
			out, err = m.run("", "--to", m.receiver, "--yes")
			if err != nil {
				t.Error(err)
			}
			shows(t, out, "nothing is left to do")
		})
	}
}

// A claim that an administrator has made is used, and it is there afterwards.
func TestMoveDomainKeepsTheClaimOfAnAdministrator(t *testing.T) {
	m := newMover(t, true)
	reserved := &v1alpha1.DomainClaim{Spec: v1alpha1.DomainClaimSpec{
		Domain: m.domain, Namespace: m.Namespace, HandOver: true, TenantRef: &v1alpha1.DomainClaimTenantReference{Name: "receiver"},
	}}
	reserved.Name = m.domain
	create(t, reserved)
	out, err := m.run("", "--to", m.receiver, "--yes")
	if err != nil {
		t.Fatal(err, out)
	}
	shows(t, out, "6/6 keep the DomainClaim "+m.domain, m.domain+" is moved to ")
	if claims := m.DomainClaims(); len(claims) != 1 || claims[0].UID != reserved.UID {
		t.Errorf("the claims are %+v", claims)
	}
}

// The object that had the domain may be deleted before the command is run again.
func TestMoveDomainEndsWithoutTheFormerObject(t *testing.T) {
	m := newMover(t, true)
	if out, err := m.run("5/6", "--to", m.receiver, "--yes"); err == nil {
		t.Fatalf("the command was not interrupted:\n%s", out)
	}
	m.Delete("giver")
	m.Advance(20 * time.Minute)
	out, err := m.run("", "--to", m.receiver, "--yes")
	if err != nil {
		t.Fatal(err, out)
	}
	noClaim(t, m.domain)
}

// Wherever the command is interrupted, the domain is served, and a second run brings the move to its end.
func TestMoveDomainContinuesAfterAnInterruption(t *testing.T) {
	for step := 1; step <= 6; step++ {
		t.Run(fmt.Sprintf("at step %d", step), func(t *testing.T) {
			m := newMover(t, step%2 == 0)
			out, err := m.run(fmt.Sprintf("%d/6", step), "--from", "giver", "--to", m.receiver, "--yes")
			if err == nil || !strings.Contains(err.Error(), "Run the command again to continue") {
				t.Fatalf("the command has ended with %v:\n%s", err, out)
			}
			m.Advance(20 * time.Minute)
			// Arguments that the claim of the move names need not be given again.
			args := []string{"--to", m.receiver, "--yes"}
			if out, err := m.run("", args...); err != nil {
				t.Fatal(err, out)
			}
			m.moved()
		})
	}
}

//go:build linux

package node_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
)

// interval is that of writes in a roll-out: five a second.
const interval = 200 * time.Millisecond

// person writes tenants of a distribution that does not exist, of which the webhook warns each time.
type person struct {
	kube     client.Client
	warnings atomic.Int64
	writes   int
	slowest  time.Duration
}

// HandleWarningHeader counts the warnings.
func (p *person) HandleWarningHeader(_ int, _, text string) {
	if strings.Contains(text, "there is no such Distribution") {
		p.warnings.Add(1)
	}
}

func (w *world) person() *person {
	w.t.Helper()
	p := &person{}
	config := rest.CopyConfig(w.host.RESTConfig())
	config.WarningHandler = p
	var err error
	p.kube, err = client.New(config, client.Options{Scheme: w.kube.Scheme()})
	w.must(err)
	return p
}

// write creates an object that is not stored: the webhook does not know that.
func (p *person) write(ctx context.Context, namespace string) error {
	begun := time.Now()
	p.writes++
	err := p.kube.Create(ctx, &v1alpha1.DistributionTenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("write-%d", p.writes)},
		Spec: v1alpha1.DistributionTenantSpec{
			DistributionRef: &v1alpha1.ObjectReference{Name: "missing"},
			Domains:         []v1alpha1.TenantDomain{{Domain: fmt.Sprintf("write-%d.example.com", p.writes)}},
		},
	}, client.DryRunAll)
	p.slowest = max(p.slowest, time.Since(begun))
	return err
}

// rollout replaces the Pods twice while somebody writes, and wants the webhook to answer each time.
func (w *world) rollout() {
	w.helm(firstTag, "webhook.enabled=true")
	w.namespace("rollout")
	first := w.person()
	w.eventually(func(g gomega.Gomega) {
		g.Expect(first.write(w.t.Context(), "rollout")).To(gomega.Succeed())
		g.Expect(first.warnings.Load()).To(gomega.BeNumerically(">", 0))
	})
	open := w.failOpen()
	p := w.person()
	stop := w.keepWriting(p)
	w.helm(secondTag, "webhook.enabled=true")
	w.kubectl("rollout", "restart", "--namespace", install.Namespace, "deployment/"+install.Release)
	w.twoReady()
	stop()
	if p.writes < 50 {
		w.t.Errorf("there were only %d writes", p.writes)
	}
	silent, unasked := p.writes-int(p.warnings.Load()), w.failOpen()-open
	missed := max(silent, unasked)
	if missed > 0 {
		w.t.Logf("%d were answered without the warning; the API server did not get an answer for %d of them:\n%s", silent, unasked, w.apiServerSays("failing open"))
	}
	w.atMost(w.t, fmt.Sprintf("upgrade and restart: writes that missed the webhook, of %d", p.writes), missed, 0)
	w.add("slowest of these writes", p.slowest.Round(10*time.Millisecond).String(), "")
}

// failOpen is how many requests the API server let pass because the webhook did not answer.
func (w *world) failOpen() int {
	w.t.Helper()
	metrics, err := w.host.APIServerMetrics(w.t.Context())
	w.must(err)
	return int(metrics.Sum("apiserver_admission_webhook_fail_open_count"))
}

// apiServerSays are the lines of its log that contain the text.
func (w *world) apiServerSays(text string) string {
	w.t.Helper()
	log, err := os.ReadFile(filepath.Join(w.node.ControlPlane.LogDir(), "kube-apiserver.log"))
	w.must(err)
	return strings.Join(slices.DeleteFunc(strings.Split(string(log), "\n"), func(line string) bool { return !strings.Contains(line, text) }), "\n")
}

// keepWriting writes until stop is called.
func (w *world) keepWriting(p *person) (stop func()) {
	return every(interval, func() {
		if err := p.write(w.t.Context(), "rollout"); err != nil {
			w.t.Errorf("write %d: %v", p.writes, err)
		}
	})
}

// every does something again and again, until stop is called.
func every(interval time.Duration, do func()) (stop func()) {
	ended, tick := make(chan struct{}), time.NewTicker(interval)
	var running sync.WaitGroup
	running.Go(func() {
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				do()
			}
		}
	})
	return func() {
		close(ended)
		running.Wait()
	}
}

package distributiontenant_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// BenchmarkWaitingCustomers plays a fleet whose customers have not set their records for a day, and one whose customers set
// them within the first hour. The figures are of the simulated time, and do not depend on the machine.
func BenchmarkWaitingCustomers(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprintf("tenants=%d", n), func(b *testing.B) {
			for b.Loop() {
				aDayWithoutRecords(b, n)
				anHourWithRecords(b, n)
			}
		})
	}
}

// fleetOf is a world in which that many customers are to set their records.
func fleetOf(b *testing.B, n int) onboards {
	b.Helper()
	c := &customers{ways: map[string]onboarding.Sight{}, looks: map[string]int{}}
	seed := world.Seed()
	o := onboards{world.NewOffline(b, world.Options{Guide: c, Seed: &seed}), c}
	o.Apply(o.Tenant("first"))
	o.Advance(time.Hour)
	for i := range n {
		o.Apply(o.Tenant(fmt.Sprintf("t%04d", i), managed(v1alpha1.ValidationTokenHostCloudFront), domains(domainOf(i))))
	}
	return o
}

func domainOf(i int) string { return fmt.Sprintf("shop.customer%04d.test", i) }

func aDayWithoutRecords(b *testing.B, n int) {
	b.Helper()
	o := fleetOf(b, n)
	o.Advance(3 * time.Hour) // until the looks have become rare
	calls, writes, looks := o.ownCalls(), o.KubeWrites(), o.allLooks()
	const hours = 24
	for range hours {
		o.Advance(time.Hour)
	}
	b.ReportMetric(float64(o.ownCalls()-calls)/float64(n), "AWS-calls/tenant-day")
	b.ReportMetric(float64(o.KubeWrites()-writes)/float64(n), "k8s-writes/tenant-day")
	b.ReportMetric(float64(o.allLooks()-looks)/(hours*3600)*10_000/float64(n), "DNS-looks/s-per-10k")
}

// ownCalls are the calls but the list of all tenants, which is the same for any number of them up to 100.
func (o onboards) ownCalls() (n int) {
	for operation, calls := range o.Calls() {
		if operation != "ListDistributionTenants" {
			n += calls
		}
	}
	return n
}

func (o onboards) allLooks() (n int) {
	o.dns.mu.Lock()
	defer o.dns.mu.Unlock()
	for _, looks := range o.dns.looks {
		n += looks
	}
	return n
}

func anHourWithRecords(b *testing.B, n int) {
	b.Helper()
	o, random := fleetOf(b, n), rand.New(rand.NewPCG(1, 2))
	type setting struct {
		tenant int
		after  time.Duration
	}
	var all []setting
	for i := range n {
		all = append(all, setting{i, time.Minute + time.Duration(random.Int64N(int64(58*time.Minute)))})
	}
	slices.SortFunc(all, func(a, b setting) int { return int(a.after - b.after) })
	set, begin := make([]time.Time, n), o.Clock.Now()
	for _, s := range all {
		o.Advance(s.after - o.Clock.Since(begin))
		set[s.tenant] = o.Clock.Now()
		o.leads(domainOf(s.tenant), onboarding.Here)
	}
	o.Advance(10 * time.Minute)
	var took []float64
	for i := range n {
		t, _ := o.Get(fmt.Sprintf("t%04d", i))
		if t.Status.CreatedTime == nil {
			b.Fatalf("%s was not created: %+v", domainOf(i), t.Status.Conditions)
		}
		took = append(took, t.Status.CreatedTime.Sub(set[i].Truncate(time.Second)).Seconds())
	}
	slices.Sort(took)
	b.ReportMetric(took[n/2], "p50-s-to-create")
	b.ReportMetric(took[n*99/100], "p99-s-to-create")
}

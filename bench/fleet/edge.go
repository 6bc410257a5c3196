package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// zoneName is the one zone that all tenants with DNS are in. No certificate covers it.
const zoneName = "customers.example.net"

// The delays of a change of DNS and of a certificate, far below those of AWS: they don't affect what is counted, and
// keep the benchmark short.
const (
	dnsDelay  = 5 * time.Second
	certDelay = 20 * time.Second
)

// dnsFigures are what Route 53 saw.
type dnsFigures struct {
	// Batches are the changes that it accepted, Domains how many each had on average.
	Batches int     `json:"batches"`
	Domains float64 `json:"domainsPerBatch"`
	// Refused are the calls above its limits, Spare what was left in the fullest bucket at
	// the worst moment, as a share.
	Refused int     `json:"refused"`
	Spare   float64 `json:"spare"`
	// Records and Certificates are what is left after all tenants are deleted.
	Records      int `json:"recordsLeft"`
	Certificates int `json:"certificatesLeft"`
}

// prepareEdge makes what tenants with DNS and managed certificates need.
func (b *bench) prepareEdge(ctx context.Context) (err error) {
	if !b.DNS {
		return nil
	}
	if err := b.Stack.AWS.CreateZone(ctx, zoneName); err != nil {
		return err
	}
	if b.subject.connectionGroupID, err = b.Stack.AWS.CreateConnectionGroup(ctx, "fleet"); err != nil {
		return err
	}
	if err := b.Stack.AWS.LimitRoute53(ctx); err != nil {
		return err
	}
	return b.Stack.AWS.Switch(ctx, map[string]any{
		"route53SyncDelay": dnsDelay.String(), "certificateIssueDelay": certDelay.String(),
	})
}

// countEdge takes the figures of DNS when all tenants are Ready.
func (b *bench) countEdge(ctx context.Context) error {
	if !b.DNS {
		return nil
	}
	calls, err := b.Stack.AWS.Calls(ctx)
	if err != nil {
		return err
	}
	uses, err := b.Stack.AWS.LimitUses(ctx)
	if err != nil {
		return err
	}
	f := &dnsFigures{Batches: calls["ChangeResourceRecordSets"].Committed, Spare: 1}
	f.Domains = float64(b.Tenants) / max(1, float64(f.Batches))
	for _, u := range uses {
		f.Refused += u.Refused
		f.Spare = min(f.Spare, u.Lowest/float64(u.Burst))
	}
	b.report.DNS = f
	return nil
}

// countLeft counts what the tenants have left behind.
func (b *bench) countLeft(ctx context.Context) error {
	state, err := b.Stack.AWS.State(ctx)
	if err != nil || b.report.DNS == nil {
		return err
	}
	for _, z := range state.HostedZones {
		for _, record := range z.Records {
			if strings.HasSuffix(record.Name, "."+zoneName) {
				b.report.DNS.Records++
			}
		}
	}
	for _, c := range state.Certificates {
		if c.ManagedBy != "" {
			b.report.DNS.Certificates++
		}
	}
	return nil
}

func (f *dnsFigures) String() string {
	return fmt.Sprintf("%d batches, %.0f domains each; %d calls throttled, at most %.0f %% of a bucket left",
		f.Batches, f.Domains, f.Refused, 100*f.Spare)
}

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// cost shows how many calls the operator made, and for which tenant.
func (s *story) cost(ctx context.Context) error {
	calls, err := s.w.aws.Calls(ctx)
	if err != nil {
		return err
	}
	journal, err := s.w.aws.Journal(ctx, 0)
	if err != nil {
		return err
	}
	for _, own := range s.console.calls {
		count := calls[own.Operation]
		count.Total--
		if own.Code != "OK" {
			count.Errors[own.Code]--
		}
		calls[own.Operation] = count
		i := slices.IndexFunc(journal, func(e sim.Entry) bool {
			return e.Operation == own.Operation && e.Name == own.Name && e.Code == own.Code
		})
		if i >= 0 {
			journal = slices.Delete(journal, i, i+1)
		}
	}
	s.say.command("curl -s $AWS_ENDPOINT_URL/_sim/calls    # as a table, without the calls of this demo")
	s.say.output(callTable(calls))
	s.say.command("curl -s $AWS_ENDPOINT_URL/_sim/journal    # the same calls by tenant")
	s.say.output(tenantTable(journal))
	s.say.paragraph("Listing takes one call per 100 tenants, every %s here and every 5m by default. An idle tenant needs no call of its own.", sweepInterval)
	return nil
}

func callTable(calls stack.Calls) string {
	var rows strings.Builder
	total := 0
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		count, refused := calls[name], 0
		for _, n := range count.Errors {
			refused += n
		}
		if count.Total > 0 {
			fmt.Fprintf(&rows, "%s\t%d\t%d\t%d\n", name, count.Total, refused, count.Throttled)
			total += count.Total
		}
	}
	return table(fmt.Sprintf("OPERATION\tCALLS\tREFUSED\tTHROTTLED\n%stogether\t%d", &rows, total))
}

// tenantTable sorts the calls by the tenant that they were about.
func tenantTable(journal []sim.Entry) string {
	const nobody = "(no tenant)"
	tenants := map[string]map[string]int{}
	for _, call := range journal {
		name := call.Name
		if name == "" || !strings.Contains(call.Operation, "DistributionTenant") && !strings.Contains(call.Operation, "ManagedCertificate") {
			name = nobody
		}
		if tenants[name] == nil {
			tenants[name] = map[string]int{}
		}
		tenants[name][call.Operation]++
	}
	var rows strings.Builder
	for _, name := range slices.Sorted(maps.Keys(tenants)) {
		total, operations := 0, []string{}
		for _, operation := range slices.Sorted(maps.Keys(tenants[name])) {
			n := tenants[name][operation]
			total += n
			operations = append(operations, fmt.Sprintf("%d %s", n, operation))
		}
		if name == nobody {
			operations = []string{"shared by many tenants: lists, zones, certificates, distributions and connection groups"}
		}
		fmt.Fprintf(&rows, "%s\t%d\t%s\n", name, total, strings.Join(operations, ", "))
	}
	return table("TENANT\tCALLS\tOF THESE\n" + rows.String())
}

// table aligns columns that are separated by tabs.
func table(text string) string {
	var aligned strings.Builder
	w := tabwriter.NewWriter(&aligned, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, strings.TrimSpace(text))
	_ = w.Flush() // into memory
	return aligned.String()
}

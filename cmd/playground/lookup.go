package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

const (
	// lookupCommand asks the public DNS of a playground that is up: Go is all that one
	// needs here, and dig may be missing.
	lookupCommand = "lookup"
	// dnsVariable leads a lookup to it.
	dnsVariable = "PLAYGROUND_DNS"
	// lookupTimeout is far more than a server on a loopback port needs.
	lookupTimeout = 5 * time.Second
)

// runLookup asks the servers of the environment, without those that are empty, and returns the exit status.
func runLookup(args, servers []string, stdout, stderr io.Writer) int {
	if len(args) < 1 || len(args) > 2 {
		fmt.Fprintf(stderr, "playground: %s takes a name and an optional record type, such as: %s www.example.net CNAME\n", lookupCommand, lookupCommand)
		return 2
	}
	servers = slices.DeleteFunc(servers, func(server string) bool { return server == "" })
	if len(servers) == 0 {
		fmt.Fprintf(stderr, "playground: $%s is empty: start the playground with make playground, and paste the export lines that it prints into this shell\n", dnsVariable)
		return 2
	}
	answer, err := lookup(context.Background(), servers, args...)
	if err != nil {
		fmt.Fprintln(stderr, "playground:", err)
		return 1
	}
	fmt.Fprintln(stdout, answer)
	return 0
}

// lookup asks DNS servers for a name and a type, A if there is none, and returns the records of the answer, or why there
// are none. Each server is asked that those before it refused, because the name is in none of their zones.
func lookup(ctx context.Context, servers []string, question ...string) (string, error) {
	name, kind := question[0], "A"
	if len(question) > 1 {
		kind = strings.ToUpper(question[1])
	}
	number, known := dns.StringToType[kind]
	if !known {
		return "", fmt.Errorf("looking up %s: unknown record type %s; use A, AAAA, CNAME, TXT or MX", name, kind)
	}
	query := new(dns.Msg)
	query.SetQuestion(dns.Fqdn(name), number)
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	var answer *dns.Msg
	for _, server := range servers {
		var err error
		if answer, _, err = new(dns.Client).ExchangeContext(ctx, query, server); err != nil {
			return "", fmt.Errorf("asking %s for %s: %w", server, name, err)
		}
		if answer.Rcode != dns.RcodeRefused {
			break
		}
	}
	switch {
	case answer.Rcode != dns.RcodeSuccess && len(answer.Answer) == 0:
		return name + ": " + dns.RcodeToString[answer.Rcode], nil
	case len(answer.Answer) == 0:
		return fmt.Sprintf("%s: no %s record", name, kind), nil
	}
	rows := make([]string, len(answer.Answer))
	for i, record := range answer.Answer {
		rows[i] = record.String()
	}
	return strings.TrimRight(table(strings.Join(rows, "\n")), "\n"), nil
}

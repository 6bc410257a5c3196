package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/miekg/dns"
	"golang.org/x/net/publicsuffix"
)

const (
	// setCommand sets a record at the DNS provider of a customer, which is an AWS account that the operator can't reach.
	setCommand = "set"
	// endpointVariable has its address.
	endpointVariable = "AWS_ENDPOINT_URL"
	// setTimeout is far more than the simulated AWS needs.
	setTimeout = 10 * time.Second
	// customerAccount is that account, customerKey its access key, and customerZone a zone that it has from the beginning.
	customerAccount = "777788889999"
	customerKey     = "customer"
	customerZone    = "customer.example"
	// customerTTL is short, so that one does not have to wait.
	customerTTL = 5
)

// platformZones are those of the platform. No customer has them.
var platformZones = []string{"example.com", "example.net", "example.org", cloudflareZone, azureZone}

const setUsage = `Usage: playground set NAME TYPE [VALUE]

Sets a record at the DNS provider of a customer, or without a value deletes it. Public DNS follows within seconds.
A new value replaces the previous one. A CNAME replaces all other records of its name, and they replace a CNAME.

  set shop.customer.example CNAME d111111abcdef8.cloudfront.net
  set customer.example ALIAS d111111abcdef8.cloudfront.net               the addresses of that name, as A and AAAA records
  set _cf-challenge.customer.example TXT d111111abcdef8.cloudfront.net   which endpoint the ALIAS means
  set www.customer.example A 192.0.2.1
  set www.customer.example AAAA 2001:db8::1
  set shop.customer.example CNAME                                        deletes the record
`

// aliasType is a record that follows another name. Route 53 has its own kind, and other providers publish the addresses.
const aliasType = "ALIAS"

// runSet returns the exit status. The resolver is where the target of an ALIAS is looked up.
func runSet(args []string, endpoint, resolver string, stdout, stderr io.Writer) int {
	if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
		fmt.Fprint(stdout, setUsage)
		return 0
	}
	if len(args) < 2 || len(args) > 3 {
		fmt.Fprintf(stderr, "playground: %s takes a name, a record type and a value\n\n%s", setCommand, setUsage)
		return 2
	}
	if endpoint == "" || resolver == "" {
		fmt.Fprintf(stderr, "playground: $%s or $%s is empty: start the playground with make playground, and paste the export lines that it prints into this shell\n", endpointVariable, resolverVariable)
		return 2
	}
	ctx, cancel := context.WithTimeout(context.Background(), setTimeout)
	defer cancel()
	value := ""
	if len(args) == 3 {
		value = args[2]
	}
	done, err := newProvider(endpoint, resolver).set(ctx, strings.ToLower(strings.TrimSuffix(args[0], ".")), strings.ToUpper(args[1]), value)
	if err != nil {
		fmt.Fprintln(stderr, "playground:", err)
		return 1
	}
	fmt.Fprintln(stdout, done)
	return 0
}

// customersDNS is the DNS provider of the customers.
type customersDNS struct {
	sdk      *route53.Client
	resolver string
}

func newProvider(endpoint, resolver string) customersDNS {
	return customersDNS{route53.New(route53.Options{ //nolint:forbidigo // a customer's own client, not the operator's
		Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider(customerKey, customerKey, ""),
	}), resolver}
}

// set sets a record or, without a value, deletes it, and says what it did.
func (c customersDNS) set(ctx context.Context, name, kind, value string) (string, error) {
	if !slices.Contains([]string{"A", "AAAA", "CNAME", "TXT", aliasType}, kind) {
		return "", fmt.Errorf("setting %s: unknown record type %s; use A, AAAA, CNAME, TXT or %s", name, kind, aliasType)
	}
	zone, domain, err := c.zone(ctx, name)
	if err != nil {
		return "", err
	}
	if kind == "CNAME" && name == domain {
		return "", fmt.Errorf("setting %s: DNS allows no CNAME at the top of a zone; use %s", name, aliasType)
	}
	wanted, err := c.wanted(ctx, name, kind, value)
	if err != nil {
		return "", err
	}
	there, err := c.there(ctx, zone, name)
	if err != nil {
		return "", err
	}
	changes := changesTo(there, wanted, kind)
	if len(changes) == 0 {
		return "", fmt.Errorf("there is no %s record %s", kind, name)
	}
	_, err = c.sdk.ChangeResourceRecordSets(ctx, &route53.ChangeResourceRecordSetsInput{HostedZoneId: &zone, ChangeBatch: &types.ChangeBatch{Changes: changes}})
	if err != nil {
		return "", fmt.Errorf("setting %s: %w", name, err)
	}
	if value == "" {
		return fmt.Sprintf("%s %s is deleted. Public DNS forgets it in a second.", name, kind), nil
	}
	return fmt.Sprintf("%s %s %s is set. Public DNS has it in a second.", name, kind, value), nil
}

// wanted are the records to set; there are none without a value.
func (c customersDNS) wanted(ctx context.Context, name, kind, value string) (out []types.ResourceRecordSet, err error) {
	add := func(kind string, values ...string) {
		set := types.ResourceRecordSet{Name: &name, Type: types.RRType(kind), TTL: aws.Int64(customerTTL)}
		for _, v := range values {
			set.ResourceRecords = append(set.ResourceRecords, types.ResourceRecord{Value: &v})
		}
		out = append(out, set)
	}
	switch {
	case value == "":
	case kind == aliasType:
		for _, kind := range addressTypes {
			found, err := addressesAt(ctx, c.resolver, value, kind)
			if err != nil {
				return nil, err
			}
			if len(found) > 0 {
				add(kind, found...)
			}
		}
		if len(out) == 0 {
			return nil, fmt.Errorf("setting %s: %s has no addresses, so no %s record can follow it", name, value, aliasType)
		}
	case kind == "TXT" && !strings.HasPrefix(value, `"`):
		add(kind, strconv.Quote(value))
	default:
		add(kind, value)
	}
	return out, nil
}

// addressTypes are those of the records that an ALIAS consists of.
var addressTypes = []string{"A", "AAAA"}

// addressesAt asks a resolver for the addresses of a name.
func addressesAt(ctx context.Context, resolver, name, kind string) (found []string, err error) {
	answer, _, err := new(dns.Client).ExchangeContext(ctx, new(dns.Msg).SetQuestion(dns.Fqdn(name), dns.StringToType[kind]), resolver)
	if err != nil {
		return nil, fmt.Errorf("looking up %s: %w", name, err)
	}
	for _, record := range answer.Answer {
		switch record := record.(type) {
		case *dns.A:
			found = append(found, record.A.String())
		case *dns.AAAA:
			found = append(found, record.AAAA.String())
		}
	}
	return found, nil
}

// there are the records of a name, without those that each zone has.
func (c customersDNS) there(ctx context.Context, zone, name string) (out []types.ResourceRecordSet, err error) {
	found, err := c.sdk.ListResourceRecordSets(ctx, &route53.ListResourceRecordSetsInput{HostedZoneId: &zone, StartRecordName: &name})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	for _, set := range found.ResourceRecordSets {
		if aws.ToString(set.Name) == name+"." && set.Type != types.RRTypeNs && set.Type != types.RRTypeSoa {
			out = append(out, set)
		}
	}
	return out, nil
}

// changesTo are those that set what is wanted: records that can't be there at the same time are deleted. A record of the
// kind that is not wanted is deleted, too.
func changesTo(there, wanted []types.ResourceRecordSet, kind string) (out []types.Change) {
	for _, set := range there {
		same := string(set.Type) == kind || kind == aliasType && slices.Contains(addressTypes, string(set.Type))
		excluded := len(wanted) > 0 && (kind == "CNAME" || set.Type == types.RRTypeCname)
		stays := slices.ContainsFunc(wanted, func(w types.ResourceRecordSet) bool { return w.Type == set.Type })
		if !stays && (same || excluded) {
			out = append(out, types.Change{Action: types.ChangeActionDelete, ResourceRecordSet: &set})
		}
	}
	for _, set := range wanted {
		out = append(out, types.Change{Action: types.ChangeActionUpsert, ResourceRecordSet: &set})
	}
	return out
}

// zone is the ID and the name of the zone of the customer whose domain it is, who registers the domain if no one has it.
func (c customersDNS) zone(ctx context.Context, name string) (id, domain string, err error) {
	domain, err = publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		return "", "", fmt.Errorf("setting %s: it is not below a domain that a customer can have: %w", name, err)
	}
	if slices.Contains(platformZones, domain) {
		return "", "", fmt.Errorf("setting %s: %s belongs to the platform; use a domain of a customer, such as shop.%s", name, domain, customerZone)
	}
	found, err := c.sdk.ListHostedZonesByName(ctx, &route53.ListHostedZonesByNameInput{DNSName: &domain, MaxItems: aws.Int32(1)})
	if err != nil {
		return "", "", fmt.Errorf("looking for the zone %s: %w", domain, err)
	}
	for _, z := range found.HostedZones {
		if aws.ToString(z.Name) == domain+"." {
			return aws.ToString(z.Id), domain, nil
		}
	}
	made, err := c.sdk.CreateHostedZone(ctx, &route53.CreateHostedZoneInput{Name: &domain, CallerReference: &domain})
	if err != nil {
		return "", "", fmt.Errorf("creating the zone %s: %w", domain, err)
	}
	if made.HostedZone == nil {
		return "", "", errors.New("AWS has created a zone without an ID")
	}
	return aws.ToString(made.HostedZone.Id), domain, nil
}

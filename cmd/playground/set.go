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
	"golang.org/x/net/publicsuffix"
)

const (
	// setCommand sets a record at the DNS provider of a customer, which is an AWS account that the operator can't reach.
	setCommand = "set"
	// endpointVariable leads it there.
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

// runSet returns the exit status.
func runSet(args []string, endpoint string, stdout, stderr io.Writer) int {
	if len(args) < 2 || len(args) > 3 {
		fmt.Fprintf(stderr, "playground: %s takes a name, a record type and a value, such as: %s shop.%s CNAME d111111abcdef8.cloudfront.net; without a value, it deletes the record\n", setCommand, setCommand, customerZone)
		return 2
	}
	if endpoint == "" {
		fmt.Fprintf(stderr, "playground: $%s is empty: start the playground with make playground, and paste the export lines that it prints into this shell\n", endpointVariable)
		return 2
	}
	ctx, cancel := context.WithTimeout(context.Background(), setTimeout)
	defer cancel()
	value := ""
	if len(args) == 3 {
		value = args[2]
	}
	done, err := newProvider(endpoint).set(ctx, strings.ToLower(strings.TrimSuffix(args[0], ".")), strings.ToUpper(args[1]), value)
	if err != nil {
		fmt.Fprintln(stderr, "playground:", err)
		return 1
	}
	fmt.Fprintln(stdout, done)
	return 0
}

// customersDNS is the DNS provider of the customers.
type customersDNS struct{ sdk *route53.Client }

func newProvider(endpoint string) customersDNS {
	return customersDNS{route53.New(route53.Options{ //nolint:forbidigo // a customer's own client, not the operator's
		Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider(customerKey, customerKey, ""),
	})}
}

// set sets a record or, without a value, deletes it, and says what it did.
func (c customersDNS) set(ctx context.Context, name, kind, value string) (string, error) {
	if !slices.Contains([]string{"A", "AAAA", "CNAME", "TXT"}, kind) {
		return "", fmt.Errorf("setting %s: unknown record type %s; use A, AAAA, CNAME or TXT", name, kind)
	}
	zone, err := c.zone(ctx, name)
	if err != nil {
		return "", err
	}
	change := types.Change{Action: types.ChangeActionUpsert, ResourceRecordSet: &types.ResourceRecordSet{
		Name: &name, Type: types.RRType(kind), TTL: aws.Int64(customerTTL), ResourceRecords: []types.ResourceRecord{{Value: &value}},
	}}
	done := fmt.Sprintf("%s %s %s is set. Public DNS has it in a second.", name, kind, value)
	switch {
	case value == "":
		if change, err = c.deletion(ctx, zone, name, kind); err != nil {
			return "", err
		}
		done = fmt.Sprintf("%s %s is deleted. Public DNS forgets it in a second.", name, kind)
	case kind == "TXT" && !strings.HasPrefix(value, `"`):
		change.ResourceRecordSet.ResourceRecords[0].Value = aws.String(strconv.Quote(value))
	}
	_, err = c.sdk.ChangeResourceRecordSets(ctx, &route53.ChangeResourceRecordSetsInput{HostedZoneId: &zone, ChangeBatch: &types.ChangeBatch{Changes: []types.Change{change}}})
	if err != nil {
		return "", fmt.Errorf("setting %s: %w", name, err)
	}
	return done, nil
}

// deletion is the change that deletes a record.
func (c customersDNS) deletion(ctx context.Context, zone, name, kind string) (types.Change, error) {
	found, err := c.sdk.ListResourceRecordSets(ctx, &route53.ListResourceRecordSetsInput{
		HostedZoneId: &zone, StartRecordName: &name, StartRecordType: types.RRType(kind), MaxItems: aws.Int32(1),
	})
	if err != nil {
		return types.Change{}, fmt.Errorf("reading %s: %w", name, err)
	}
	for _, set := range found.ResourceRecordSets {
		if aws.ToString(set.Name) == name+"." && string(set.Type) == kind {
			return types.Change{Action: types.ChangeActionDelete, ResourceRecordSet: &set}, nil
		}
	}
	return types.Change{}, fmt.Errorf("there is no %s record %s", kind, name)
}

// zone is the ID of the zone of the customer whose domain it is, who registers the domain if no one has it.
func (c customersDNS) zone(ctx context.Context, name string) (string, error) {
	domain, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		return "", fmt.Errorf("setting %s: it is not below a domain that a customer can have: %w", name, err)
	}
	if slices.Contains(platformZones, domain) {
		return "", fmt.Errorf("setting %s: %s belongs to the platform; use a domain of a customer, such as shop.%s", name, domain, customerZone)
	}
	found, err := c.sdk.ListHostedZonesByName(ctx, &route53.ListHostedZonesByNameInput{DNSName: &domain, MaxItems: aws.Int32(1)})
	if err != nil {
		return "", fmt.Errorf("looking for the zone %s: %w", domain, err)
	}
	for _, z := range found.HostedZones {
		if aws.ToString(z.Name) == domain+"." {
			return aws.ToString(z.Id), nil
		}
	}
	made, err := c.sdk.CreateHostedZone(ctx, &route53.CreateHostedZoneInput{Name: &domain, CallerReference: &domain})
	if err != nil {
		return "", fmt.Errorf("creating the zone %s: %w", domain, err)
	}
	if made.HostedZone == nil {
		return "", errors.New("AWS has created a zone without an ID")
	}
	return aws.ToString(made.HostedZone.Id), nil
}

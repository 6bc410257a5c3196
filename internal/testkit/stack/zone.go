package stack

import (
	"context"
	"fmt"
	"net/http"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/route53"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// State returns all that the operator's account holds.
func (a *AWS) State(ctx context.Context) (sim.AccountState, error) {
	return a.StateOf(ctx, sim.DefaultAccount)
}

// StateOf returns all that an account holds.
func (a *AWS) StateOf(ctx context.Context, account string) (sim.AccountState, error) {
	var out sim.State
	if err := a.Control(ctx, http.MethodGet, "state?account="+account, nil, &out); err != nil {
		return sim.AccountState{}, err
	}
	if len(out.Accounts) != 1 {
		return sim.AccountState{}, fmt.Errorf("the simulated AWS shows %d accounts", len(out.Accounts))
	}
	return out.Accounts[0], nil
}

// Switch changes how the simulated AWS behaves.
func (a *AWS) Switch(ctx context.Context, values map[string]any) error {
	return a.Control(ctx, http.MethodPost, "switches", values, nil)
}

// LimitRoute53 puts the request rates in force that Route 53 documents.
func (a *AWS) LimitRoute53(ctx context.Context) error {
	return a.Control(ctx, http.MethodPost, "limits", "route53", nil)
}

// LimitUses tells what was drawn from the buckets of the limits in force.
func (a *AWS) LimitUses(ctx context.Context) ([]sim.LimitUse, error) {
	var out []sim.LimitUse
	return out, a.Control(ctx, http.MethodGet, "limit-uses", nil, &out)
}

// CreateZone makes a public hosted zone.
func (a *AWS) CreateZone(ctx context.Context, name string) error {
	c := route53.NewFromConfig(a.sdk())
	_, err := c.CreateHostedZone(ctx, &route53.CreateHostedZoneInput{Name: &name, CallerReference: &name})
	if err != nil {
		return fmt.Errorf("creating the hosted zone %s: %w", name, err)
	}
	return nil
}

// CreateConnectionGroup makes a connection group and returns its id.
func (a *AWS) CreateConnectionGroup(ctx context.Context, name string) (string, error) {
	out, err := a.CloudFront().CreateConnectionGroup(ctx, &cloudfront.CreateConnectionGroupInput{Name: &name, Enabled: awssdk.Bool(true)})
	if err != nil {
		return "", fmt.Errorf("creating the connection group %s: %w", name, err)
	}
	return awssdk.ToString(out.ConnectionGroup.Id), nil
}

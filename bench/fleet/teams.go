package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// benchCluster is the cluster ID, which roles in other accounts name.
const benchCluster = "bench"

// teamArguments make our operator ask grants.
var teamArguments = []string{"--grants=Enforce", "--cluster-id=" + benchCluster}

// team is whose tenant the n-th one is. Without --grants all tenants are in one namespace.
func (c config) team(n int) int { return n % max(1, c.Grants) }

// accountOf is the number of the AWS account of a team; 0 is the operator's own.
func (c config) accountOf(team int) int { return team % max(1, c.Accounts) }

func (c config) namespaceOf(team int) string {
	if c.Grants == 0 {
		return namespace
	}
	return fmt.Sprintf("%s-%03d", namespace, team)
}

// distributionIn is the distribution of an account.
func distributionIn(account int) string {
	if account == 0 {
		return stack.DistributionID
	}
	return fmt.Sprintf("EBENCH%d", account)
}

func accountID(account int) string {
	if account == 0 {
		return sim.DefaultAccount
	}
	return fmt.Sprintf("4444555566%02d", account)
}

func roleIn(account int) string { return "arn:aws:iam::" + accountID(account) + ":role/tenants" }

// namespaces are all that have objects of the fleet.
func (c config) namespaces() (all []string) {
	for team := range max(1, c.Grants) {
		all = append(all, c.namespaceOf(team))
	}
	return all
}

// prepareTeams makes a namespace and a grant for each team, and what the accounts of the teams have.
func (b *bench) prepareTeams(ctx context.Context) error {
	if b.Grants == 0 {
		return nil
	}
	var seed sim.Seed
	for account := 1; account < b.Accounts; account++ {
		certificate := "arn:aws:acm:us-east-1:" + accountID(account) + ":certificate/bench"
		seed.Certificates = append(seed.Certificates, sim.SeedCertificate{ARN: certificate, Names: []string{"*.example.com"}})
		seed.Distributions = append(seed.Distributions, sim.SeedDistribution{
			ID: distributionIn(account), Account: accountID(account), CertificateARN: certificate,
			Parameters: []sim.SeedParameter{{Name: "tier", Default: "basic"}, {Name: "origin", Default: "app"}},
		})
		seed.Roles = append(seed.Roles, sim.SeedRole{ARN: roleIn(account)})
	}
	if err := b.Stack.AWS.Seed(ctx, seed); err != nil {
		return err
	}
	for team := range b.Grants {
		name := b.namespaceOf(team)
		objects := []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, b.grant(team)}
		for _, o := range objects {
			if err := b.Kube.Create(ctx, o); err != nil {
				return fmt.Errorf("creating the grant and namespace %s: %w", name, err)
			}
		}
	}
	return nil
}

// grant is that of a team: its distribution, and its own domains among those of all.
func (b *bench) grant(team int) *v1alpha1.EdgeGrant {
	account, name := b.accountOf(team), b.namespaceOf(team)
	g := &v1alpha1.EdgeGrant{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.EdgeGrantSpec{
		Namespaces:    v1alpha1.GrantedNamespaces{Names: []string{name}},
		Distributions: []v1alpha1.GrantedDistribution{{ID: distributionIn(account)}},
		Domains:       []v1alpha1.GrantedDomain{{Suffix: "example.com"}, {Suffix: zoneName}},
		DNS:           &v1alpha1.GrantedDNS{Zones: []v1alpha1.GrantedZone{{ID: "*"}}},
		Limits:        &v1alpha1.GrantLimits{Tenants: new(int32(b.Tenants))},
	}}
	if account > 0 {
		g.Spec.Account = &v1alpha1.GrantedAccount{ID: accountID(account), RoleARN: roleIn(account)}
	}
	if group := b.subject.connectionGroupID; group != "" {
		g.Spec.ConnectionGroups = []v1alpha1.GrantedConnectionGroup{{ID: group}}
	}
	return g
}

// leaked are the tenants that are left in all accounts.
func (b *bench) leaked(ctx context.Context) (left int, err error) {
	for account := range max(1, b.Accounts) {
		state, err := b.Stack.AWS.StateOf(ctx, accountID(account))
		if err != nil {
			return left, err
		}
		left += len(state.Tenants)
	}
	return left, nil
}

package policies_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
)

var update = flag.Bool("update", false, "write the golden file")

const golden = "testdata/rights.txt"

// The rights of users in their namespace, as kubectl auth can-i --list has them: the cluster's own roles read, and
// write only with a role of the chart. Changes of the golden file are changes of what customers may do.
func TestRightsOfPeople(t *testing.T) {
	const namespace = "roles"
	createNamespace(t, namespace)
	own := "cloudfront-tenant-operator-"
	roles := []string{
		"view", "edit", "admin", own + "distributiontenants-editor", own + "domainclaims-editor", own + "tenantsources-editor", own + "distributions-editor",
		own + "tenants-editor", own + "tenantplans-editor", own + "adopt", own + "takeover", own + "disablewebacl", own + "abandon",
	}
	for _, role := range roles {
		bind(t, namespace, role, "member-of-"+role)
	}
	if *update {
		text, err := rightsOf(t, namespace, roles)
		if err == nil {
			err = os.WriteFile(golden, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "rights", func() error { // a controller fills the cluster's own roles
		got, err := rightsOf(t, namespace, roles)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			return fmt.Errorf("%s (-want +got); go test ./test/policies -run TestRightsOfPeople -update writes it:\n%s", golden, diff)
		}
		return nil
	})
}

// rightsOf lists what the members of the roles may do.
func rightsOf(t *testing.T, namespace string, roles []string) (string, error) {
	t.Helper()
	var b strings.Builder
	for _, role := range roles {
		rules, err := rulesOf(t, "member-of-"+role, namespace)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s\n", role)
		for _, rule := range rules {
			fmt.Fprintf(&b, "  %s\n", rule)
		}
	}
	return b.String(), nil
}

// rulesOf are the rules of a user on the operator's objects.
func rulesOf(t *testing.T, user, namespace string) ([]string, error) {
	t.Helper()
	review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}
	// Every user who has logged in may ask this.
	config := cluster.RESTConfig()
	config.Impersonate.UserName, config.Impersonate.Groups = user, []string{"system:authenticated"}
	c, err := clientOf(config)
	if err != nil {
		return nil, err
	}
	if err := c.Create(t.Context(), review); err != nil {
		return nil, err
	}
	found := map[string][]string{}
	for _, rule := range review.Status.ResourceRules {
		for _, group := range rule.APIGroups {
			if !strings.HasSuffix(group, "cloudfront-tenant-operator.io") && !strings.HasSuffix(group, "kleff.io") && group != "*" {
				continue
			}
			for _, resource := range rule.Resources {
				found[resource+"."+group] = append(found[resource+"."+group], rule.Verbs...)
			}
		}
	}
	var out []string
	for resource, verbs := range found {
		slices.Sort(verbs)
		out = append(out, resource+": "+strings.Join(slices.Compact(verbs), " "))
	}
	slices.Sort(out)
	return out, nil
}

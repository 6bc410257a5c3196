package chart_test

import (
	"net/netip"
	"slices"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
)

// connection is one that the operator opens.
type connection struct {
	to       string
	port     int32
	protocol string
}

// Connections that the operator makes are allowed, and others are not.
func TestNetworkPolicyAllowsWhatTheOperatorNeeds(t *testing.T) {
	const restricted = "networkPolicy: {egress: {restricted: true}}"
	dns := connection{"10.96.0.10", 53, "UDP"}
	apiServer := connection{"172.16.0.2", 6443, "TCP"}
	aws := connection{"3.164.1.1", 443, "TCP"}
	podIdentity := connection{"169.254.170.23", 80, "TCP"}
	postgres := connection{"10.1.0.7", 5432, "TCP"}
	metadata := connection{"169.254.169.254", 80, "TCP"}
	proxy := connection{"10.0.1.1", 3128, "TCP"}
	for name, c := range map[string]struct {
		values          string
		allowed, denied []connection
	}{
		"the defaults restrict nothing that goes out": {"{}", []connection{dns, apiServer, aws, podIdentity, postgres, metadata, proxy}, nil},
		"restricted": {
			restricted,
			[]connection{
				dns, {"10.96.0.10", 53, "TCP"}, {"10.128.0.3", 5353, "UDP"}, apiServer, {"10.96.0.1", 443, "TCP"}, aws, {"2600:9000::1", 443, "TCP"},
				podIdentity, {"fd00:ec2::23", 80, "TCP"}, postgres, {"10.1.0.7", 3306, "TCP"}, {"10.1.0.7", 27017, "TCP"}, {"10.1.0.7", 6379, "TCP"},
			},
			[]connection{metadata, proxy, {"10.1.0.7", 22, "TCP"}, {"3.164.1.1", 80, "TCP"}, {"3.164.1.1", 443, "UDP"}},
		},
		"without sources there are no databases": {restricted + "\ncontroller: {controllers: [distributiontenant]}", []connection{dns, apiServer, aws, podIdentity}, []connection{postgres}},
		"databases in one network":               {"networkPolicy: {egress: {restricted: true}, databasesTo: [{ipBlock: {cidr: 10.1.0.0/16}}]}", []connection{postgres}, []connection{{"10.2.0.7", 5432, "TCP"}}},
		"an API server at one address": {
			"networkPolicy: {egress: {restricted: true, apiServer: {ports: [6443], to: [{ipBlock: {cidr: 172.16.0.2/32}}]}}}", []connection{apiServer, aws}, []connection{{"172.16.0.3", 6443, "TCP"}},
		},
		"AWS by private endpoints": {
			"networkPolicy: {egress: {restricted: true, apiServer: {ports: [6443]}, aws: {to: [{ipBlock: {cidr: 10.9.0.0/16}}]}}}", []connection{{"10.9.0.1", 443, "TCP"}, apiServer}, []connection{aws},
		},
		"another DNS server":      {"networkPolicy: {egress: {restricted: true, dns: {to: [{ipBlock: {cidr: 10.96.0.10/32}}], ports: [53]}}}", []connection{dns}, []connection{{"1.1.1.1", 53, "UDP"}}},
		"the role of an instance": {"networkPolicy: {egress: {restricted: true, credentials: {to: [{ipBlock: {cidr: 169.254.169.254/32}}]}}}", []connection{metadata}, []connection{podIdentity}},
		"no credentials":          {"networkPolicy: {egress: {restricted: true, credentials: {to: []}}}", []connection{aws}, []connection{podIdentity, metadata}},
		"a proxy": {
			"networkPolicy: {egress: {restricted: true, extra: [{to: [{ipBlock: {cidr: 10.0.1.1/32}}], ports: [{port: 3128}]}]}}", []connection{proxy}, []connection{{"10.0.1.2", 3128, "TCP"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy := networkPolicy(t, c.values)
			for _, to := range c.allowed {
				if !letsOut(t, policy, to) {
					t.Errorf("the policy denies %+v", to)
				}
			}
			for _, to := range c.denied {
				if letsOut(t, policy, to) {
					t.Errorf("the policy allows %+v", to)
				}
			}
		})
	}
}

// Only scrapes come in, and what the values add.
func TestNetworkPolicyLetsScrapesIn(t *testing.T) {
	for name, c := range map[string]struct {
		values string
		ports  []string
		peers  int
	}{
		"the defaults":                      {"{}", []string{"metrics"}, 0},
		"scrapes from a namespace":          {"networkPolicy: {metricsFrom: [{namespaceSelector: {}}]}", []string{"metrics"}, 1},
		"the webhook":                       {"webhook: {enabled: true}", []string{"metrics", "webhook"}, 0},
		"the webhook for one API server":    {"webhook: {enabled: true}\nnetworkPolicy: {webhookFrom: [{ipBlock: {cidr: 172.16.0.2/32}}]}", []string{"metrics", "webhook"}, 1},
		"the webhook and no metrics":        {"webhook: {enabled: true}\nmetrics: {enabled: false}", []string{"webhook"}, 0},
		"no metrics":                        {"metrics: {enabled: false}", nil, 0},
		"a container's port":                {"networkPolicy: {ingress: [{ports: [{port: 15020}]}]}", []string{"metrics", "15020"}, 0},
		"a container's port and no metrics": {"metrics: {enabled: false}\nnetworkPolicy: {ingress: [{ports: [{port: 15020}]}]}", []string{"15020"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy := networkPolicy(t, c.values)
			if !slices.Contains(policy.Spec.PolicyTypes, networkingv1.PolicyTypeIngress) {
				t.Fatal("the policy restricts nothing that comes in")
			}
			var ports []string
			peers := 0
			for _, rule := range policy.Spec.Ingress {
				for _, p := range rule.Ports {
					ports = append(ports, p.Port.String())
				}
				peers += len(rule.From)
			}
			if !slices.Equal(ports, c.ports) || peers != c.peers {
				t.Errorf("the policy admits %v from %d peers, want %v from %d", ports, peers, c.ports, c.peers)
			}
		})
	}
}

func networkPolicy(t *testing.T, values string) *networkingv1.NetworkPolicy {
	t.Helper()
	found := render(t, values).find("NetworkPolicy")
	if len(found) != 1 {
		t.Fatalf("%d NetworkPolicies, want 1", len(found))
	}
	policy := &networkingv1.NetworkPolicy{}
	as(t, found[0], policy)
	return policy
}

// letsOut judges a connection as a network plugin does, for peers that are addresses.
func letsOut(t *testing.T, policy *networkingv1.NetworkPolicy, c connection) bool {
	t.Helper()
	if !slices.Contains(policy.Spec.PolicyTypes, networkingv1.PolicyTypeEgress) {
		return true
	}
	return slices.ContainsFunc(policy.Spec.Egress, func(rule networkingv1.NetworkPolicyEgressRule) bool {
		port := len(rule.Ports) == 0 || slices.ContainsFunc(rule.Ports, func(p networkingv1.NetworkPolicyPort) bool {
			protocol := "TCP"
			if p.Protocol != nil {
				protocol = string(*p.Protocol)
			}
			return protocol == c.protocol && p.Port.IntVal == c.port
		})
		peer := len(rule.To) == 0 || slices.ContainsFunc(rule.To, func(p networkingv1.NetworkPolicyPeer) bool {
			return p.IPBlock != nil && netip.MustParsePrefix(p.IPBlock.CIDR).Contains(netip.MustParseAddr(c.to))
		})
		return port && peer
	})
}

package plan

import (
	"errors"
	"fmt"
	"slices"
)

const (
	nameGateway = "kleff-gateway"
	nameMesh    = "kleff-tenant"
)

// BuildMesh returns the Istio objects of the plan. The error says which value of the tenant is not allowed where the
// plan puts it.
func BuildMesh(t Tenant, p *Plan) ([]Object, error) {
	if p == nil {
		return nil, nil
	}
	var out []Object
	if p.spec.Istio.Gateway != nil {
		gateway, err := p.spec.Istio.Gateway.build(t)
		if err != nil {
			return nil, err
		}
		out = append(out, gateway)
	}
	if from := p.sources(t); len(from) > 0 {
		out = append(out, t.object(KindAuthorizationPolicy, nameMesh, map[string]any{
			"action": "ALLOW",
			"rules":  []any{map[string]any{"from": []any{map[string]any{"source": map[string]any{"namespaces": anyList(from)}}}}},
		}))
	}
	if mode := p.spec.Istio.PeerAuthentication; mode != "" {
		out = append(out, t.object(KindPeerAuthentication, nameMesh, map[string]any{"mtls": map[string]any{"mode": mode}}))
	}
	return out, nil
}

// sources are the namespaces whose requests are taken; none where those of all namespaces are.
func (p *Plan) sources(t Tenant) []string {
	switch p.spec.Istio.AuthorizationPolicy {
	case IsolationNamespace:
		return []string{t.Namespace}
	case IsolationNamespaceAndIngress:
		return append([]string{t.Namespace}, p.spec.IngressNamespaces...)
	case IsolationNone:
	}
	return nil
}

func (g *Gateway) build(t Tenant) (Object, error) {
	hosts, err := g.hosts(t)
	secret, secretErr := g.secret(t)
	if err := errors.Join(err, secretErr); err != nil {
		return Object{}, err
	}
	plain := server("http", 80, hosts)
	servers := []any{plain}
	if secret != "" {
		plain["tls"] = map[string]any{"httpsRedirect": true}
		secure := server("https", 443, hosts)
		secure["tls"] = map[string]any{"mode": "SIMPLE", "credentialName": secret}
		servers = []any{secure, plain}
	}
	selector := make(map[string]any, len(g.Selector))
	for k, v := range g.Selector {
		selector[k] = v
	}
	return t.object(KindGateway, nameGateway, map[string]any{"selector": selector, "servers": servers}), nil
}

func server(name string, port int64, hosts []string) map[string]any {
	protocol := map[string]string{"http": "HTTP", "https": "HTTPS"}[name]
	return map[string]any{
		"hosts": anyList(hosts),
		"port":  map[string]any{"name": name, "number": port, "protocol": protocol},
	}
}

// hosts are those of the tenant, each once: two placeholders may have the same value.
func (g *Gateway) hosts(t Tenant) ([]string, error) {
	var out []string
	var mistakes []error
	for i, text := range g.Hosts {
		host, err := t.fill(fmt.Sprintf("%s.hosts[%d]", pathGateway, i), text, hostSlot)
		if err != nil {
			mistakes = append(mistakes, err)
		} else if !slices.Contains(out, host) {
			out = append(out, host)
		}
	}
	return out, errors.Join(mistakes...)
}

func (g *Gateway) secret(t Tenant) (string, error) {
	if g.TLSSecret == "" {
		return "", nil
	}
	return t.fill(pathGateway+".tlsSecret", g.TLSSecret, secretSlot)
}

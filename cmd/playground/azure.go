package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"path/filepath"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/azuredns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/dnsserver"
)

const (
	// azureZone is the only zone at Azure DNS, in the resource group azureGroup.
	azureZone   = "azure.example"
	azureGroup  = "dns"
	azureClient = "33333333-3333-3333-3333-333333333333"
	azureSecret = "playground"
	// azureDNSVariable leads lookups to the name server of the zone.
	azureDNSVariable = "PLAYGROUND_AZURE_DNS"
)

// azureWorld is the simulated Azure.
type azureWorld struct {
	provider

	sim *azuredns.Sim
}

// startAzure starts it with TLS. The operator trusts the certificate by what its environment has.
func (w *world) startAzure(ctx context.Context) error {
	a := &azureWorld{sim: azuredns.New(azuredns.Options{
		VisibleAfter: time.Second,
		Principals: []azuredns.Principal{{
			ClientID: azureClient, Secret: azureSecret,
			Grants: []azuredns.Grant{{Role: azuredns.DNSZoneContributor, Scope: "/subscriptions/" + azuredns.DefaultSubscription}},
		}},
		Zones: []azuredns.Zone{{ResourceGroup: azureGroup, Name: azureZone, Records: []azuredns.Record{
			{Name: "www", Type: "A", TTL: 300, Values: []string{"192.0.2.80"}},
		}}},
	})}
	certificate, err := w.azureCertificate()
	if err != nil {
		return fmt.Errorf("making a certificate for the simulated Azure: %w", err)
	}
	a.w, a.name, a.cnames = w, "Azure", a.targets
	startDNS := func(ctx context.Context, address string) (*dnsserver.Server, error) {
		return dnsserver.Start(ctx, address, a.sim.DNSHandler())
	}
	if err := a.serve(ctx, a.sim, startDNS, certificate); err != nil {
		return err
	}
	w.azure = a
	w.say.line("%-14s %s, simulated", "Azure DNS", a.url())
	w.say.line("%-14s %s, DNS of its zone %s", "", a.dns, azureZone)
	return nil
}

func (a *azureWorld) targets() map[string]string {
	out := map[string]string{}
	for _, r := range a.sim.Records(azureGroup, azureZone) {
		if r.Type == "CNAME" {
			out[r.Name+"."+azureZone] = r.Values[0]
		}
	}
	return out
}

// url is where the Resource Manager is and tokens are issued.
func (a *azureWorld) url() string { return "https://" + a.address }

// azureAccount is the operator's account there.
func (w *world) azureAccount() map[string]any {
	return map[string]any{
		"name": "main", "provider": "azure", "credentials": w.inDNS("azure"), "nameServers": []string{w.azure.dns},
		"azure": map[string]string{
			"subscriptionId": azuredns.DefaultSubscription, "resourceGroup": azureGroup, "tenantId": azuredns.DefaultTenant, "clientId": azureClient,
			"credential": "ClientSecret", "resourceManagerEndpoint": w.azure.url(), "authorityHost": w.azure.url(),
			// Unlike a real Resource Manager in a private cloud, the simulated one wants tokens that are for the public one.
			"audience": "https://management.azure.com",
		},
	}
}

// authorities is a folder with the certificate that the operator has to trust, in addition to the system's.
func (w *world) authorities() string { return w.inDNS("authorities") }

// azureCertificate makes a certificate that vouches for itself.
func (w *world) azureCertificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err == nil {
		err = writeSecret(filepath.Join(w.authorities(), "azure.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})))
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, err
}

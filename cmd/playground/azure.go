package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
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

// azureWorld is the simulated Azure, which runs in this process.
type azureWorld struct {
	resolving

	sim    *azuredns.Sim
	server *http.Server
	names  *dnsserver.Server
	// url is where the Resource Manager is and tokens are issued, and dns where the name server is.
	url, dns string
}

// startAzure starts the API and the name server. The operator trusts the certificate by what operatorEnv has.
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
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("starting the simulated Azure: %w", err)
	}
	if a.names, err = dnsserver.Start(ctx, "127.0.0.1:0", a.sim.DNSHandler()); err != nil {
		return errors.Join(fmt.Errorf("starting the name server of the simulated Azure: %w", err), listener.Close())
	}
	a.url, a.dns = "https://"+listener.Addr().String(), a.names.Address
	a.server = &http.Server{
		Handler: w.public(ctx, "Azure", a.sim, a.leading, &a.resolving), ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
	}
	go func() {
		if err := a.server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
			w.cancel(fmt.Errorf("the simulated Azure ended unexpectedly: %w", err))
		}
	}()
	w.azure = a
	w.say.line("%-14s %s, simulated", "Azure DNS", a.url)
	w.say.line("%-14s %s, DNS of its zone %s", "", a.dns, azureZone)
	return nil
}

func (a *azureWorld) stop() error { return errors.Join(a.server.Close(), a.names.Stop()) }

// leading are the names that lead to CloudFront.
func (a *azureWorld) leading() (names []string) {
	for _, r := range a.sim.Records(azureGroup, azureZone) {
		if r.Type == "CNAME" && strings.HasSuffix(r.Values[0], cloudFrontSuffix) {
			names = append(names, r.Name+"."+azureZone)
		}
	}
	return names
}

// azureAccount is the operator's account there.
func (w *world) azureAccount() map[string]any {
	return map[string]any{
		"name": "main", "provider": "azure", "credentials": w.azureSecretDir(), "nameServers": []string{w.azure.dns},
		"azure": map[string]string{
			"subscriptionId": azuredns.DefaultSubscription, "resourceGroup": azureGroup, "tenantId": azuredns.DefaultTenant, "clientId": azureClient,
			"credential": "ClientSecret", "resourceManagerEndpoint": w.azure.url, "authorityHost": w.azure.url,
			// Unlike a real Resource Manager in a private cloud, the simulated one wants tokens that are for the public one.
			"audience": "https://management.azure.com",
		},
	}
}

func (w *world) azureSecretDir() string { return filepath.Join(w.dir, "dns", "azure") }

// authorities is a folder with the certificate that the operator has to trust, in addition to the system's.
func (w *world) authorities() string { return filepath.Join(w.dir, "dns", "authorities") }

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
		err = os.MkdirAll(w.authorities(), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(w.authorities(), "azure.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, err
}

package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// authority signs the certificates of servers and users. The API server reads
// its token file only at start, so users that come later get a certificate.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority() (*authority, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	ca, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "throw-away control plane"}, key)
	if err != nil {
		return nil, fmt.Errorf("signing the CA certificate: %w", err)
	}
	return &authority{cert: ca, key: key}, nil
}

func (a *authority) pem() []byte {
	bundle, err := cert.EncodeCertificates(a.cert)
	if err != nil {
		panic(err) // encoding into memory can't fail
	}
	return bundle
}

// issue returns a certificate and its key as PEM.
func (a *authority) issue(subject pkix.Name, usage x509.ExtKeyUsage, ips ...net.IP) (certPEM, keyPEM []byte, err error) {
	key, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, nil, fmt.Errorf("choosing a serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		IPAddresses:  ips,
		NotBefore:    a.cert.NotBefore,
		NotAfter:     a.cert.NotBefore.Add(7 * 24 * time.Hour), // a playground may run for days
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{usage},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, nil, fmt.Errorf("signing a certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the certificate back: %w", err)
	}
	if certPEM, err = cert.EncodeCertificates(leaf); err != nil {
		return nil, nil, fmt.Errorf("encoding a certificate: %w", err)
	}
	keyPEM, err = keyutil.MarshalPrivateKeyToPEM(key)
	return certPEM, keyPEM, err
}

func newKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generating a key: %w", err)
	}
	return key, nil
}

func newToken() string { return rand.Text() }

// AddUser returns a configuration for a user of this name and these groups. The user's rights come from the roles that
// are bound to them.
func (cp *ControlPlane) AddUser(name string, groups ...string) (*rest.Config, error) {
	subject := pkix.Name{CommonName: name, Organization: groups}
	certPEM, keyPEM, err := cp.authority.issue(subject, x509.ExtKeyUsageClientAuth)
	if err != nil {
		return nil, fmt.Errorf("adding user %s: %w", name, err)
	}
	config := cp.TokenConfig("")
	config.CertData, config.KeyData = certPEM, keyPEM
	return config, nil
}

// TokenConfig returns a configuration that authenticates with a bearer token,
// such as one that the TokenRequest API issued for a service account.
func (cp *ControlPlane) TokenConfig(token string) *rest.Config {
	return &rest.Config{
		Host:            cp.apiServerURL(),
		BearerToken:     token,
		TLSClientConfig: rest.TLSClientConfig{CAData: cp.authority.pem()},
		QPS:             -1, // the API server's own fairness is limit enough
	}
}

// CA is the certificate of the authority that the API server and its users trust, as PEM.
func (cp *ControlPlane) CA() []byte { return cp.authority.pem() }

// WriteKubeconfig writes config to path in the form kubectl reads.
func WriteKubeconfig(path string, config *rest.Config) error {
	const name = "controlplane"
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{name: {
			Server:                   config.Host,
			CertificateAuthorityData: config.CAData,
		}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {
			Token:                 config.BearerToken,
			TokenFile:             config.BearerTokenFile,
			ClientCertificateData: config.CertData,
			ClientKeyData:         config.KeyData,
		}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}, path)
	if err != nil {
		return fmt.Errorf("writing a kubeconfig: %w", err)
	}
	return nil
}

// addresses are those of the API server; Pods use its Service.
func (cp *ControlPlane) addresses() []net.IP {
	out := []net.IP{net.IPv4(127, 0, 0, 1)}
	if cp.nodeAddress != "" {
		out = append(out, net.ParseIP(cp.nodeAddress), net.IPv4(10, 0, 0, 1))
	}
	return out
}

// writeFiles writes the keys, certificates, tokens and kubeconfigs of the components.
func (cp *ControlPlane) writeFiles() error {
	servingCert, servingKey, err := cp.authority.issue(pkix.Name{CommonName: "127.0.0.1"}, x509.ExtKeyUsageServerAuth, cp.addresses()...)
	if err != nil {
		return err
	}
	serviceAccountKey, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return fmt.Errorf("generating the service account key: %w", err)
	}
	tokens := fmt.Sprintf("%s,admin,admin,system:masters\n%s,system:kube-controller-manager,controllers\n", cp.adminToken, cp.controllerToken)
	for name, content := range map[string][]byte{
		"ca.crt":             cp.authority.pem(),
		"serving.crt":        servingCert,
		"serving.key":        servingKey,
		"serviceaccount.key": serviceAccountKey,
		"tokens.csv":         []byte(tokens),
		"audit-policy.yaml":  []byte(auditPolicy),
	} {
		if err := os.WriteFile(cp.path(name), content, 0o600); err != nil {
			return fmt.Errorf("writing the control plane's files: %w", err)
		}
	}
	if err := WriteKubeconfig(cp.path("controllers.kubeconfig"), cp.TokenConfig(cp.controllerToken)); err != nil {
		return err
	}
	return WriteKubeconfig(cp.Kubeconfig(), cp.RESTConfig())
}

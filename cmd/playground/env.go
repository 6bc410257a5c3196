package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
)

// The simulated AWS takes any access key for its only account.
const (
	region    = "us-east-1"
	accessKey = "test"
	secretKey = "test"
)

// childEnv is the caller's environment without anything that could lead the
// operator or kubectl to another cluster, to the real AWS or to the real Cloudflare.
func (w *world) childEnv() []string {
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return strings.HasPrefix(name, "AWS_") || strings.HasPrefix(name, "CLOUDFLARE_") || name == "KUBECONFIG" || name == "KUBECACHEDIR"
	})
	env = append(env,
		"KUBECONFIG="+w.kubeconfig(),
		"KUBECACHEDIR="+w.dir+"/kubectl-cache",
		// The default profile of a developer may name a role, a proxy's CA bundle or an endpoint.
		"AWS_CONFIG_FILE="+os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE="+os.DevNull,
		"AWS_EC2_METADATA_DISABLED=true",
	)
	return append(env, w.awsEnv()...)
}

// operatorEnv is the chart's environment with the service account's way to the control plane.
func (w *world) operatorEnv(i *install.Installation) []string {
	env, own := w.childEnv(), i.Env()
	for _, name := range slices.Sorted(maps.Keys(own)) {
		env = append(env, name+"="+own[name])
	}
	// The certificate of the simulated Azure is valid in addition to those in the system's file.
	env = append(env, "SSL_CERT_DIR="+w.authorities())
	return append(env, "KUBECONFIG="+i.Kubeconfig) // after kubectl's, and so instead of it
}

// awsEnv leads every client of AWS, and lookups of names, to the simulated one.
func (w *world) awsEnv() []string {
	return []string{
		"AWS_ENDPOINT_URL=" + w.awsURL,
		"AWS_ACCESS_KEY_ID=" + accessKey,
		"AWS_SECRET_ACCESS_KEY=" + secretKey,
		"AWS_REGION=" + region,
		"AWS_DEFAULT_REGION=" + region, // version 1 of the aws command knows no other
		dnsVariable + "=" + w.dnsAddress,
	}
}

// awsConfig is the same for the SDK in this process, which reads no environment then.
func (w *world) awsConfig() aws.Config {
	return aws.Config{
		Region:       region,
		BaseEndpoint: aws.String(w.awsURL),
		Credentials:  credentials.NewStaticCredentialsProvider(accessKey, secretKey, ""),
	}
}

func lookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("finding %s: %w; install it and add it to the PATH", name, err)
	}
	return path, nil
}

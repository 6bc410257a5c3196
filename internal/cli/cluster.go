package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// cluster says how the API server is reached, by flags that are called as those of kubectl. The package that kubectl has
// them from would bring kustomize along, and with it the loading of Go plugins, for which the linker keeps all that is
// exported.
type cluster struct {
	rules     *clientcmd.ClientConfigLoadingRules
	overrides *clientcmd.ConfigOverrides
	// extra are the user extras to impersonate, as key=value.
	extra []string
	// all is whether the namespace is left aside. current is whether a verb without --namespace is about that of the context.
	all, current bool
}

// newCluster is one with a kubeconfig; empty: that of kubectl.
func newCluster(kubeconfig string) *cluster {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	return &cluster{rules: rules, overrides: &clientcmd.ConfigOverrides{}}
}

func (c *cluster) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&c.rules.ExplicitPath, "kubeconfig", c.rules.ExplicitPath, "path of the kubeconfig")
	names := clientcmd.RecommendedConfigOverrideFlags("")
	names.ClusterOverrideFlags.APIServer.ShortName = "s"
	// kubectl has these no more, or never had them.
	names.AuthOverrideFlags.Username.LongName, names.AuthOverrideFlags.Password.LongName = "", ""
	names.ClusterOverrideFlags.ProxyURL.LongName = ""
	for flag, text := range map[*clientcmd.FlagInfo]string{
		&names.CurrentContext: "context of the kubeconfig", &names.Timeout: "timeout of a single request to the API server, for example 30s; 0 means no timeout",
		&names.ContextOverrideFlags.Namespace:   "namespace; by default that of the context, except for verbs that say otherwise",
		&names.ContextOverrideFlags.ClusterName: "cluster of the kubeconfig", &names.ContextOverrideFlags.AuthInfoName: "user of the kubeconfig",
		&names.ClusterOverrideFlags.APIServer:             "address and port of the API server",
		&names.ClusterOverrideFlags.CertificateAuthority:  "file with the certificate authority of the API server",
		&names.ClusterOverrideFlags.InsecureSkipTLSVerify: "don't check the API server's certificate",
		&names.ClusterOverrideFlags.TLSServerName:         "name to check the API server's certificate against; by default its host name",
		&names.ClusterOverrideFlags.DisableCompression:    "ask the API server for answers that are not compressed",
		&names.AuthOverrideFlags.ClientCertificate:        "file with a client certificate", &names.AuthOverrideFlags.ClientKey: "file with the key of the client certificate",
		&names.AuthOverrideFlags.Token: "bearer token", &names.AuthOverrideFlags.Impersonate: "user to impersonate",
		&names.AuthOverrideFlags.ImpersonateUID: "UID to impersonate", &names.AuthOverrideFlags.ImpersonateGroups: "group to impersonate; repeat it for several",
	} {
		flag.Description = text
	}
	clientcmd.BindOverrideFlags(c.overrides, flags, names)
	flags.StringArrayVar(&c.extra, "as-user-extra", nil, "user extra to impersonate, as key=value; repeat it for several")
}

// loader reads the kubeconfig.
func (c *cluster) loader() (clientcmd.ClientConfig, error) {
	extra := map[string][]string{}
	for _, pair := range c.extra {
		key, value, found := strings.Cut(pair, "=")
		if !found || key == "" {
			return nil, fmt.Errorf("--as-user-extra=%s: use key=value", pair)
		}
		extra[key] = append(extra[key], value)
	}
	if len(extra) > 0 {
		c.overrides.AuthInfo.ImpersonateUserExtra = extra
	}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(c.rules, c.overrides), nil
}

// config is that of a client.
func (c *cluster) config() (*rest.Config, error) {
	loader, err := c.loader()
	if err != nil {
		return nil, err
	}
	config, err := loader.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, fmt.Errorf("no cluster is configured: name a kubeconfig with --kubeconfig or KUBECONFIG")
	}
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return config, nil
}

// namespace is the one that the user has chosen, or that of the context.
func (c *cluster) namespace() (string, error) {
	loader, err := c.loader()
	if err != nil {
		return "", err
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return namespace, nil
}

// chosen is the namespace that a verb is about. Empty: all of them.
func (c *cluster) chosen() string {
	if c.all {
		return ""
	}
	if c.current {
		namespace, _ := c.namespace() // a kubeconfig that can't be read has no client either
		return namespace
	}
	return c.overrides.Context.Namespace
}

// scope is the same in words.
func (c *cluster) scope() string {
	if namespace := c.chosen(); namespace != "" {
		return "namespace " + namespace
	}
	return "all namespaces"
}

// addAll is for verbs that show a fleet: as with kubectl, that of the current namespace without -A.
func (c *cluster) addAll(verb *cobra.Command) {
	verb.Flags().BoolVarP(&c.all, "all-namespaces", "A", false, "all namespaces, also with --namespace")
	verb.PreRun = func(*cobra.Command, []string) { c.current = true }
}

package config_test

import (
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
)

// A flag that can't be is refused with its name, its value and what to write instead.
func TestFlagsThatCannotBe(t *testing.T) {
	for argument, cure := range map[string]string{
		"--drift-policy=sometimes":              "use enforce, report or suspend",
		"--controllers=distributiontenant,zone": "use distributiontenant",
		"--controllers=":                        "use distributiontenant",
		"--max-concurrent-reconciles=0":         "use at least 1",
		"--aws-rate=0":                          "above 0",
		"--aws-rate=-3":                         "above 0",
		"--aws-rate=NaN":                        "above 0",
		"--aws-rate=+Inf":                       "above 0",
		"--aws-burst=1":                         "use at least 2",
		"--sweep-interval=9s":                   "use at least 10s",
		"--default-tags=team":                   "key=value",
		"--default-tags=aws:team=edge":          "without this prefix",
		"--default-tags=cloudfront-tenant-operator.io/x=edge": "use another",
		"--default-tags=team=ed*ge":                           "letters, digits",
		"--default-tags=" + strings.Repeat("k", 129) + "=e":   "allows 128",
		"--default-tags=k=" + strings.Repeat("v", 257):        "256 for a value",
		"--watch-namespaces=fine,Not_A_Namespace":             "lower case",
		"--leader-election-namespace=Not_A_Namespace":         "lower case",
		"--cluster-id=" + strings.Repeat("c", 257):            "at most 256",
		"--cluster-id=a*b":                                    "letters, digits",
		"--metrics-bind-address=nowhere":                      "host:port",
		"--health-probe-bind-address=8081":                    "host:port",
		"--pprof-bind-address=6060":                           "host:port",
		"--webhook-bind-address=9443":                         "host:port",
		"--webhook-deny=dns,tls":                              "domain-taken, unknown-distribution, parameters, dns",
		"--webhook-dns=1.1.1.1":                               "host:port",
		"--rollout-canaries=-1":                               "from 0 to",
		"--rollout-max-failed-percent=101":                    "from 0 to 100",
		"--rollout-pause=-1s":                                 "not negative",
		"--tenantsource-read-memory=much":                     "such as 64Mi",
		"--tenantsource-read-memory=31Mi":                     "at least 32Mi",
		"--tenantsource-allow-dial=10.0.0.1,localhost":        "nor an address",
	} {
		t.Run(argument[:min(len(argument), 50)], func(t *testing.T) {
			err := parse(argument)
			if err == nil {
				t.Fatal("it is accepted")
			}
			name, value, _ := strings.Cut(strings.TrimPrefix(argument, "--"), "=")
			value = value[strings.LastIndexByte(value, ',')+1:] // of a list, the one that is wrong
			value, _, _ = strings.Cut(value, "=")               // of a tag, the key
			for _, want := range []string{name, value[:min(len(value), 10)], cure} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("it says, without %q: %v", want, err)
				}
			}
		})
	}
}

func TestFlagsThatCanBe(t *testing.T) {
	for _, argument := range []string{
		"--metrics-bind-address=:8443", "--metrics-bind-address=0", "--health-probe-bind-address=[::1]:8081",
		"--watch-namespaces=a, b,,c", "--leader-election-namespace=kube-system", "--sweep-interval=10s", "--aws-rate=0.5",
		"--cluster-id=arn:aws:eks:us-east-1:111122223333:cluster/main", "--default-tags=team=edge,cost center=a=b",
		"--webhook-bind-address=:9443", "--webhook-deny=dns,domain-taken", "--webhook-dns=1.1.1.1:53", "--webhook-bind-address=0",
		"--tenantsource-read-memory=1Gi", "--tenantsource-allow-dial=127.0.0.0/8,::1", "--tenantsource-read-memory=100000000",
		"--default-tags=" + strings.Repeat("ü", 128) + "=" + strings.Repeat("ü", 256),
	} {
		t.Run(argument[:min(len(argument), 50)], func(t *testing.T) {
			if err := parse(argument); err != nil {
				t.Errorf("it is refused: %v", err)
			}
		})
	}
}

// parse does what the command does.
func parse(argument string) error {
	var c config.Config
	set := flag.NewFlagSet("operator", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	c.Bind(set)
	if err := set.Parse([]string{argument}); err != nil {
		return err
	}
	return c.Validate()
}

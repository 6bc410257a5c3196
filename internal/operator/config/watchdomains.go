package config

import "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/resolver"

// Guide asks the DNS servers of --dns-resolvers or, if there are none, those of the pod where public DNS leads names. It
// is nil where that is not wanted.
func (c *Config) Guide() (*resolver.Resolver, error) { return c.guide(resolver.OwnFile) }

func (c *Config) guide(file string) (*resolver.Resolver, error) {
	if !c.WatchDomains {
		return nil, nil
	}
	if len(c.DNSResolvers) > 0 {
		return resolver.New(c.DNSResolvers)
	}
	servers, err := resolver.Own(file)
	if err != nil {
		return nil, err
	}
	return resolver.New(servers)
}

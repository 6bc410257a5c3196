// Package importing writes a fleet that exists in CloudFront down as manifests: a distribution with its connection groups
// and tenants. It changes nothing, neither in AWS nor in the cluster. Before it says that a manifest changes nothing
// either, it lets the operator's own rules play what they would do with it.
package importing

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// AWS is what the import reads. Every client of the operator has it.
type AWS interface {
	port.TenantReader
	port.Fleet
	// ReadDistribution and ReadGroup are those of port.Distributions and port.Groups.
	ReadDistribution(ctx context.Context, id string) (port.Distribution, error)
	ReadGroup(ctx context.Context, identifier string) (port.Group, error)
}

// Options say what is imported, and how it is written down.
type Options struct {
	AWS AWS
	// Cluster is what there is in the cluster, nil where it was not looked at.
	Cluster *Cluster
	// Clock is what waits for the rate limit.
	Clock clock.WithTicker
	// DistributionID is the distribution that is imported.
	DistributionID string
	// Namespace is that of the objects. Empty: the manifests name none.
	Namespace string
	// Name is that of the Distribution. Empty: its tag Name, or else its ID.
	Name string
	// ByID makes tenants name the distribution and the connection groups by their IDs, not by the objects.
	ByID bool
	// ForceOwner includes what belongs to another cluster, or to an object that is gone.
	ForceOwner bool
	// Defaults are what the flags of the operator add to each object, as far as they are known.
	Defaults convert.Defaults
	// Workers is how many reads go at once. Default: 8.
	Workers int
	// Progress is told of each read, if it is not nil. No two calls of it overlap.
	Progress func(Progress)
}

// defaultWorkers keep a rate of some ten calls a second busy where an answer takes half a second.
const defaultWorkers = 8

// check refuses options that make no sense.
func (o *Options) check() error {
	if o.DistributionID == "" {
		return fmt.Errorf("no distribution is given: use the ID of one, such as E2EXAMPLE1")
	}
	if o.Name != "" && !isName(o.Name) {
		return fmt.Errorf("the name %q can't be that of an object: use lower-case letters, digits, inner hyphens and dots", o.Name)
	}
	if o.Workers <= 0 {
		o.Workers = defaultWorkers
	}
	if o.Defaults.DriftPolicy == "" {
		o.Defaults.DriftPolicy = resource.DriftEnforce
	}
	return nil
}

// now is the time that verification and grants are judged by.
func (o *Options) now() time.Time { return o.Clock.Now() }

// Fleet is what was found, and the manifests for it.
type Fleet struct {
	DistributionID, Namespace string
	// ID is that of the cluster, empty where it is not known.
	ClusterID string

	// Distribution is nil where it is not written. Groups and Tenants are in the order of their names in AWS.
	Distribution *Entry
	Groups       []*Entry
	Tenants      []*Entry
	// Skipped is everything that is not written.
	Skipped []Skipped
	// Grant is what the namespace needs in addition, nil where it needs nothing or that is not known.
	Grant *Grant
	// Tools are others that manage what is written.
	Tools []Tool
	// Read counts what was read.
	Read Read
}

// Entries are all that is written, parents first.
func (f *Fleet) Entries() []*Entry {
	var all []*Entry
	if f.Distribution != nil {
		all = append(all, f.Distribution)
	}
	return append(append(all, f.Groups...), f.Tenants...)
}

// Import reads a fleet and makes the manifests for it. An error means that nothing is known of the fleet as a whole.
func Import(ctx context.Context, o Options) (*Fleet, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	r := &reader{Options: o}
	if err := r.readAll(ctx); err != nil {
		return nil, err
	}
	schemas, err := theSchemas()
	if err != nil {
		return nil, err
	}
	b := &builder{Options: o, reader: r, schemas: schemas, fleet: &Fleet{
		DistributionID: o.DistributionID, Namespace: o.Namespace, ClusterID: o.Cluster.ClusterID(), Read: r.counts(),
	}}
	return b.build(ctx)
}

// kinds of objects, as manifests name them.
const (
	kindDistribution = "Distribution"
	kindGroup        = "ConnectionGroup"
	kindTenant       = "DistributionTenant"
)

// apiVersion is that of all three.
var apiVersion = v1alpha1.SchemeGroupVersion.String()

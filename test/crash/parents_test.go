package crash_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// parentKind is what differs between the kinds that tenants refer to.
type parentKind struct {
	// name begins the names of its lifecycles, object is that of the object.
	name, object           string
	create, update, remove string
	read                   string
	// fresh makes an object with a spec, empty one without.
	fresh, empty func() client.Object
	// change edits the spec of the object.
	change func(o client.Object)
	// refer hangs a tenant on the object.
	refer func(o *tenantObject)
	// wanted is what the spec decides of the configuration, to be compared with that of the resource.
	wanted func(o client.Object) any
	// disable and destroy are the actions of a user in AWS.
	disable func(s *stage, id, etag string) error
	destroy func(s *stage, id, etag string) error
}

// parentResource is a distribution or a connection group.
type parentResource struct {
	kind    *parentKind
	ID, ARN string
	// Reference is what its creator named it by.
	Reference    string
	ETag, Status string
	Enabled      bool
	Endpoint     string
	Tags         map[string]string
	Tenants      int
	Config       any
}

// distributionConfig is what the lifecycles change of a distribution.
type distributionConfig struct {
	Comment     string              `json:"comment"`
	Origin      string              `json:"origin"`
	Certificate string              `json:"certificate"`
	Parameters  []sim.SeedParameter `json:"parameters"`
}

// groupConfig is the same of a connection group.
type groupConfig struct {
	IPv6 bool `json:"ipv6"`
}

var distributions = &parentKind{
	name: "dist", object: "site",
	create: "CreateDistributionWithTags", update: "UpdateDistribution", remove: "DeleteDistribution", read: "GetDistribution",
	fresh: func() client.Object { return newDistribution() },
	empty: func() client.Object { return &v1alpha1.Distribution{} },
	change: func(o client.Object) {
		d := o.(*v1alpha1.Distribution)
		d.Spec.Comment, d.Spec.Origins[0].DomainName = "edited", "new.example.com"
	},
	refer: func(o *tenantObject) {
		o.Spec.DistributionID, o.Spec.DistributionRef = "", &v1alpha1.ObjectReference{Name: "site"}
	},
	wanted: func(o client.Object) any {
		d := o.(*v1alpha1.Distribution).Spec
		c := distributionConfig{Comment: d.Comment, Origin: d.Origins[0].DomainName, Certificate: d.ViewerCertificate.ACMCertificateARN}
		for _, p := range d.TenantConfig.ParameterDefinitions {
			c.Parameters = append(c.Parameters, sim.SeedParameter{Name: p.Name, Default: p.Definition.StringSchema.DefaultValue})
		}
		return c
	},
	disable: func(s *stage, id, etag string) error {
		out, err := s.cloud().GetDistributionConfig(s.ctx, &cloudfront.GetDistributionConfigInput{Id: &id})
		if err != nil {
			return fmt.Errorf("reading it: %w", err)
		}
		out.DistributionConfig.Enabled = awssdk.Bool(false)
		_, err = s.cloud().UpdateDistribution(s.ctx, &cloudfront.UpdateDistributionInput{Id: &id, IfMatch: &etag, DistributionConfig: out.DistributionConfig})
		return err
	},
	destroy: func(s *stage, id, etag string) error {
		_, err := s.cloud().DeleteDistribution(s.ctx, &cloudfront.DeleteDistributionInput{Id: &id, IfMatch: &etag})
		return err
	},
}

var groups = &parentKind{
	name: "group", object: "edge",
	create: "CreateConnectionGroup", update: "UpdateConnectionGroup", remove: "DeleteConnectionGroup", read: "GetConnectionGroup",
	fresh: func() client.Object {
		g := &v1alpha1.ConnectionGroup{}
		g.Spec.Tags = parentTags()
		return g
	},
	empty:  func() client.Object { return &v1alpha1.ConnectionGroup{} },
	change: func(o client.Object) { o.(*v1alpha1.ConnectionGroup).Spec.IPv6Enabled = awssdk.Bool(false) },
	refer: func(o *tenantObject) {
		o.Spec.ConnectionGroupRef = &v1alpha1.ObjectReference{Name: "edge"}
	},
	wanted: func(o client.Object) any {
		ipv6 := o.(*v1alpha1.ConnectionGroup).Spec.IPv6Enabled
		return groupConfig{IPv6: ipv6 == nil || *ipv6}
	},
	disable: func(s *stage, id, etag string) error {
		_, err := s.cloud().UpdateConnectionGroup(s.ctx, &cloudfront.UpdateConnectionGroupInput{Id: &id, IfMatch: &etag, Enabled: awssdk.Bool(false)})
		return err
	},
	destroy: func(s *stage, id, etag string) error {
		_, err := s.cloud().DeleteConnectionGroup(s.ctx, &cloudfront.DeleteConnectionGroupInput{Id: &id, IfMatch: &etag})
		return err
	},
}

func parentTags() []v1alpha1.Tag {
	return []v1alpha1.Tag{{Key: "team", Value: "edge"}, {Key: "cost", Value: "4711"}}
}

// newDistribution is a multi-tenant distribution for the tenants that the lifecycles make.
func newDistribution() *v1alpha1.Distribution {
	d := &v1alpha1.Distribution{}
	d.Spec.Comment = "made by the crash campaign"
	d.Spec.Origins = []v1alpha1.Origin{{ID: "app", DomainName: "app.example.com", CustomOriginConfig: &v1alpha1.CustomOriginConfig{}}}
	d.Spec.DefaultCacheBehavior = &v1alpha1.CacheBehaviorSettings{
		TargetOriginID: "app", ViewerProtocolPolicy: "redirect-to-https", CachePolicyID: "4135ea2d-6df8-44a3-9df3-4b5a84be39ad",
	}
	d.Spec.ViewerCertificate = &v1alpha1.ViewerCertificate{ACMCertificateARN: sim.DefaultCertificateARN}
	d.Spec.TenantConfig = &v1alpha1.TenantConfig{ParameterDefinitions: []v1alpha1.ParameterDefinition{{
		Name: "tier", Definition: &v1alpha1.ParameterSchema{StringSchema: &v1alpha1.StringSchema{Required: awssdk.Bool(false), DefaultValue: "basic"}},
	}}}
	d.Spec.Tags = parentTags()
	return d
}

// parentObject is an object of either kind.
type parentObject struct {
	client.Object

	kind     *parentKind
	policies *v1alpha1.ResourcePolicies
	status   *v1alpha1.ResourceStatus
	whole    any
}

func parentOf(o client.Object) parentObject {
	switch o := o.(type) {
	case *v1alpha1.Distribution:
		return parentObject{o, distributions, &o.Spec.ResourcePolicies, &o.Status.ResourceStatus, &o.Status}
	case *v1alpha1.ConnectionGroup:
		return parentObject{o, groups, &o.Spec.ResourcePolicies, &o.Status.ResourceStatus, &o.Status}
	}
	panic(fmt.Sprintf("%T is no kind that tenants refer to", o))
}

// brief renders the status without times, versions and prose.
func (o parentObject) brief() string {
	text, err := json.Marshal(o.whole)
	fields := map[string]any{}
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	delete(fields, "eTag")
	delete(fields, "lastModifiedTime")
	// As that of a tenant, it is learned once an hour, and at each start.
	delete(fields, "certificate")
	if d := o.status.Deletion; d != nil {
		fields["deletion"] = d.Step
	}
	fields["conditions"] = conditionTexts(o.status.Conditions)
	if err == nil {
		text, err = json.Marshal(fields)
	}
	if err != nil {
		panic(err)
	}
	return string(text)
}

// parents are the objects of both kinds as they are now.
func (s *stage) parents() (out []parentObject) {
	if !s.lifecycle.parents {
		return nil
	}
	for _, o := range s.all() {
		switch o.(type) {
		case *v1alpha1.Distribution, *v1alpha1.ConnectionGroup:
			out = append(out, parentOf(o))
		}
	}
	return out
}

// parent reads an object past every cache.
func (s *stage) parent(k *parentKind) (parentObject, bool) {
	o := k.empty()
	err := s.rig.kube.Get(s.ctx, client.ObjectKey{Namespace: s.namespace, Name: k.object}, o)
	if client.IgnoreNotFound(err) != nil {
		s.fatal("harness", "reading %s: %v", k.object, err)
	}
	return parentOf(o), err == nil
}

// parentResources are all distributions and connection groups, those of other people too.
func (s *stage) parentResources() (out []parentResource) {
	for _, d := range s.sim.Distributions("") {
		out = append(out, parentResource{
			kind: distributions, ID: d.ID, ARN: d.ARN, Reference: d.CallerReference, ETag: d.ETag, Status: d.Status, Enabled: d.Enabled,
			Endpoint: d.DomainName, Tags: d.Tags, Tenants: d.Tenants,
			Config: distributionConfig{Comment: d.Comment, Origin: firstOrigin(d.Config), Certificate: d.CertificateARN, Parameters: d.Parameters},
		})
	}
	for _, g := range s.sim.ConnectionGroups("") {
		if !g.Default {
			out = append(out, parentResource{
				kind: groups, ID: g.ID, ARN: g.ARN, Reference: g.Name, ETag: g.ETag, Status: g.Status, Enabled: g.Enabled,
				Endpoint: g.RoutingEndpoint, Tags: g.Tags, Tenants: g.Tenants, Config: groupConfig{IPv6: g.IPv6},
			})
		}
	}
	return out
}

// firstOrigin digs the domain of the first origin out of a whole configuration.
func firstOrigin(config map[string]any) string {
	origins, _ := config["Origins"].(map[string]any)
	items, _ := origins["Items"].([]any)
	if len(items) == 0 {
		return ""
	}
	origin, _ := items[0].(map[string]any)
	return fmt.Sprint(origin["DomainName"])
}

// ourParents are those that were not there from the start. The default connection group belongs to no one.
func (s *stage) ourParents() []parentResource {
	return slices.DeleteFunc(s.parentResources(), func(r parentResource) bool {
		_, theirs := s.theirParents[r.ID]
		return theirs
	})
}

// parentIn finds the resource that a request names by its ID or ARN.
func (s *stage) parentIn(target string) (parentResource, bool) {
	for _, r := range s.parentResources() {
		if strings.Contains(target, "/"+r.ID) {
			return r, true
		}
	}
	return parentResource{}, false
}

// resourceOf is what AWS has of the object.
func (s *stage) resourceOf(o parentObject) (parentResource, bool) {
	for _, r := range s.ourParents() {
		if r.Tags[uidTag] == string(o.GetUID()) {
			return r, true
		}
	}
	return parentResource{}, false
}

// idOf is the ID of the resource that was made for an object of that name.
func (s *stage) idOf(name string) string {
	for _, r := range s.ourParents() {
		if r.Tags[nameTag] == name {
			return r.ID
		}
	}
	return ""
}

// distributionOf is the ID of the distribution that the spec names.
func (s *stage) distributionOf(o *tenantObject) string {
	if r := o.Spec.DistributionRef; r != nil {
		return s.idOf(r.Name)
	}
	return o.Spec.DistributionID
}

func (s *stage) describeParents() string {
	text := ""
	for _, o := range s.parents() {
		text += fmt.Sprintf("  %s %s generation %d deleted %t finalizers %v annotations %v\n    status %s\n",
			o.kind.name, o.GetName(), o.GetGeneration(), o.GetDeletionTimestamp() != nil, o.GetFinalizers(), o.GetAnnotations(), o.brief())
	}
	for _, r := range s.ourParents() {
		text += fmt.Sprintf("  %s %s %s enabled %t %s tenants %d tags %v\n", r.kind.name, r.Reference, r.ID, r.Enabled, r.Status, r.Tenants, r.Tags)
	}
	return text
}

// parentsOutcome is what is left of ours in AWS, without what differs from run to run.
func (s *stage) parentsOutcome(clean *strings.Replacer) json.RawMessage {
	type left struct {
		Kind      string            `json:"kind"`
		Reference string            `json:"reference"`
		Status    string            `json:"status"`
		Enabled   bool              `json:"enabled"`
		Tenants   int               `json:"tenants"`
		Tags      map[string]string `json:"tags,omitempty"`
		Config    any               `json:"config"`
	}
	var all []left
	for _, r := range s.ourParents() {
		all = append(all, left{r.kind.name, r.Reference, r.Status, r.Enabled, r.Tenants, r.Tags, r.Config})
	}
	if len(all) == 0 {
		return nil
	}
	return cleaned(clean, all)
}

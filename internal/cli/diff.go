package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/awsresource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/keyvalues"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

// Differs ends a diff that has found differences. It is not a failure.
type Differs struct{}

// Error implements error.
func (Differs) Error() string { return "there are differences" }

// ExitCode is that of diff.
func (Differs) ExitCode() int { return 1 }

func diffCommand(s *session) *cobra.Command {
	file := ""
	c := &cobra.Command{
		Use: "diff [NAME...]", GroupID: withAWS, Short: "Show how tenants in AWS differ from their spec, or what manifests would change",
		Long: "Show how tenants in AWS differ from their spec or, with -f, what manifests would change in AWS. The operator's own code\n" +
			"compares them, and a manifest is first tried on the API server without storing it. Without names, these are the tenants\n" +
			"of the current namespace or, with -A, of all. As with kubectl diff, the exit code is 0 without differences, 1 with some,\n" +
			"and 2 after an error.",
		Example: "  kubectl cfdt diff acme -n shop\n  kubectl cfdt diff -f tenants.yaml\n  kubectl cfdt diff -f tenants.yaml -o json",
	}
	c.Flags().StringVarP(&file, "filename", "f", "", "manifests to compare instead of the objects in the cluster; - is the standard input")
	s.cluster.addAll(c)
	flags, out := awsFlagsOf(c), outputOf(c)
	c.RunE = run(func(ctx context.Context, args []string) error {
		objects, err := s.wanted(ctx, args, file)
		if err != nil {
			return err
		}
		d, err := s.compare(ctx, flags, objects)
		if err != nil {
			return err
		}
		if err := s.print(out, "Differences", d); err != nil {
			return err
		}
		if d.differs() {
			return Differs{}
		}
		return nil
	})
	return c
}

// wanted are the objects to compare: those of a file as the API server would store them, or those in the cluster.
func (s *session) wanted(ctx context.Context, names []string, file string) ([]*v1alpha1.DistributionTenant, error) {
	switch {
	case file != "" && len(names) > 0:
		return nil, fmt.Errorf("use either names or --filename")
	case file != "":
		return s.manifests(ctx, file)
	case len(names) == 0:
		f, err := s.load(ctx, kindTenant)
		if err != nil {
			return nil, err
		}
		return f.Tenants(), nil
	}
	var out []*v1alpha1.DistributionTenant
	for _, name := range names {
		item, err := s.get(ctx, "cfdt/"+name)
		if err != nil {
			return nil, err
		}
		out = append(out, item.Object.(*v1alpha1.DistributionTenant)) //nolint:forcetypeassert // that was asked for
	}
	return out, nil
}

// compare asks the operator's own controller, which reads AWS with the user's credentials.
func (s *session) compare(ctx context.Context, flags *awsFlags, objects []*v1alpha1.DistributionTenant) (differences, error) {
	run, err := s.settings(ctx)
	if err != nil && flags.clusterID == "" {
		return differences{}, fmt.Errorf("%w. Say with --cluster-id what the owner tags name", err)
	}
	id, err := s.clusterID(ctx, flags, run)
	if err != nil {
		return differences{}, err
	}
	cloud, err := s.cloud(ctx, flags, id)
	if err != nil {
		return differences{}, err
	}
	c, err := s.client()
	if err != nil {
		return differences{}, err
	}
	tags, err := convert.Tags(run["default-tags"])
	if err != nil {
		return differences{}, fmt.Errorf("the operator's --default-tags: %w", err)
	}
	controller := distributiontenant.New(distributiontenant.Options{
		Shared: awsresource.Shared{
			Client: c, Accounts: cloud.Accounts, Clock: clock.RealClock{}, ClusterID: id,
			Defaults: convert.Defaults{DriftPolicy: resource.DriftEnforce, Tags: tags, Allows: func(string) bool { return true }},
		},
		KeyValues: keyvalues.New(keyvalues.Options{Of: cloud.Accounts.KeyValues, Clock: clock.RealClock{}}),
		Live:      c, Zones: zone.New(zone.Options{Providers: zone.Providers{}.Always(), Clock: clock.RealClock{}}),
	})
	var out differences
	for _, o := range objects {
		d := difference{Name: o.Namespace + "/" + o.Name}
		err := s.patiently(ctx, "Preview", d.Name, func(ctx context.Context) error {
			preview, err := controller.Preview(ctx, o)
			d.take(o, preview)
			return err
		})
		if err != nil {
			return out, fmt.Errorf("%s: %w", d.Name, err)
		}
		out.Tenants = append(out.Tenants, d)
	}
	return out, nil
}

// differences is the answer of diff.
type differences struct {
	Tenants []difference `json:"tenants"`
}

type difference struct {
	Name string `json:"name"`
	ID   string `json:"id,omitempty"`
	// Action is what the operator would do: Create, Adopt, Update, Delete, or None.
	Action  string      `json:"action"`
	Note    string      `json:"note,omitempty"`
	Changes []fieldDiff `json:"changes,omitempty"`
	Kept    []fieldDiff `json:"kept,omitempty"`
}

type fieldDiff struct {
	Field string `json:"field"`
	AWS   string `json:"aws,omitempty"`
	Spec  string `json:"spec,omitempty"`
}

// The actions.
const (
	actionNone   = "None"
	actionCreate = "Create"
	actionAdopt  = "Adopt"
	actionUpdate = "Update"
	actionDelete = "Delete"
)

func (d *difference) take(o *v1alpha1.DistributionTenant, p distributiontenant.Preview) {
	d.ID, d.Note = p.ID, p.Wrong
	d.Changes, d.Kept = fieldDiffs(p.Changes), fieldDiffs(p.Kept)
	switch {
	case p.Wrong != "":
		d.Action = actionNone
	case o.DeletionTimestamp != nil && p.ID != "" && p.Owned && o.Spec.DeletionPolicy != v1alpha1.DeletionPolicyRetain:
		d.Action = actionDelete
	case o.DeletionTimestamp != nil:
		d.Action = actionNone
	case p.ID == "":
		d.Action = actionCreate
	case p.Adoptable:
		d.Action = actionAdopt
	case !p.Owned:
		d.Action, d.Note = actionNone, fmt.Sprintf("a distribution tenant named %s exists and is not the object's: set spec.adoptionPolicy to adopt it", p.Name)
	case len(p.Changes) > 0:
		d.Action = actionUpdate
	default:
		d.Action = actionNone
	}
}

func fieldDiffs(list []resource.Difference) (out []fieldDiff) {
	for _, d := range list {
		out = append(out, fieldDiff{Field: d.Field, AWS: d.Observed, Spec: d.Desired})
	}
	return out
}

func (d differences) differs() bool {
	for _, t := range d.Tenants {
		if t.Action != actionNone || t.Note != "" {
			return true
		}
	}
	return false
}

func (d differences) text(p *page) {
	same := 0
	for _, t := range d.Tenants {
		if t.Action == actionNone && t.Note == "" && len(t.Kept) == 0 {
			same++
			continue
		}
		t.text(p)
	}
	if same > 0 {
		p.line("%s in AWS as in the spec", count(same, "tenant is", "tenants are"))
	}
}

func (d difference) text(p *page) {
	what := map[string]string{
		actionNone: "nothing would be written", actionCreate: "would be created", actionAdopt: "would be adopted", actionUpdate: "would be updated", actionDelete: "would be deleted",
	}[d.Action]
	p.line("%s   %s", p.paint(bold, d.Name), p.paint(yellow, what))
	if d.Note != "" {
		p.wrapped("  ", d.Note)
	}
	t := table{}
	if len(d.Changes) > 0 {
		t.head = []string{"  FIELD", "AWS", "SPEC"}
	}
	for _, f := range d.Changes {
		t.addColored([]string{"", red, green}, "  "+f.Field, orNothing(f.AWS), orNothing(f.Spec))
	}
	for _, f := range d.Kept {
		t.addColored([]string{faint, faint, faint}, "  "+f.Field, orNothing(f.AWS), orNothing(f.Spec), "kept for now")
	}
	p.table(t)
}

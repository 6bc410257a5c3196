package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/fleet"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/importing"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
)

// importFlags are those of import besides those of AWS.
type importFlags struct {
	distribution, name, state string
	byID, force, offline      bool
	folder                    importing.Folder
}

func importCommand(s *session) *cobra.Command {
	f := &importFlags{}
	c := &cobra.Command{
		Use: "import --distribution ID --output-dir FOLDER", GroupID: withAWS, Args: cobra.NoArgs,
		Short: "Export a distribution in AWS, its connection groups and its tenants as manifests",
		Long: "Export a distribution in AWS, its connection groups and its tenants as manifests, however they were made. Nothing\n" +
			"is changed in AWS or in the cluster. The operator's own rules then say for each manifest what it would change when it is\n" +
			"applied, which should be owner tags only. What differs, and what was left out, is listed in DIFFERENCES.md.",
		Example: "  kubectl cfdt import --distribution E2EXAMPLE1 -n shop --output-dir fleet\n" +
			"  kubectl cfdt import --distribution E2EXAMPLE1 -n shop --output-dir fleet --terraform-state terraform.tfstate",
	}
	flags := c.Flags()
	flags.StringVar(&f.distribution, "distribution", "", "ID of the distribution")
	flags.StringVar(&f.folder.Path, "output-dir", "", "folder for the manifests")
	flags.StringVar(&f.name, "name", "", "name of the Distribution object; by default its tag Name, or else its ID")
	flags.BoolVar(&f.byID, "by-id", false, "let tenants name the distribution and connection groups by their IDs, not by their objects")
	flags.BoolVar(&f.force, "force-owner", false, "include what belongs to another cluster or to an object that is gone, with adoptionPolicy Force")
	flags.BoolVar(&f.folder.Overwrite, "overwrite", false, "replace what an earlier import has written in the folder")
	flags.IntVar(&f.folder.PerFile, "tenants-per-file", 0, "how many tenants a file has; by default one, or more if there are more than 1000")
	flags.StringVar(&f.state, "terraform-state", "", "state file, or output of terraform show -json, that has the addresses for removed.tf")
	flags.BoolVar(&f.offline, "without-cluster", false, "do not read the cluster; treat all owner tags as another cluster's")
	aws := awsFlagsOf(c)
	for _, name := range []string{"distribution", "output-dir"} {
		if err := c.MarkFlagRequired(name); err != nil {
			panic(err) // the flag is defined above
		}
	}
	c.RunE = run(func(ctx context.Context, _ []string) error { return importRun{session: s, flags: f, aws: aws}.do(ctx) })
	return c
}

// importRun is one run of import.
type importRun struct {
	*session

	flags *importFlags
	aws   *awsFlags
}

func (r importRun) do(ctx context.Context) error {
	f := r.flags
	if err := f.folder.Check(); err != nil {
		return err
	}
	if f.state != "" {
		text, err := os.ReadFile(f.state)
		if err != nil {
			return fmt.Errorf("reading the state of Terraform: %w", err)
		}
		if f.folder.State, err = importing.ReadState(text); err != nil {
			return err
		}
	}
	o := importing.Options{
		Clock: clock.RealClock{}, DistributionID: f.distribution, Name: f.name, ByID: f.byID, ForceOwner: f.force,
	}
	var end func()
	o.Progress, end = progress(r.Clock, r.Streams.ErrOut)
	if err := r.surroundings(ctx, &o); err != nil {
		return err
	}
	cloud, err := r.cloud(ctx, r.aws, o.Cluster.ClusterID())
	if err != nil {
		return err
	}
	o.AWS = cloud.Accounts.Own().CloudFront
	found, err := importing.Import(ctx, o)
	end()
	if err != nil {
		return plainly(err)
	}
	files, err := f.folder.Write(found)
	if err != nil {
		return err
	}
	fmt.Fprint(r.Streams.Out, Plain(found.Summary(f.folder.Path, files)))
	return nil
}

// surroundings finds out what there is in the cluster, and how its operator runs.
func (r importRun) surroundings(ctx context.Context, o *importing.Options) error {
	o.Namespace = r.cluster.chosen()
	if r.flags.offline {
		return nil
	}
	var err error
	if o.Namespace, err = r.cluster.namespace(); err != nil {
		return err
	}
	// A user who may not see the operator's Deployment gives the name of the cluster, and learns nothing of grants.
	run, _ := r.settings(ctx)
	id, err := r.clusterID(ctx, r.aws, run)
	if err != nil {
		return err
	}
	kube, err := r.client()
	if err != nil {
		return err
	}
	if o.Cluster, err = importing.Look(ctx, kube, id); err != nil {
		return fmt.Errorf("%w. To import without a look at it, use --without-cluster", err)
	}
	if run == nil {
		return nil
	}
	return runningAs(ctx, run, kube, o)
}

// runningAs takes over what the operator's flags say of every object.
func runningAs(ctx context.Context, run settings, kube client.Reader, o *importing.Options) error {
	var err error
	o.Defaults.DriftPolicy = resource.DriftPolicy(run["drift-policy"])
	if o.Defaults.Tags, err = convert.Tags(run["default-tags"]); err != nil {
		return fmt.Errorf("reading the operator's default tags: %w", err)
	}
	mode := grants.Mode(cmp.Or(run["grants"], string(grants.Off)))
	if mode == grants.Off {
		return nil
	}
	fallback, err := convert.DefaultGrant(run["default-grant"])
	if err != nil {
		return fmt.Errorf("reading the operator's default grant: %w", err)
	}
	o.Cluster.Granted, err = importing.GrantedTo(ctx, fleet.Grants(kube, mode, fallback), o.Namespace)
	return err
}

// How often the progress is shown: on a terminal in one line, elsewhere as lines of a log.
const (
	shownEvery  = 200 * time.Millisecond
	loggedEvery = 15 * time.Second
)

// progress shows how far the reading has come, until end is called.
func progress(c clock.PassiveClock, w io.Writer) (show func(importing.Progress), end func()) {
	file, ok := w.(*os.File)
	terminal := ok && term.IsTerminal(int(file.Fd()))
	every := loggedEvery
	if terminal {
		every = shownEvery
	}
	last := c.Now()
	show = func(p importing.Progress) {
		if c.Since(last) < every {
			return
		}
		last = c.Now()
		if terminal {
			fmt.Fprintf(w, "\r\x1b[K%s", p)
			return
		}
		fmt.Fprintln(w, p)
	}
	return show, func() {
		if terminal {
			fmt.Fprint(w, "\r\x1b[K")
		}
	}
}

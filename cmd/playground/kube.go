package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

const (
	// namespace is the one that commands without -n mean.
	namespace = "default"
	// patience is how long one step of the story may take. A step takes up to 20 s
	// on an idle machine.
	patience = 2 * time.Minute
	// settleTime gathers changes that come together into one table.
	settleTime = time.Second
)

// kube is our side of the Kubernetes API: kubectl for what readers should see, a watch for knowing when there is
// something to see.
type kube struct {
	w      *world
	client client.Client

	cache   cache.Cache
	stop    func()
	changed chan struct{}
	// shown is the last table without the ages, and noted whether it was said what is missing.
	shown string
	noted bool
	// samplesReady is when the samples were.
	samplesReady time.Time
}

func newKube(w *world) (*kube, error) {
	c, err := w.host.Client()
	return &kube{w: w, client: c, stop: func() {}, changed: make(chan struct{}, 1)}, err
}

// watch begins to follow all tenants.
func (k *kube) watch(ctx context.Context) error {
	var err error
	if k.cache, err = cache.New(k.w.controlPlane.RESTConfig(), cache.Options{Scheme: k.client.Scheme()}); err != nil {
		return fmt.Errorf("creating a cache of tenants: %w", err)
	}
	informer, err := k.cache.GetInformer(ctx, &v1alpha1.DistributionTenant{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching tenants: %w", err)
	}
	signal := func() {
		select {
		case k.changed <- struct{}{}:
		default: // one is pending
		}
	}
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { signal() }, UpdateFunc: func(any, any) { signal() }, DeleteFunc: func(any) { signal() },
	}); err != nil {
		return fmt.Errorf("watching tenants: %w", err)
	}
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = k.cache.Start(watching) // without it the first list does not come, which is an error below
	}()
	k.stop = func() {
		cancel()
		<-ended // before the API server goes, or the watch would complain
	}
	if !k.cache.WaitForCacheSync(ctx) {
		return errors.New("watching tenants: the first list did not arrive")
	}
	return nil
}

// ctl runs kubectl in the checkout and returns all that it printed.
func (k *kube) ctl(ctx context.Context, stdin string, args ...string) (string, error) {
	var out bytes.Buffer
	err := k.w.tools.Run(ctx, process.Command{
		Name: typed(args), Path: filepath.Join(k.w.binaries, "kubectl"), Args: args, Dir: k.w.root, Env: k.w.host.Env(),
		Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &out,
	})
	return out.String(), err
}

// typed is how one types a command.
func typed(args []string) string {
	words := []string{"kubectl"}
	for _, arg := range args {
		words = append(words, quote(arg))
	}
	return strings.Join(words, " ")
}

// quote quotes what a shell would take apart.
func quote(word string) string {
	switch {
	case !strings.ContainsAny(word, `'"{}[]*?$&;|<>() `):
		return word
	case strings.Contains(word, "'"):
		return `"` + word + `"`
	default:
		return "'" + word + "'"
	}
}

// fleet is the tenants by name.
type fleet map[string]*v1alpha1.DistributionTenant

func (k *kube) fleet(ctx context.Context) (fleet, error) {
	var list v1alpha1.DistributionTenantList
	if err := k.cache.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing tenants: %w", err)
	}
	tenants := fleet{}
	for i := range list.Items {
		tenants[list.Items[i].Name] = &list.Items[i]
	}
	return tenants, nil
}

// goal names the tenants that a wait is still waiting for.
type goal func(fleet) []string

// until shows the table of these tenants, or of all, each time that it changes, until the goal
// is reached.
func (k *kube) until(what string, reached goal, names ...string) step {
	return func(ctx context.Context) error {
		bounded, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		for {
			tenants, err := k.fleet(bounded)
			if err != nil {
				return err
			}
			missing := reached(tenants)
			if err := k.showTable(bounded, names); err != nil {
				return err
			}
			if len(missing) == 0 {
				return nil
			}
			if !k.hasChanged(bounded) {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				return k.timedOut(ctx, what+", for "+strings.Join(missing, ", "), k.sayTenants(missing...))
			}
		}
	}
}

// hasChanged waits until a tenant has changed, and a moment more: changes come together. It is false once the time is up.
func (k *kube) hasChanged(ctx context.Context) bool {
	select {
	case <-k.changed:
	case <-ctx.Done():
		return false
	}
	select {
	case <-time.After(settleTime):
	case <-ctx.Done():
	}
	return true
}

// showTable shows the columns that fit a terminal, unless they are as before.
func (k *kube) showTable(ctx context.Context, names []string) error {
	args := slices.Concat([]string{"get", "cfdt"}, names, []string{"-o", "wide", "--ignore-not-found"})
	out, err := k.ctl(ctx, "", args...)
	if err != nil {
		return fmt.Errorf("listing tenants with kubectl: %w: %s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	id, age := strings.Index(lines[0], "ID "), strings.Index(lines[0], "AGE")
	reason, end := strings.Index(lines[0], "REASON"), strings.Index(lines[0], "DISTRIBUTION")
	if id < 0 || age < 0 || reason < 0 || end < 0 {
		return nil // there are no tenants any more
	}
	var compared strings.Builder
	for i, line := range lines {
		line += strings.Repeat(" ", max(0, end-len(line))) // columns at the end may be empty
		lines[i] = strings.TrimRight(line[:id]+line[age:end], " ")
		fmt.Fprintln(&compared, line[:age], line[reason:end])
	}
	if compared.String() == k.shown {
		return nil
	}
	note := ""
	if !k.noted {
		note = "; the columns ID and DISTRIBUTION are omitted here"
	}
	k.shown, k.noted = compared.String(), true
	k.w.say.command(fmt.Sprintf("kubectl %s    # after %s%s", strings.Join(args[:len(args)-1], " "), k.w.say.elapsed(), note))
	k.w.say.output(strings.Join(lines, "\n"))
	return nil
}

// timedOut tells all that is known about tenants that did not get where they should.
func (k *kube) timedOut(ctx context.Context, what string, explain func(context.Context)) error {
	k.w.say.heading(fmt.Sprintf("Timed out after %s waiting until %s", patience, what))
	explain(ctx)
	k.w.say.line("\nLast log lines of the operator:\n%s", k.w.operator.Child().LogTail(20))
	return fmt.Errorf("timed out after %[2]s waiting until %[1]s; use --keep-logs to keep the logs", what, patience)
}

// sayTenants says what is known of tenants.
func (k *kube) sayTenants(names ...string) func(context.Context) {
	return func(ctx context.Context) {
		tenants, _ := k.fleet(ctx) // it is empty then
		for _, name := range names {
			o, ok := tenants[name]
			if !ok {
				k.w.say.line("%s: the object does not exist", name)
				continue
			}
			k.w.say.line("%s: generation %d, observed %d, applied %d, tenant %s %s", name, o.Generation, o.Status.ObservedGeneration, told(o.Status.AppliedGeneration), o.Status.ID, o.Status.DistributionTenantStatus)
			k.sayConditions(o.Status.Conditions)
		}
	}
}

func (k *kube) sayConditions(conditions []metav1.Condition) {
	for _, c := range conditions {
		k.w.say.line("  %s=%s (%s, generation %d): %s", c.Type, c.Status, c.Reason, c.ObservedGeneration, c.Message)
	}
}

// has reports whether a condition of the present generation has one of the reasons.
func has(o *v1alpha1.DistributionTenant, condition string, reasons ...string) bool {
	c := meta.FindStatusCondition(o.Status.Conditions, condition)
	return c != nil && c.ObservedGeneration == o.Generation && slices.Contains(reasons, c.Reason)
}

// with is the goal that the condition of all these tenants has one of the reasons.
func with(condition string, reasons []string, names ...string) goal {
	return func(tenants fleet) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return tenants[name] != nil && has(tenants[name], condition, reasons...)
		})
	}
}

// settled is the goal that these tenants are deployed and equal to their spec.
func settled(names ...string) goal {
	ready := with(v1alpha1.ConditionReady, []string{v1alpha1.ReasonDeployed}, names...)
	synced := with(v1alpha1.ConditionSynced, []string{v1alpha1.ReasonInSync}, names...)
	return func(tenants fleet) []string {
		missing := map[string]bool{}
		for _, name := range slices.Concat(ready(tenants), synced(tenants)) {
			missing[name] = true
		}
		return slices.Sorted(maps.Keys(missing))
	}
}

// both is the goal that two goals are reached.
func both(one, other goal) goal {
	return func(tenants fleet) []string { return append(one(tenants), other(tenants)...) }
}

func byName(name string) *v1alpha1.DistributionTenant {
	return &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// told is a generation that status may not have.
func told(generation *int64) int64 {
	if generation == nil {
		return 0
	}
	return *generation
}

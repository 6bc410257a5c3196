package sources_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/sourceworld"
)

// follows are what every engine can do.
var follows = map[string]struct {
	setup setup
	test  func(*cell)
}{
	"a poll that changes nothing writes one status": {test: testQuiet},
	"rows come, change and go":                      {test: testFollow},
	"rows override the template, and the template the source": {
		setup: setup{source: overriding, rows: silver(0, size)}, test: testOverride,
	},
	"bad rows are named, and their tenants stay": {
		setup: setup{source: strict}, test: testBadRows,
	},
	"a bad row that was never a tenant stops no other row": {
		setup: setup{source: strict}, test: testNewBadRows,
	},
	"a row that gets another name is one that comes and one that goes": {test: testRename},
	"many rows that get other names are held":                          {test: testManyRenames},
	"a domain that moves from one row to another":                      {test: testMovedDomain},
}

func TestTenantsFollowTheirRows(t *testing.T) {
	for engineName, e := range engines {
		for caseName, tt := range follows {
			t.Run(engineName+"/"+caseName, func(t *testing.T) {
				t.Parallel()
				e.play(t, tt.setup, tt.test)
			})
		}
	}
}

// tenant reads a tenant.
func (c *cell) tenant(name string) v1alpha1.DistributionTenant {
	c.t.Helper()
	var o v1alpha1.DistributionTenant
	if err := c.w.Kube.Get(c.t.Context(), client.ObjectKey{Namespace: c.w.Namespace, Name: name}, &o); err != nil {
		c.t.Fatalf("reading the tenant %s: %v\n%s", name, err, c.w.Describe(customers))
	}
	return o
}

// domains are those of a tenant.
func (c *cell) domains(name string) string {
	c.t.Helper()
	var out []string
	for _, d := range c.tenant(name).Spec.Domains {
		out = append(out, d.Domain)
	}
	return strings.Join(out, " ")
}

func (c *cell) domainsAre(name, want string) {
	c.t.Helper()
	if got := c.domains(name); got != want {
		c.t.Errorf("%s has the domains %q, want %q\n%s", name, got, want, c.w.Describe(customers))
	}
}

func testQuiet(c *cell) {
	before, writes := c.objects(), c.w.Writes()
	for range 3 {
		c.poll()
	}
	c.untouched(before)
	writes.SourceStatus += 3
	if diff := cmp.Diff(writes, c.w.Writes()); diff != "" {
		c.t.Errorf("writes of three polls (-want +got):\n%s", diff)
	}
}

func testFollow(c *cell) {
	before := c.objects()
	c.put(
		with(row(size), "enabled", nil, "connection_group_id", nil),
		with(row(3), "domain", " B.new.example.com , a.NEW.example.com.,,"),
		with(row(4), "enabled", false),
		with(row(5), "connection_group_id", "cg_2"),
		with(row(6), "connection_group_id", nil),
	)
	c.remove(name(7), name(8))
	c.poll()
	c.living(names(0, size+1))
	c.expect("Ready=True/PollSucceeded", "Synced=False/DeletionPending")
	c.domainsAre(name(3), "a.new.example.com b.new.example.com")
	if o := c.tenant(name(4)); o.Spec.Enabled == nil || *o.Spec.Enabled {
		c.t.Errorf("%s is not disabled", o.Name)
	}
	if o := c.tenant(name(5)); o.Spec.ConnectionGroupID != "cg_2" {
		c.t.Errorf("%s has the connection group %q", o.Name, o.Spec.ConnectionGroupID)
	}
	if o := c.tenant(name(6)); o.Spec.ConnectionGroupID != "" {
		c.t.Errorf("%s has the connection group %q that its row has no more", o.Name, o.Spec.ConnectionGroupID)
	}
	if o := c.tenant(name(size)); o.Spec.DistributionID != sourceworld.DistributionID || !slices.Contains(o.Finalizers, v1alpha1.Finalizer) || len(o.OwnerReferences) > 0 {
		c.t.Errorf("the new tenant is %s", dump(c.t, o))
	}
	status := c.status()
	if *status.TenantsDiscovered != size-1 || *status.TenantsCreated != 1 || *status.TenantsUpdated != 4 || *status.TenantsDeleted != 0 {
		c.t.Errorf("status: %s", dump(c.t, status))
	}
	c.untouched(before, append(names(3, 7), name(size))...)

	c.w.Advance(interval - 2*time.Second)
	c.living(names(0, size+1))
	c.w.Advance(2 * time.Second)
	c.living(append(names(0, 7), names(9, size+1)...))
	c.w.Bury()
	c.poll()
	c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
	if n := c.status().DeletionsInWindow; n != 2 {
		c.t.Errorf("%d deletions are counted, want 2", n)
	}
	c.put(row(7))
	c.poll()
	c.living(append(names(0, 8), names(9, size+1)...))
	c.expect("Synced=True/InSync")
}

func overriding(_ *database.Table, o *v1alpha1.TenantSource) {
	off := false
	o.Spec.Template = &v1alpha1.TenantTemplate{
		Metadata: &v1alpha1.TemplateMetadata{Labels: map[string]v1alpha1.TemplateLabelValue{"tier": "basic", "team": "web"}},
		Spec: &v1alpha1.TemplateSpec{
			DistributionID: "E2TEMPLATE", Enabled: &off, ConnectionGroupID: "cg_template",
			Parameters: []v1alpha1.Parameter{{Name: "greeting", Value: "hello"}, {Name: "origin", Value: "main"}},
			Tags:       []v1alpha1.Tag{{Key: "cost", Value: "saas"}},
		},
	}
	o.Spec.Mapping = []v1alpha1.FieldMapping{
		{Column: "slug", Field: "parameters[greeting]"}, {Column: "plan", Field: "metadata.labels[tier]"},
	}
	o.Spec.Expressions = []v1alpha1.FieldExpression{
		{Field: "distributionId", Expression: `row.?slug.orValue("") == "special" ? "E3ROW" : dyn(null)`},
	}
}

func testOverride(c *cell) {
	c.put(
		with(row(0), "plan", nil, "slug", nil, "enabled", nil, "connection_group_id", nil),
		with(row(1), "plan", "gold", "slug", "special"),
	)
	c.poll()
	c.expect("Ready=True/PollSucceeded")
	type shape struct {
		distribution, group, greeting, origin, tier, team, tag string
		enabled                                                bool
	}
	of := func(o v1alpha1.DistributionTenant) shape {
		s := shape{distribution: o.Spec.DistributionID, group: o.Spec.ConnectionGroupID, tier: o.Labels["tier"], team: o.Labels["team"], enabled: o.Spec.Enabled != nil && *o.Spec.Enabled}
		for _, p := range o.Spec.Parameters {
			if p.Name == "greeting" {
				s.greeting = p.Value
			} else {
				s.origin = p.Value
			}
		}
		for _, tag := range o.Spec.Tags {
			s.tag += tag.Key + "=" + tag.Value
		}
		return s
	}
	want := map[string]shape{
		name(0): {distribution: "E2TEMPLATE", group: "cg_template", greeting: "hello", origin: "main", tier: "basic", team: "web", tag: "cost=saas"},
		name(1): {distribution: "E3ROW", group: "cg_1", greeting: "special", origin: "main", tier: "gold", team: "web", tag: "cost=saas", enabled: true},
		name(2): {distribution: "E2TEMPLATE", group: "cg_1", greeting: name(2), origin: "main", tier: "silver", team: "web", tag: "cost=saas", enabled: true},
	}
	got := map[string]shape{}
	for name := range want {
		got[name] = of(c.tenant(name))
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(shape{})); diff != "" {
		c.t.Errorf("tenants (-want +got):\n%s%s", diff, c.w.Describe(customers))
	}
	c.nothingDeleted()
}

// silver are rows whose plan is a word.
func silver(from, to int) []map[string]any {
	rows := usual(from, to)
	for _, row := range rows {
		row["plan"] = "silver"
	}
	return rows
}

// strict takes the name from slug and enabled from plan, columns that take any text.
func strict(_ *database.Table, o *v1alpha1.TenantSource) {
	o.Spec.Mapping = []v1alpha1.FieldMapping{{Column: "slug", Field: "name"}}
	o.Spec.Expressions = []v1alpha1.FieldExpression{{
		Field: "enabled", Expression: `row.plan == "broken" ? dyn("perhaps") : dyn(true)`,
	}}
}

// rejected are the reasons by row; several of one row are joined.
func (c *cell) rejected() map[string]string {
	c.t.Helper()
	out := map[string]string{}
	for _, r := range c.status().RejectedRows {
		out[r.Row] += r.Reason
	}
	return out
}

// rejectedAre compares the rejected rows: the key of each, and a piece of its reason.
func (c *cell) rejectedAre(want map[string]string) {
	c.t.Helper()
	got := c.rejected()
	for row, reason := range want {
		if !strings.Contains(got[row], reason) {
			c.t.Errorf("the row %q is rejected because %q, want %q", row, got[row], reason)
		}
		delete(got, row)
	}
	if len(got) > 0 {
		c.t.Errorf("rejected as well: %v", got)
	}
}

// rowKey is how status calls a row that calls itself name and has the key of the row i.
func (c *cell) rowKey(i int, name string) string {
	switch {
	case c.is(mapping.MongoDB):
		return fmt.Sprintf("customer-%03d", i)
	case c.is(mapping.Redis):
		return fmt.Sprintf("customer:customer-%03d", i)
	}
	return name
}

func testBadRows(c *cell) {
	before := c.objects()
	bad := []map[string]any{
		with(row(1), "slug", "Acme_Corp"),
		with(row(2), "domain", "https://shop.example.com/"),
		with(row(3), "plan", "broken"),
		with(row(5), "slug", name(4)),
		with(row(7), "domain", name(6)+".example.com"),
		with(row(8), "domain", nil),
	}
	c.put(bad...)
	c.put(with(row(10), "domain", "changed.example.com"), row(size))
	want := map[string]string{
		c.rowKey(1, "Acme_Corp"): `"Acme_Corp" is not a valid object name`,
		c.rowKey(2, name(2)):     `column "domain" for domains: "https://shop.example.com/" is not a domain name: write names like shop.example.com`,
		c.rowKey(3, name(3)):     `the expression for enabled: the string "perhaps" has the wrong type`,
		c.rowKey(7, name(7)):     fmt.Sprintf("the row %q also has the domain %q: a domain can belong to one tenant only", c.rowKey(6, name(6)), name(6)+".example.com"),
		c.rowKey(8, name(8)):     `column "domain" for domains`,
	}
	twin := fmt.Sprintf("another row also has the name %q", name(4))
	want[c.rowKey(4, name(4))], want[c.rowKey(5, name(4))] = twin, twin
	for range 4 {
		c.poll()
		c.expect("Ready=True/PollSucceeded", "Synced=False/RowsRejected")
		c.rejectedAre(want)
		c.living(names(0, size+1))
	}
	c.domainsAre(name(10), "changed.example.com")
	c.untouched(before, name(10), name(size))
	c.nothingDeleted()

	// Of 1 and 5 the old names no longer have a row. But the name of 1 can't be told.
	if message := c.w.Message(customers, v1alpha1.ConditionSynced); !strings.Contains(message, "1 row has no usable name and could belong to any tenant, so 2 deletions wait until this is fixed") {
		c.t.Errorf("Synced says: %s", message)
	}
	c.put(usual(0, 10)...)
	c.poll()
	c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
	c.living(names(0, size+1))
	c.nothingDeleted()
}

func testNewBadRows(c *cell) {
	before := c.objects()
	c.put(with(row(size), "slug", nil), with(row(size+1), "domain", "no domain"), with(row(size+2), "domain", name(3)+".example.com"))
	c.remove(name(9))
	for range 3 {
		c.poll()
		c.living(names(0, size))
	}
	c.expect("Ready=True/PollSucceeded", "Synced=False/RowsRejected")
	if n := c.status().RejectedRowsTotal; n != 3 {
		c.t.Errorf("%d rows are rejected, want 3\n%s", n, c.w.Describe(customers))
	}
	c.untouched(maps.Clone(before))
	c.remove(name(size))
	c.poll()
	c.untouched(maps.Clone(before))
	c.poll()
	c.untouched(before, name(9))
	c.living(append(names(0, 9), names(10, size)...))
}

func testRename(c *cell) {
	before := c.objects()
	c.remove(name(3))
	c.put(with(row(3), "name", "renamed-003", "slug", "renamed-003"))
	c.poll()
	c.expect("Ready=True/PollSucceeded", "Synced=False/DeletionPending")
	c.living(append(names(0, size), "renamed-003"))
	c.poll()
	c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
	c.living(append(append(names(0, 3), names(4, size)...), "renamed-003"))
	c.domainsAre("renamed-003", name(3)+".example.com")
	c.untouched(before, name(3), "renamed-003")
}

func testManyRenames(c *cell) {
	before := c.objects()
	c.remove(names(0, size-1)...)
	for i := range size - 1 {
		c.put(with(row(i), "name", "renamed-"+name(i)))
	}
	c.w.Advance(time.Hour)
	c.expect("Ready=False/DeletionHeld", "Synced=False/DeletionHeld")
	c.says(withoutRow(size - 1))
	if n := len(c.w.Living()); n != 2*size-1 {
		c.t.Errorf("%d tenants, want the new ones and the old ones", n)
	}
	for name, object := range c.objects() {
		if strings.HasPrefix(name, "renamed-") {
			before[name] = object
		}
	}
	c.untouched(before)
	c.nothingDeleted()
	c.approve()
	c.settle()
	for i := range size - 1 {
		delete(before, name(i))
	}
	c.untouched(before)
}

func testMovedDomain(c *cell) {
	c.put(with(row(1), "domain", "one.example.com"), with(row(2), "domain", name(1)+".example.com, "+name(2)+".example.com"))
	c.poll()
	c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
	c.domainsAre(name(1), "one.example.com")
	c.domainsAre(name(2), name(1)+".example.com "+name(2)+".example.com")
	c.nothingDeleted()
}

package convert

import (
	"cmp"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

// StateTable is what a source says of its state table.
type StateTable struct {
	Provider mapping.Provider
	// Target is the table without its connection string, which is in the Secret.
	Target statetable.Target
	Secret SecretRef
	// Removes is set where the rows of tenants that are gone are removed.
	Removes bool
	// Problem says why the table must not be written, empty if nothing is known against it.
	Problem string
}

// StateTableOf is the state table of a source in a cluster. It has one.
func StateTableOf(o *v1alpha1.TenantSource, cluster string) StateTable {
	b := o.Spec.WriteBack
	t := StateTable{
		Provider: mapping.Provider(o.Spec.Provider), Removes: b.Deleted == v1alpha1.DeletedStateRemove,
		Target: statetable.Target{Query: SourceQuery(o, mapping.Secret{}, nil), Table: b.Table, Source: cluster + "/" + o.Namespace + "/" + o.Name},
	}
	t.Target.Login = loginOf(o.Spec.Provider, b.IAM)
	t.Target.DynamoDB.AssumeRoleARN = orElse(b.AssumeRoleARN, t.Target.DynamoDB.AssumeRoleARN)
	if b.ConnectionSecretRef != nil {
		t.Secret = SecretRef{b.ConnectionSecretRef.Name, "spec.writeBack.connectionSecretRef"}
	}
	t.Problem = stateProblem(o, t.Target)
	return t
}

// stateProblem refuses a table that the source reads: it would make rows of rows, and wake the source with each of its own
// writes.
func stateProblem(o *v1alpha1.TenantSource, to statetable.Target) string {
	const own = ": set spec.writeBack.table to a table of its own"
	if sql := cmp.Or(o.Spec.Postgres, o.Spec.MySQL); sql != nil {
		if readsTable(sql.Query, to.Table) {
			return "spec.writeBack.table: the query reads " + to.Table + own
		}
		if o.Spec.Watch != nil && readsTable(o.Spec.Watch.Query, to.Table) {
			return "spec.writeBack.table: spec.watch.query reads " + to.Table + own
		}
	}
	if r := o.Spec.Redis; r != nil {
		// A star of Redis matches slashes, too.
		plain := strings.NewReplacer("/", "_")
		if matches, _ := path.Match(plain.Replace(r.KeyPattern), plain.Replace(to.RedisKey("x"))); matches {
			return "spec.writeBack.table: spec.redis.keyPattern matches the keys of its rows, such as " + to.RedisKey("x") + own
		}
	}
	return ""
}

// readsTable reports whether a query takes rows from a table.
func readsTable(query, table string) bool {
	name := table[strings.LastIndexByte(table, '.')+1:]
	return regexp.MustCompile(`(?i)\b(from|join|table)\s+(["` + "`" + `\w]+\s*\.\s*)?["` + "`" + `]?` + regexp.QuoteMeta(name) + `\b`).MatchString(query)
}

// StateKey is the key of the row of a tenant, whose source is named by its labels; ok is false for a tenant without one. It is
// not known either where the source has a rowKey, and the tenant was last written before the source had a state table: the next
// poll notes it.
func StateKey(o metav1.Object) (key string, ok bool) {
	if o.GetLabels()[v1alpha1.LabelSourceUID] == "" {
		return "", false
	}
	notes := o.GetAnnotations()
	if key = notes[v1alpha1.AnnotationSourceRow]; key == "" && notes[v1alpha1.AnnotationSourceRowKey] == "" {
		key = o.GetName()
	}
	return key, key != ""
}

// worst is the order of the states, from the one that needs attention first.
var worst = []v1alpha1.DomainState{
	v1alpha1.DomainRefused, v1alpha1.DomainLost, v1alpha1.DomainAwaitingProof, v1alpha1.DomainAwaitingDNS, v1alpha1.DomainValidating,
	v1alpha1.DomainIssuing, v1alpha1.DomainDeploying, v1alpha1.DomainDisabled, v1alpha1.DomainLive, v1alpha1.DomainLeaving,
}

// StateRow is the row of a tenant in the state table of its source. ok is false while status does not speak of the spec
// yet: then the row stays as it is.
func StateRow(o *v1alpha1.DistributionTenant, source string) (row statetable.Row, ok bool) {
	s := o.Status
	key, keyed := StateKey(o)
	if s.ObservedGeneration != o.Generation || !keyed {
		return row, false
	}
	row = statetable.Row{
		Source: source, Key: key, Namespace: o.Namespace, Name: o.Name, State: statetable.Pending, DNSTarget: s.DNSTarget, TenantID: s.ID,
		Generation: s.ObservedGeneration, Revision: o.Annotations[v1alpha1.AnnotationSourceRevision], Since: o.CreationTimestamp.Time, Domains: "[]",
		Version: ResourceVersion(o.ResourceVersion),
	}
	if c := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady); c != nil {
		row.Ready, row.Reason, row.Message = c.Status == metav1.ConditionTrue, c.Reason, stored(c.Message)
	}
	if c := s.Certificate; c != nil {
		row.CertificateExpires = c.NotAfter.Time
	}
	if len(s.Domains) == 0 {
		return row, true
	}
	text, _ := json.Marshal(s.Domains) // the types of the API have a JSON form
	row.Domains = stored(string(text))
	d := worstOf(s.Domains)
	row.State, row.Since = string(d.State), d.Since.Time
	if d.Message != "" && d.State != v1alpha1.DomainLive {
		row.Message = stored(d.Message)
	}
	return row, true
}

// worstOf is the domain whose state comes first in the order, and of several the one that came into it last.
func worstOf(domains []v1alpha1.DomainStatus) v1alpha1.DomainStatus {
	return slices.MinFunc(domains, func(a, b v1alpha1.DomainStatus) int {
		return cmp.Or(slices.Index(worst, a.State)-slices.Index(worst, b.State), b.Since.Compare(a.Since.Time))
	})
}

// stored is a text as every database stores it.
func stored(text string) string { return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "") }

// ResourceVersion is the version of an object, or of a list, as a number that only grows.
func ResourceVersion(text string) int64 {
	version, _ := strconv.ParseInt(text, 10, 64)
	return version
}

package convert

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// The defaults of the schema, for objects that were stored before it had them.
const (
	defaultPollInterval = 5 * time.Minute
	defaultWindow       = 24 * time.Hour
	// defaultGrace is that of policy Delete: what is disabled comes back at once.
	defaultGrace        = 24 * time.Hour
	defaultConfirmPolls = 2
	defaultMaxDeletes   = 10
	defaultMaxPercent   = 5
)

// The columns that are used where nothing else is said.
const (
	columnName              = "name"
	columnDomain            = "domain"
	columnEnabled           = "enabled"
	columnConnectionGroupID = "connection_group_id"
)

// The fields that every row fills.
const (
	fieldName    = "name"
	fieldDomains = "domains"
)

// SourceConfig renders what the source says about its objects.
func SourceConfig(o *v1alpha1.TenantSource) (mapping.Config, error) {
	c := mapping.Config{DistributionID: o.Spec.DistributionID, Key: o.Spec.RowKey, Defaults: defaultMappings(&o.Spec)}
	if o.Namespace != TargetNamespace(o) {
		c.Home = o.Namespace
	}
	for _, m := range o.Spec.Mapping {
		c.Mapping = append(c.Mapping, mapping.Mapping{Column: m.Column, Field: string(m.Field), Optional: optional(&o.Spec, string(m.Field))})
	}
	for _, e := range o.Spec.Expressions {
		c.Expressions = append(c.Expressions, mapping.Expression{Field: string(e.Field), Expression: e.Expression})
	}
	if b := o.Spec.WriteBack; b != nil {
		c.Notes = map[string]string{}
		if o.Spec.RowKey != "" {
			c.Notes[v1alpha1.AnnotationSourceRow] = o.Spec.RowKey
		}
		if b.RevisionColumn != "" {
			c.Notes[v1alpha1.AnnotationSourceRevision] = b.RevisionColumn
		}
	}
	var err error
	if r := o.Spec.DistributionRef; r != nil {
		if c.DistributionRef, err = tree(r); err != nil {
			return c, fmt.Errorf("reading spec.distributionRef: %w", err)
		}
	}
	if r := o.Spec.ManagedCertificateRequest; r != nil {
		if c.ManagedCertificate, err = tree(r); err != nil {
			return c, fmt.Errorf("reading spec.managedCertificateRequest: %w", err)
		}
	}
	if t := o.Spec.Template; t != nil {
		if c.Template, err = template(t); err != nil {
			return c, fmt.Errorf("reading spec.template: %w", err)
		}
	}
	return c, nil
}

// optional reports whether a row may be without the column of a field. Stores without a schema have no other way to say
// that a row has no value, as null does in SQL. Every row needs a name and a domain.
func optional(s *v1alpha1.TenantSourceSpec, field string) bool {
	schemaless := s.DynamoDB != nil || s.MongoDB != nil || s.Redis != nil
	return schemaless && field != fieldName && field != fieldDomains
}

// defaultMappings are those of the provider.
func defaultMappings(s *v1alpha1.TenantSourceSpec) []mapping.Mapping {
	d := s.DynamoDB
	if d == nil {
		return []mapping.Mapping{
			{Column: columnName, Field: fieldName},
			{Column: columnDomain, Field: fieldDomains},
			{Column: columnEnabled, Field: "enabled", Optional: true},
			{Column: columnConnectionGroupID, Field: "connectionGroupId", Optional: true},
		}
	}
	out := []mapping.Mapping{
		{Column: orElse(d.NameAttribute, columnName), Field: fieldName},
		{Column: orElse(d.DomainAttribute, columnDomain), Field: fieldDomains},
	}
	for _, m := range []mapping.Mapping{
		{Column: d.EnabledAttribute, Field: "enabled", Optional: true},
		{Column: d.ConnectionGroupIDAttribute, Field: "connectionGroupId", Optional: true},
		{Column: d.CertificateARNAttribute, Field: "customizations.certificate.arn", Optional: true},
	} {
		if m.Column != "" {
			out = append(out, m)
		}
	}
	return out
}

func orElse(given, otherwise string) string {
	if given == "" {
		return otherwise
	}
	return given
}

func template(t *v1alpha1.TenantTemplate) (mapping.Template, error) {
	out := mapping.Template{}
	if m := t.Metadata; m != nil {
		out.Labels, out.Annotations = map[string]string{}, map[string]string{}
		for k, v := range m.Labels {
			out.Labels[k] = string(v)
		}
		for k, v := range m.Annotations {
			out.Annotations[k] = string(v)
		}
	}
	var err error
	if t.Spec != nil {
		out.Spec, err = tree(t.Spec)
	}
	return out, err
}

// tree is the JSON form of a value.
func tree(value any) (map[string]any, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, json.Unmarshal(text, &out)
}

// SecretRef names a Secret with a connection string, and the field that names it; empty where there is none.
type SecretRef struct{ Name, Field string }

// SecretOf is the Secret of the table that is read.
func SecretOf(o *v1alpha1.TenantSource) SecretRef {
	var ref *v1alpha1.SecretReference
	s := o.Spec
	switch {
	case s.Postgres != nil:
		ref = s.Postgres.ConnectionSecretRef
	case s.MySQL != nil:
		ref = s.MySQL.ConnectionSecretRef
	case s.MongoDB != nil:
		ref = s.MongoDB.ConnectionSecretRef
	case s.Redis != nil:
		ref = s.Redis.ConnectionSecretRef
	}
	if ref == nil {
		return SecretRef{}
	}
	return SecretRef{ref.Name, "spec." + string(s.Provider) + ".connectionSecretRef"}
}

// SecretOffer is the label, with its value, that offers a Secret to the source.
func SecretOffer(o *v1alpha1.TenantSource) string {
	value := o.Name
	if len(value) > maxLabel {
		value = v1alpha1.TenantSourceAny
	}
	return v1alpha1.LabelTenantSource + "=" + value
}

// SecretRefusal is why the source may not read a Secret that it names, which has these labels, and the fix. It is empty
// where the Secret is offered to the source.
func SecretRefusal(o *v1alpha1.TenantSource, name string, labels map[string]string) string {
	command := fmt.Sprintf("kubectl -n %s label secret %s", o.Namespace, name)
	value, labelled := labels[v1alpha1.LabelTenantSource]
	switch {
	case value == o.Name || value == v1alpha1.TenantSourceAny:
		return ""
	case labelled:
		// The source that it is offered to may be using it.
		return fmt.Sprintf("the Secret %q has the label %s=%s and is not offered to this source: to offer it to all sources of the namespace, run: %s --overwrite %s=%s",
			name, v1alpha1.LabelTenantSource, value, command, v1alpha1.LabelTenantSource, v1alpha1.TenantSourceAny)
	case len(o.Name) > maxLabel:
		return fmt.Sprintf("the Secret %q is not offered to a source, and the name of this source is longer than the %d characters of a label: to offer it to all sources of the namespace, run: %s %s",
			name, maxLabel, command, SecretOffer(o))
	}
	return fmt.Sprintf("the Secret %q does not have the label %s, which offers it to a source: to offer it to this one, run: %s %s",
		name, v1alpha1.LabelTenantSource, command, SecretOffer(o))
}

// SourceQuery renders what to read.
func SourceQuery(o *v1alpha1.TenantSource, connection mapping.Secret, columns []string) mapping.Query {
	q := mapping.Query{Namespace: o.Namespace, Connection: connection, Login: loginOf(o.Spec.Provider, sourceIAM(o)), Columns: columns}
	s := o.Spec
	switch {
	case s.Postgres != nil:
		q.SQL = mapping.SQLQuery{Query: s.Postgres.Query, Key: s.RowKey}
	case s.MySQL != nil:
		q.SQL = mapping.SQLQuery{Query: s.MySQL.Query, Key: s.RowKey}
	case s.MongoDB != nil:
		q.MongoDB = mapping.MongoDBQuery{Database: s.MongoDB.Database, Collection: s.MongoDB.Collection, Filter: s.MongoDB.Filter}
	case s.Redis != nil:
		q.Redis.KeyPattern = s.Redis.KeyPattern
	case s.DynamoDB != nil:
		q.DynamoDB = dynamoDBQuery(s.DynamoDB)
	}
	if s.Watch != nil {
		q.Watch = &mapping.Watch{Channel: s.Watch.Channel, Query: s.Watch.Query}
	}
	return q
}

func sourceIAM(o *v1alpha1.TenantSource) *v1alpha1.IAMLogin {
	if sql := cmp.Or(o.Spec.Postgres, o.Spec.MySQL); sql != nil {
		return sql.IAM
	}
	if o.Spec.Redis != nil {
		return o.Spec.Redis.IAM
	}
	return nil
}

// ports are those of hosts without one.
var ports = map[v1alpha1.SourceProvider]string{v1alpha1.SourceProviderPostgres: "5432", v1alpha1.SourceProviderMySQL: "3306", v1alpha1.SourceProviderRedis: "6379"}

func loginOf(p v1alpha1.SourceProvider, l *v1alpha1.IAMLogin) *mapping.Login {
	if l == nil {
		return nil
	}
	host := l.Host
	if !strings.Contains(host, ":") {
		host += ":" + ports[p]
	}
	return &mapping.Login{Host: host, User: l.User, Database: l.Database, Cache: l.CacheName, Region: l.Region, AssumeRoleARN: l.AssumeRoleARN}
}

func dynamoDBQuery(d *v1alpha1.DynamoDBSource) mapping.DynamoDBQuery {
	q := mapping.DynamoDBQuery{
		TableName: d.TableName, Region: d.Region, ConsistentRead: d.ConsistentRead == nil || *d.ConsistentRead,
		Segments: max(int(d.Segments), 1), AssumeRoleARN: d.AssumeRoleARN, Filter: d.FilterExpression,
	}
	for _, n := range d.ExpressionAttributeNames {
		if q.Names == nil {
			q.Names = map[string]string{}
		}
		q.Names[n.Placeholder] = n.Attribute
	}
	for _, v := range d.ExpressionAttributeValues {
		if q.Values == nil {
			q.Values = map[string]any{}
		}
		switch {
		case v.String != nil:
			q.Values[v.Placeholder] = *v.String
		case v.Bool != nil:
			q.Values[v.Placeholder] = *v.Bool
		default:
			q.Values[v.Placeholder] = mapping.Number(v.Number)
		}
	}
	return q
}

// SourceGuard renders the deletion guard, with the rhythm that it counts in.
func SourceGuard(o *v1alpha1.TenantSource) tenantsource.Guard {
	g := tenantsource.Guard{
		Interval: defaultPollInterval, ConfirmPolls: defaultConfirmPolls,
		MaxDeletes: defaultMaxDeletes, MaxPercent: defaultMaxPercent, Window: defaultWindow,
	}
	if SourcePolicy(o) == tenantsource.PolicyDelete {
		g.Grace = defaultGrace
	}
	if o.Spec.PollInterval != nil {
		g.Interval = o.Spec.PollInterval.Duration
	}
	d := o.Spec.DeletionGuard
	if d == nil {
		return g
	}
	if d.ConfirmPolls > 0 {
		g.ConfirmPolls = int(d.ConfirmPolls)
	}
	if d.MaxDeletes != nil {
		g.MaxDeletes = int(*d.MaxDeletes)
	}
	if d.MaxDeletePercent != nil {
		g.MaxPercent = int(*d.MaxDeletePercent)
	}
	if d.Window != nil {
		g.Window = d.Window.Duration
	}
	if d.Grace != nil {
		g.Grace = d.Grace.Duration
	}
	return g
}

// TargetNamespace is where the objects of the source are.
func TargetNamespace(o *v1alpha1.TenantSource) string {
	return orElse(o.Spec.TargetNamespace, o.Namespace)
}

// SourcePolicy is the effective deletion policy.
func SourcePolicy(o *v1alpha1.TenantSource) tenantsource.Policy {
	if o.Spec.DeletionPolicy == "" {
		return tenantsource.PolicyDelete
	}
	return tenantsource.Policy(o.Spec.DeletionPolicy)
}

// SourceMemory is what status remembers.
func SourceMemory(s *v1alpha1.TenantSourceStatus) tenantsource.Memory {
	m := tenantsource.Memory{
		Generation: appliedGeneration(s.ObservedGeneration, s.AppliedGeneration), Token: s.SyncToken, Rows: int(s.RejectedRowsTotal),
		InSync: meta.IsStatusConditionTrue(s.Conditions, v1alpha1.ConditionSynced),
	}
	if c := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady); c != nil {
		m.Unresolved = c.Reason == v1alpha1.ReasonReferenceNotReady
	}
	if s.TenantsDiscovered != nil {
		m.Rows += int(*s.TenantsDiscovered)
	}
	if s.LastPollTime != nil {
		m.LastPoll = s.LastPollTime.Time
	}
	for _, c := range s.Columns {
		m.Columns = append(m.Columns, tenantsource.SeenColumn{Column: mapping.Column{Name: c.Name, Type: mapping.Type(c.Type)}, Rows: int(c.Rows)})
	}
	if s.HeldDeletions != nil {
		m.PendingHash = s.HeldDeletions.PlanHash
	}
	if s.LastCompleteTime != nil {
		m.Complete = s.LastCompleteTime.Time
	}
	if c := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionRolledOut); c != nil && c.Status == metav1.ConditionTrue {
		m.RolledOut = c.ObservedGeneration
	}
	m.Cleared = s.ClearedDeletions
	for _, d := range s.RecentDeletions {
		m.History = append(m.History, tenantsource.Deletions{Time: d.Time.Time, Count: int(d.Count), Changes: int(d.Changes)})
	}
	return m
}

// The bounds of lists and texts in a source's status.
const (
	maxSourceColumns = 200
	maxColumnName    = 255
	maxDescription   = 512
	maxRowName       = 253
	maxRecent        = 64
)

// SourceStatus writes a report into status. now stamps transitions only.
func SourceStatus(s *v1alpha1.TenantSourceStatus, generation int64, r tenantsource.Report, now time.Time) {
	reached := appliedGeneration(s.ObservedGeneration, s.AppliedGeneration)
	judged := int64(0)
	if len(r.Conditions) > 0 {
		judged = generation
	}
	if r.Polled != nil {
		polled := metav1.NewTime(r.Polled.Truncate(time.Second))
		if r.Generation != reached {
			// They belong to another spec, and would look like a mistake in a table next to what this spec reads.
			s.Columns = nil
		}
		s.LastPollTime, reached, judged = &polled, r.Generation, r.Generation
		if r.Token != "" {
			s.SyncToken = prose.Fit(r.Token, maxToken)
		}
		if r.Result != nil {
			s.LastCompleteTime = &polled
		}
	}
	if r.Result != nil {
		sourceResult(s, r.Result)
	}
	if r.PendingKnown {
		s.HeldDeletions = heldDeletions(r.Pending)
	}
	s.RecentDeletions, s.DeletionsInWindow = nil, int32(r.History.Vanished())
	s.ChangesInWindow = int32(r.History.Total() - r.History.Vanished())
	for _, d := range r.History.Merged(maxRecent) {
		s.RecentDeletions = append(s.RecentDeletions, v1alpha1.RecentDeletions{Time: metav1.NewTime(d.Time.Truncate(time.Second)), Count: int32(d.Count), Changes: int32(d.Changes)})
	}
	sourceRollout(s, r)
	s.ClearedDeletions = slices.Clone(r.Cleared[:min(len(r.Cleared), maxCleared)])
	setGenerations(&s.ObservedGeneration, &s.AppliedGeneration, judged, reached)
	if r.Unwatched {
		meta.RemoveStatusCondition(&s.Conditions, string(tenantsource.Watching))
	}
	if r.Watching != nil {
		setCondition(&s.Conditions, *r.Watching, generation, now)
	}
	if r.Unwritten {
		meta.RemoveStatusCondition(&s.Conditions, string(tenantsource.StateWritten))
	}
	if r.Written != nil {
		setCondition(&s.Conditions, *r.Written, generation, now)
	}
	mergeConditions(&s.Conditions, r.Conditions, judged, now)
}

// SyncToken is the token with which a user asks to poll at once, as status repeats it.
func SyncToken(o *v1alpha1.TenantSource) string {
	return prose.Fit(o.Annotations[v1alpha1.AnnotationSyncNow], maxToken)
}

func sourceResult(s *v1alpha1.TenantSourceStatus, r *tenantsource.Result) {
	s.TenantsDiscovered, s.TenantsCreated = number(r.Tenants), number(r.Created)
	s.TenantsUpdated, s.TenantsDeleted = number(r.Updated), number(r.Deleted)
	s.PendingChanges, s.PendingChangesTotal = nil, int32(r.PendingTotal)
	for _, p := range r.Pending {
		s.PendingChanges = append(s.PendingChanges, v1alpha1.PendingChange{
			Action: v1alpha1.ChangeAction(p.Action), TenantName: p.Name, Description: prose.Fit(p.Description, maxDescription),
		})
	}
	s.RejectedRows, s.RejectedRowsTotal = nil, int32(r.RejectedTotal)
	for _, row := range r.Rejected {
		s.RejectedRows = append(s.RejectedRows, v1alpha1.RejectedRow{Row: orElse(prose.Fit(row.Row, maxRowName), "?"), Reason: prose.Fit(row.Reason, maxMessage)})
	}
	s.Columns = nil
	for _, c := range r.Columns {
		// A name that has no place in status can't be compared: stores without a schema have such.
		if c.Name != "" && c.Name == prose.Fit(c.Name, maxColumnName) && len(s.Columns) < maxSourceColumns {
			s.Columns = append(s.Columns, v1alpha1.SourceColumn{Name: c.Name, Type: string(c.Type), Rows: int32(c.Rows)})
		}
	}
}

// maxCleared is how many tenants of a plan survive a restart.
const maxCleared = 1000

func heldDeletions(h *tenantsource.PendingPlan) *v1alpha1.HeldDeletions {
	if h == nil {
		return nil
	}
	const most = 20
	return &v1alpha1.HeldDeletions{Count: int32(len(h.Names)), Changes: int32(len(h.Harm)), PlanHash: h.Hash, Names: slices.Clone(h.Names[:min(len(h.Names), most)])}
}

func number(n int) *int32 {
	out := int32(n)
	return &out
}

// maxLabel is how long the value of a label may be, maxManager a field manager.
const (
	maxLabel   = 63
	maxManager = 128
)

// SourceLabels mark the objects of the source.
func SourceLabels(o *v1alpha1.TenantSource) map[string]string {
	return map[string]string{
		v1alpha1.LabelSource:          shortened(o.Name, maxLabel),
		v1alpha1.LabelSourceNamespace: o.Namespace,
		v1alpha1.LabelSourceUID:       string(o.UID),
	}
}

// SourceManager is the field manager of the source. A source that is recreated under its name continues with the fields
// of the previous one.
func SourceManager(o *v1alpha1.TenantSource) string {
	return shortened("tenantsource/"+o.Namespace+"/"+o.Name, maxManager)
}

// SourceDisabler is the field manager that disables objects whose row is gone. It is another one, so that what
// the row had set stays set.
func SourceDisabler(o *v1alpha1.TenantSource) string {
	return shortened("tenantsource-disable/"+o.Namespace+"/"+o.Name, maxManager)
}

// hashed is what the end of a shortened text looks like. No name may end like it, or two would have one label.
var hashed = regexp.MustCompile(`-[0-9a-f]{16}$`)

// shortened replaces the end of what is too long by a hash of the whole.
func shortened(text string, most int) string {
	if len(text) <= most && (len(text) < most || !hashed.MatchString(text)) {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	tail := "-" + hex.EncodeToString(sum[:8])
	return strings.TrimRight(text[:most-len(tail)], ".-_/") + tail
}

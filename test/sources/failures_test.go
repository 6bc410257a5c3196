package sources_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/sourceworld"
)

// outcome is what the source says while a table is spoiled.
type outcome struct {
	ready, synced string
	// says are words of the message.
	says []string
}

var (
	sql        = []mapping.Provider{mapping.Postgres, mapping.MySQL}
	schemaless = []mapping.Provider{mapping.MongoDB, mapping.Redis, mapping.DynamoDB}
	withSecret = []mapping.Provider{mapping.Postgres, mapping.MySQL, mapping.MongoDB, mapping.Redis}
)

func pollFailed(says ...string) outcome {
	return outcome{ready: "False/PollFailed", synced: "False/PollFailed", says: says}
}

func sourceError(says ...string) outcome {
	return outcome{ready: "False/SourceError", synced: "False/SourceError", says: says}
}

func invalidConfig(says ...string) outcome {
	return outcome{ready: "False/InvalidConfig", synced: "False/InvalidConfig", says: says}
}

func held(says ...string) outcome {
	return outcome{ready: "False/DeletionHeld", synced: "False/DeletionHeld", says: append(says, v1alpha1.AnnotationApproveDeletions)}
}

// withoutRow is what is said of tenants that are held.
func withoutRow(tenants int) string { return fmt.Sprintf("%d tenants no longer have a row", tenants) }

// emptied is what is said of a column of which every row had a value.
func emptied(column string) string {
	return fmt.Sprintf("the column %q had a value in %d rows and now has none", column, size)
}

// failure is something that happens to a table for some polls, and must change no tenant.
type failure struct {
	// only are the engines that it happens to; nil for all.
	only  []mapping.Provider
	setup setup
	spoil func(*cell)
	heal  func(*cell)
	want  outcome
	// except is what some engines say instead.
	except map[mapping.Provider]outcome
	// polls is how long it lasts; four polls if zero, twice what the guard asks for.
	polls int
}

// gone is what is said of an empty table, of which every tenant had a row.
var gone = held(fmt.Sprintf("The table has no rows, and %d tenants had one", size), "An empty table always needs approval")

// emptyResults are answers that are complete, and have no rows.
var emptyResults = map[string]failure{
	"empty: all rows deleted": {
		spoil: func(c *cell) { must(c.t, c.table.Truncate(c.t.Context())) },
		heal:  func(c *cell) { c.put(usual(0, size)...) },
		want:  gone,
	},
	"empty: a privilege too few hides the rows": {
		spoil: func(c *cell) { must(c.t, c.table.HideRows(c.t.Context())) },
		heal:  func(c *cell) { must(c.t, c.table.ShowRows(c.t.Context())) },
		want:  gone,
	},
	"empty: another table that is empty": {
		spoil: func(c *cell) { c.follow(c.newTable()) },
		heal:  func(c *cell) { c.follow(c.table) },
		want:  gone,
	},
	"empty: a filter that nothing passes": {
		only: []mapping.Provider{mapping.Postgres, mapping.MySQL, mapping.MongoDB, mapping.DynamoDB},
		spoil: func(c *cell) {
			c.w.Edit(customers, func(o *v1alpha1.TenantSource) {
				switch {
				case o.Spec.Postgres != nil:
					o.Spec.Postgres.Query += " WHERE false"
				case o.Spec.MySQL != nil:
					o.Spec.MySQL.Query += " WHERE false"
				case o.Spec.MongoDB != nil:
					o.Spec.MongoDB.Filter = `{"name": "nobody"}`
				default:
					o.Spec.DynamoDB.FilterExpression = "attribute_exists(nothing)"
				}
			})
		},
		heal: func(c *cell) {
			c.w.Edit(customers, func(o *v1alpha1.TenantSource) {
				switch {
				case o.Spec.Postgres != nil:
					o.Spec.Postgres.Query = strings.TrimSuffix(o.Spec.Postgres.Query, " WHERE false")
				case o.Spec.MySQL != nil:
					o.Spec.MySQL.Query = strings.TrimSuffix(o.Spec.MySQL.Query, " WHERE false")
				case o.Spec.MongoDB != nil:
					o.Spec.MongoDB.Filter = ""
				default:
					o.Spec.DynamoDB.FilterExpression = ""
				}
			})
		},
		want: gone,
	},
	"empty: a wrong database": {
		spoil: func(c *cell) { c.elsewhere() },
		heal:  func(c *cell) { c.follow(c.table) },
		want:  sourceError(),
		except: map[mapping.Provider]outcome{
			mapping.Redis:   gone,
			mapping.MongoDB: sourceError("there is no collection", "check spec.mongodb.database"),
		},
	},
	"empty: the table is gone": {
		spoil: func(c *cell) { must(c.t, c.table.Drop(c.t.Context())) },
		heal: func(c *cell) {
			c.table = c.newTable(usual(0, size)...)
			c.follow(c.table)
		},
		want:   sourceError(),
		except: map[mapping.Provider]outcome{mapping.Redis: gone},
	},
	"empty: more than half of the rows are hidden": {
		spoil: func(c *cell) { c.remove(names(0, most)...) },
		heal:  func(c *cell) { c.put(usual(0, most)...) },
		want:  held(withoutRow(most), "The guard allows 6 deletions (never more than half of the tenants) in 24h, of which 0 are used"),
	},
}

// elsewhere points the source at a database that is another one, or none.
func (c *cell) elsewhere() {
	q := c.table.Query()
	connection := q.Connection.Reveal()
	switch c.provider {
	case mapping.Postgres:
		c.w.Secret(customers, strings.Replace(connection, "_tenants?", "_nowhere?", 1))
	case mapping.MySQL:
		c.w.Secret(customers, strings.Replace(connection, "_tenants", "_nowhere", 1))
	case mapping.Redis:
		// No table has this one, nor the one next to it.
		c.w.Secret(customers, connection[:strings.LastIndex(connection, "/")]+"/1999")
	case mapping.MongoDB:
		c.w.Edit(customers, func(o *v1alpha1.TenantSource) { o.Spec.MongoDB.Database = "nowhere" })
	default:
		c.w.Edit(customers, func(o *v1alpha1.TenantSource) { o.Spec.DynamoDB.TableName = "nowhere" })
	}
}

// short is for reads that never end, or only after their driver has tried for long. A read of a healthy table takes
// milliseconds, and on a machine with much else to do a few seconds.
var short = setup{world: sourceworld.Options{ReadTimeout: 8 * time.Second}}

// partialReads are answers that stop before their end.
var partialReads = map[string]failure{
	"partial: the connection is cut at a quarter": cutAt(25),
	"partial: the connection is cut at a half":    cutAt(50),
	"partial: the connection is cut near its end": cutAt(90),
	"partial: the connection hangs in the middle": {
		setup: short, polls: 2,
		spoil: func(c *cell) { c.table.Wire().HangAfter(c.length() / 2) },
		heal:  func(c *cell) { must(c.t, c.table.Wire().Heal()) },
		want:  pollFailed("The table could not be read completely within 8s", "--tenantsource-read-timeout"),
	},
	"partial: no server listens": {
		setup: short, polls: 2,
		spoil: func(c *cell) { c.table.Wire().Refuse() },
		heal:  func(c *cell) { must(c.t, c.table.Wire().Heal()) },
		want:  pollFailed(),
	},
	"partial: throttled until the driver gives up": {
		only: []mapping.Provider{mapping.DynamoDB}, polls: 1, setup: setup{world: sourceworld.Options{ReadTimeout: 3 * time.Minute}},
		spoil: func(c *cell) { must(c.t, c.table.Throttle(-1)) },
		heal:  func(c *cell) { must(c.t, c.table.Throttle(0)) },
		want:  pollFailed("ProvisionedThroughputExceeded"),
	},
	"partial: throttled for longer than a read may take": {
		only: []mapping.Provider{mapping.DynamoDB}, polls: 2, setup: short,
		spoil: func(c *cell) { must(c.t, c.table.Throttle(-1)) },
		heal:  func(c *cell) { must(c.t, c.table.Throttle(0)) },
		want:  pollFailed(),
	},
	"partial: a page was damaged and lost its key": {
		only: []mapping.Provider{mapping.DynamoDB}, polls: 2, setup: setup{world: short.world, rows: heavy(0, 40)},
		spoil: func(c *cell) { must(c.t, c.table.LoseLastKey(true)) },
		heal:  replaced,
		want:  pollFailed(),
	},
	"partial: a page lost its key and looks intact": {
		only: []mapping.Provider{mapping.DynamoDB}, setup: setup{rows: heavy(0, 40)},
		spoil: func(c *cell) { must(c.t, c.table.LoseLastKey(false)) },
		heal:  replaced,
		want:  held("tenants no longer have a row"),
	},
}

// heavy are rows of which about twenty-five fill a page of DynamoDB.
func heavy(from, to int) []map[string]any {
	rows := usual(from, to)
	for _, row := range rows {
		row["plan"] = strings.Repeat("x", 40_000)
	}
	return rows
}

// replaced is for failures that the table keeps.
func replaced(c *cell) {
	c.table = c.newTable(heavy(0, 40)...)
	c.follow(c.table)
}

func cutAt(percent int64) failure {
	return failure{
		setup: short, polls: 2,
		spoil: func(c *cell) { c.table.Wire().CutAfter(c.length() * percent / 100) },
		heal:  func(c *cell) { must(c.t, c.table.Wire().Heal()) },
		want:  pollFailed(),
	}
}

// length is how many bytes a whole read brings.
func (c *cell) length() int64 {
	before := c.table.Wire().Sent()
	c.poll()
	return c.table.Wire().Sent() - before
}

// changedSchemas are tables that look different all at once.
var changedSchemas = map[string]failure{
	"schema: the column of the name is renamed": {
		setup: setup{source: nameFrom("slug")},
		spoil: rename("slug", "handle"), heal: rename("handle", "slug"),
		want:   sourceError(emptied("slug"), v1alpha1.AnnotationApproveDeletions),
		except: notFound("slug"),
	},
	"schema: the column of the domain is renamed": {
		spoil: rename("domain", "host"), heal: rename("host", "domain"),
		want:   sourceError(emptied("domain"), v1alpha1.AnnotationApproveDeletions),
		except: notFound("domain"),
	},
	"schema: an optional column is renamed": {
		spoil: rename("enabled", "active"), heal: rename("active", "enabled"),
		want:   sourceError(emptied("enabled"), v1alpha1.AnnotationApproveDeletions),
		except: notFound("enabled"),
	},
	"schema: the column of the name is renamed under SELECT *": {
		only: sql, setup: setup{source: selectAll}, spoil: rename("name", "handle"), heal: rename("handle", "name"),
		want: sourceError(`the result has no column "name"; it has handle, domain,`, "correct the query"),
	},
	"schema: the column of the domain is renamed under SELECT *": {
		only: sql, setup: setup{source: selectAll}, spoil: rename("domain", "host"), heal: rename("host", "domain"),
		want: sourceError(`the result has no column "domain"`),
	},
	"schema: an optional column is renamed under SELECT *": {
		only: sql, setup: setup{source: selectAll}, spoil: rename("enabled", "active"), heal: rename("active", "enabled"),
		want: sourceError(`the column "enabled" is missing`, v1alpha1.AnnotationApproveDeletions),
	},
	"schema: an optional column is dropped": {
		only: sql, setup: setup{source: selectAll},
		spoil: func(c *cell) { c.exec("ALTER TABLE %s DROP COLUMN enabled") },
		heal: func(c *cell) {
			c.exec("ALTER TABLE %s ADD COLUMN enabled boolean" + map[mapping.Provider]string{mapping.MySQL: " AFTER domain"}[c.provider])
			c.put(usual(0, size)...)
		},
		want: sourceError(`the column "enabled" is missing`),
	},
	"schema: the column of the domain is dropped": {
		only: sql, setup: setup{source: selectAll},
		spoil: func(c *cell) { c.exec("ALTER TABLE %s DROP COLUMN domain") },
		heal: func(c *cell) {
			c.exec("ALTER TABLE %s ADD COLUMN domain " + map[mapping.Provider]string{mapping.Postgres: "text", mapping.MySQL: "varchar(4096) AFTER name"}[c.provider])
			c.put(usual(0, size)...)
		},
		want: sourceError(`the result has no column "domain"`),
	},
	"schema: an attribute is no longer written": {
		only:  schemaless,
		spoil: func(c *cell) { c.putAll("enabled", nil) }, heal: func(c *cell) { c.put(usual(0, size)...) },
		want: sourceError(emptied("enabled")),
	},
	"schema: an optional column becomes text": {
		only: sql,
		spoil: func(c *cell) {
			c.exec(map[mapping.Provider]string{
				mapping.Postgres: "ALTER TABLE %s ALTER COLUMN enabled TYPE text USING enabled::text", mapping.MySQL: "ALTER TABLE %s MODIFY enabled varchar(9)",
			}[c.provider])
		},
		heal: func(c *cell) {
			c.exec(map[mapping.Provider]string{
				mapping.Postgres: "ALTER TABLE %s ALTER COLUMN enabled TYPE boolean USING enabled::boolean", mapping.MySQL: "ALTER TABLE %s MODIFY enabled boolean",
			}[c.provider])
		},
		want: sourceError(`the type of the column "enabled" changed from boolean to string`),
	},
	"schema: the column of the domain becomes bytes": {
		only: sql,
		spoil: func(c *cell) {
			c.exec(map[mapping.Provider]string{
				mapping.Postgres: "ALTER TABLE %s ALTER COLUMN domain TYPE bytea USING domain::bytea", mapping.MySQL: "ALTER TABLE %s MODIFY domain varbinary(4096)",
			}[c.provider])
		},
		heal: func(c *cell) {
			c.exec(map[mapping.Provider]string{
				mapping.Postgres: "ALTER TABLE %s ALTER COLUMN domain TYPE text USING convert_from(domain, 'UTF8')", mapping.MySQL: "ALTER TABLE %s MODIFY domain varchar(4096)",
			}[c.provider])
		},
		want: sourceError(`the type of the column "domain" changed from string to other`),
	},
	"schema: the domain becomes a number": {
		only:  []mapping.Provider{mapping.MongoDB, mapping.DynamoDB},
		spoil: func(c *cell) { c.putAll("domain", 7) }, heal: func(c *cell) { c.put(usual(0, size)...) },
		want: outcome{ready: "True/PollSucceeded", synced: "False/RowsRejected"},
	},
	"schema: the name becomes a number": {
		only: []mapping.Provider{mapping.MongoDB, mapping.DynamoDB}, setup: setup{source: nameFrom("slug")},
		spoil: func(c *cell) { c.putAll("slug", 7) }, heal: func(c *cell) { c.put(usual(0, size)...) },
		want: held(withoutRow(size)),
	},
}

// notFound are the engines whose query names its columns: they refuse it, and name the column.
func notFound(column string) map[mapping.Provider]outcome {
	return map[mapping.Provider]outcome{mapping.Postgres: sourceError(column), mapping.MySQL: sourceError(column)}
}

func rename(from, to string) func(*cell) {
	return func(c *cell) { must(c.t, c.table.RenameColumn(c.t.Context(), from, to)) }
}

// putAll sets a value in all rows.
func (c *cell) putAll(column string, value any) {
	c.t.Helper()
	rows := usual(0, size)
	for _, row := range rows {
		row[column] = value
	}
	c.put(rows...)
}

// nameFrom takes the name from another column, one that may be anything.
func nameFrom(column string) func(*database.Table, *v1alpha1.TenantSource) {
	return func(_ *database.Table, o *v1alpha1.TenantSource) {
		o.Spec.Mapping = append(o.Spec.Mapping, v1alpha1.FieldMapping{Column: column, Field: "name"})
	}
}

func selectAll(table *database.Table, o *v1alpha1.TenantSource) {
	query := "SELECT * FROM " + table.Name()
	if o.Spec.Postgres != nil {
		o.Spec.Postgres.Query = query
	} else {
		o.Spec.MySQL.Query = query
	}
}

// refusedReaders are sources that may not read any more.
var refusedReaders = map[string]failure{
	"credentials: the rights are revoked": {
		spoil: func(c *cell) { must(c.t, c.table.Revoke(c.t.Context())) },
		heal:  func(c *cell) { must(c.t, c.table.Grant(c.t.Context())) },
		want:  sourceError(),
	},
	"credentials: the password is wrong": {
		only: withSecret,
		spoil: func(c *cell) {
			c.w.Secret(customers, strings.Replace(c.table.Query().Connection.Reveal(), ":"+database.Canary, ":wrong_"+database.Canary, 1))
		},
		heal: secretBack,
		want: sourceError(),
	},
	"credentials: the Secret is gone": {
		only:  withSecret,
		spoil: func(c *cell) { must(c.t, c.w.Kube.Delete(c.t.Context(), c.secret())) },
		heal:  secretBack,
		want:  invalidConfig(`there is no Secret "customers" in namespace`, "create it, with the key connectionString and the label cloudfront-tenant-operator.io/tenantsource=customers"),
	},
	"credentials: the Secret has no connection string": {
		only: withSecret,
		spoil: func(c *cell) {
			secret := c.secret()
			secret.StringData = map[string]string{"uri": c.table.Query().Connection.Reveal()}
			must(c.t, c.w.Kube.Update(c.t.Context(), secret))
		},
		heal: secretBack,
		want: invalidConfig(`the Secret "customers" has no key connectionString, or the key is empty: store the connection string there`),
	},
	"credentials: the Secret is not offered to a source": {
		only: withSecret,
		spoil: func(c *cell) {
			secret := &corev1.Secret{}
			must(c.t, c.w.Kube.Get(c.t.Context(), client.ObjectKey{Namespace: c.w.Namespace, Name: customers}, secret))
			secret.Labels = nil
			must(c.t, c.w.Kube.Update(c.t.Context(), secret))
		},
		heal: secretBack,
		want: invalidConfig("connectionSecretRef: the Secret \"customers\" does not have the label", " label secret customers cloudfront-tenant-operator.io/tenantsource=customers"),
	},
	"credentials: the connection string is none": {
		only:  withSecret,
		spoil: func(c *cell) { c.w.Secret(customers, "host is "+database.Canary+", password "+database.Canary) },
		heal:  secretBack,
		want:  invalidConfig(),
	},
	"credentials: the connection string is that of another kind": {
		only: withSecret,
		spoil: func(c *cell) {
			c.w.Secret(customers, map[mapping.Provider]string{
				mapping.Postgres: "redis://" + database.Canary + ":" + database.Canary + "@127.0.0.1:1/0", mapping.MySQL: "postgres://" + database.Canary + "@127.0.0.1:1/x",
				mapping.MongoDB: "postgres://" + database.Canary + "@127.0.0.1:1/x", mapping.Redis: "mongodb://" + database.Canary + "@127.0.0.1:1/",
			}[c.provider])
		},
		heal: secretBack,
		want: invalidConfig(),
	},
}

func secretBack(c *cell) { c.w.Secret(customers, c.table.Query().Connection.Reveal()) }

// badData are tables in which there is something else.
var badData = map[string]failure{
	"data: a hundred times the rows": {
		setup: setup{world: sourceworld.Options{MaxRows: 100}},
		spoil: func(c *cell) { c.put(usual(size, 100*size)...) },
		heal:  func(c *cell) { c.remove(names(size, 100*size)...) },
		want:  sourceError("there are more than 100 rows", "--tenantsource-max-rows"),
	},
	"data: no row has a name any more": {
		setup: setup{source: nameFrom("slug")},
		spoil: func(c *cell) { c.putAll("slug", nil) }, heal: func(c *cell) { c.put(usual(0, size)...) },
		want: sourceError(emptied("slug")),
	},
	"data: every row has the same name": {
		setup: setup{source: nameFrom("slug")},
		spoil: func(c *cell) { c.putAll("slug", name(3)) }, heal: func(c *cell) { c.put(usual(0, size)...) },
		want: held(withoutRow(size - 1)),
	},
	"data: every row has the same domain": {
		spoil: func(c *cell) { c.putAll("domain", name(3)+".example.com") }, heal: func(c *cell) { c.put(usual(0, size)...) },
		want: outcome{ready: "True/PollSucceeded", synced: "False/RowsRejected"},
	},
	"data: every name is illegal": {
		setup: setup{source: nameFrom("slug")},
		spoil: func(c *cell) { c.putAll("slug", "Not A Name") }, heal: func(c *cell) { c.put(usual(0, size)...) },
		want: held(withoutRow(size)),
	},
}

// TestNothingIsDeleted plays every failure on every engine: while it lasts nothing at all is written to a tenant, and
// once it is over everything continues automatically.
func TestNothingIsDeleted(t *testing.T) {
	for engineName, e := range engines {
		t.Run(engineName, func(t *testing.T) {
			t.Parallel()
			for _, failures := range []map[string]failure{emptyResults, partialReads, changedSchemas, refusedReaders, badData} {
				for caseName, f := range failures {
					if f.only != nil && !e.is(f.only...) || e.json && f.only == nil && len(f.except) == 0 {
						continue
					}
					t.Run(caseName, func(t *testing.T) {
						t.Parallel()
						f.play(t, e)
					})
				}
			}
		})
	}
}

func (f failure) play(t *testing.T, e engine) {
	t.Helper()
	want := f.want
	if other, ok := f.except[e.provider]; ok {
		want = other
	}
	polls := f.polls
	if polls == 0 {
		polls = 4
	}
	total := len(f.setup.rowsOr(usual(0, size)))
	e.play(t, f.setup, func(c *cell) {
		before := c.objects()
		f.spoil(c)
		c.settle()
		for range polls {
			c.poll()
			c.untouched(before)
			c.expect("Ready="+want.ready, "Synced="+want.synced)
			c.says(want.says...)
		}
		c.nothingDeleted()
		c.noSecret(c.told())
		t.Log(c.w.Message(customers, v1alpha1.ConditionReady))

		f.heal(c)
		c.put(row(total))
		c.settle()
		c.poll()
		c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
		c.untouched(before, name(total))
		c.living(names(0, total+1))
		c.nothingDeleted()
		c.removalTakesTwoPolls(name(total))
	})
}

// removalTakesTwoPolls removes a row, and sees its tenant go when it should and no other one.
func (c *cell) removalTakesTwoPolls(gone string) {
	c.t.Helper()
	before := c.w.Living()
	c.remove(gone)
	c.poll()
	c.living(before)
	c.expect("Synced=False/DeletionPending")
	c.poll()
	var rest []string
	for _, name := range before {
		if name != gone {
			rest = append(rest, name)
		}
	}
	c.living(rest)
	c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
	if n := c.w.Writes().Deleted; n != 1 {
		c.t.Errorf("the operator deleted %d objects, want 1", n)
	}
}

// TestRowsThatFlap takes rows away in every other poll: a replica that lags, a view that is rebuilt. No tenant
// is touched, however often. The guard knows nothing of engines, so that one with a schema and one without are enough.
func TestRowsThatFlap(t *testing.T) {
	tests := map[string]struct {
		rows int
		want string
	}{
		"a few rows":    {rows: 3, want: "Ready=True/PollSucceeded"},
		"most of them":  {rows: most, want: "Ready=False/DeletionHeld"},
		"all but one":   {rows: size - 1, want: "Ready=False/DeletionHeld"},
		"the last, too": {rows: size, want: "Ready=False/DeletionHeld"},
	}
	for _, engineName := range []string{"mysql", "dynamodb"} {
		for caseName, tt := range tests {
			t.Run(engineName+"/"+caseName, func(t *testing.T) {
				t.Parallel()
				engines[engineName].play(t, setup{}, func(c *cell) {
					before := c.objects()
					for range 5 {
						c.remove(names(0, tt.rows)...)
						c.poll()
						c.expect(tt.want)
						c.put(usual(0, tt.rows)...)
						c.poll()
						c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
						c.untouched(before)
					}
					c.nothingDeleted()
				})
			})
		}
	}
}

// TestAnotherTable points the source at someone else's customers for an hour.
func TestAnotherTable(t *testing.T) {
	for engineName, e := range engines {
		t.Run(engineName, func(t *testing.T) {
			t.Parallel()
			e.play(t, setup{}, func(c *cell) {
				before := c.objects()
				var others []map[string]any
				for i := range size {
					other := fmt.Sprintf("other-%03d", i)
					others = append(others, with(row(i), "name", other, "domain", other+".example.org"))
				}
				c.follow(c.newTable(others...))
				c.w.Advance(time.Hour)
				c.expect("Ready=False/DeletionHeld")
				c.says(withoutRow(size))
				if n := len(c.w.Living()); n != 2*size {
					c.t.Errorf("%d tenants, want those of both tables", n)
				}
				c.follow(c.table)
				c.w.Advance(time.Hour)
				c.expect("Ready=False/DeletionHeld")
				now := c.objects()
				for name := range now {
					if strings.HasPrefix(name, "other-") {
						delete(now, name)
					}
				}
				if diff := cmp.Diff(before, now); diff != "" {
					c.t.Errorf("the tenants (-before +now):\n%s", diff)
				}
				c.nothingDeleted()

				c.approve()
				c.settle()
				c.w.Advance(2 * interval)
				c.untouched(before)
				c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
			})
		})
	}
}

package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

// Whatever database there is, the demo has to do the same with it.
func TestTableOfCustomers(t *testing.T) {
	for name, test := range map[string]struct {
		product product
		// show is how a row is printed, and changed how the change of one is.
		show    func(customer) string
		changed string
		// guarded is whether it knows users, and what they may.
		guarded bool
	}{
		"PostgreSQL": {
			postgres, func(c customer) string { return fmt.Sprintf("%s   %s   %s", c.name, c.domain, c.plan) }, "DELETE 1\n", true,
		},
		"MongoDB": {
			mongoDB, func(c customer) string {
				return fmt.Sprintf(`{"_id": %q,"name": %q,"domain": %q,"plan": %q}`, c.name, c.name, c.domain, c.plan)
			}, "n: 1", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, ctx := test.product, t.Context()
			var c customers
			if err := p.prepare(ctx, database.Shared(t, p.provider).Owner(), &c); err != nil {
				t.Fatal(err)
			}
			owner, reader := c.owner, c.reader
			run := func(statement string) string {
				t.Helper()
				answer, err := query(ctx, owner, statement)
				if err != nil {
					t.Fatalf("%s: %v", statement, err)
				}
				return answer
			}
			expect := func(what, statement string, rows ...customer) {
				t.Helper()
				answer, err := query(ctx, reader, statement)
				if err != nil {
					t.Fatal(err)
				}
				var got, want []string
				for line := range strings.Lines(answer) {
					if line = strings.TrimSpace(line); !strings.HasPrefix(line, "NAME") && line != "SELECT 0" {
						got = append(got, line)
					}
				}
				for _, c := range rows {
					want = append(want, test.show(c))
				}
				slices.Sort(got)
				slices.Sort(want)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}

			run(p.fill([]customer{newCustomer(2), newCustomer(11)}))
			expect("filled", p.all, newCustomer(2), newCustomer(11))
			expect("those with the plan gold", p.gold, newCustomer(11))
			run(p.insert)
			run(p.update)
			if got := run(p.remove); got != test.changed {
				t.Errorf("a row that is removed prints %q, want %q", got, test.changed)
			}
			expect("one came, one changed, and one left", p.all,
				customer{newcomer, newcomer + ".example.com", "gold"}, customer{upgraded, upgraded + ".example.com", "gold"})
			run(p.empty)
			expect("emptied", p.all)
			_, err := query(ctx, reader, p.insert)
			if refused := err != nil && strings.Contains(err.Error(), "permission denied"); refused != test.guarded {
				t.Errorf("an insert by the operator's user is refused: %t (%v), want %t", refused, err, test.guarded)
			}
		})
	}
}

func TestDB(t *testing.T) {
	address := map[string]string{}
	for _, p := range []product{postgres, mongoDB} {
		address[p.name] = database.Shared(t, p.provider).Owner()
	}
	var err error
	if address["MongoDB"], err = inDatabase(address["MongoDB"], nil); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		args           []string
		address        string
		status         int
		stdout, stderr string
	}{
		"a result of SQL stands in columns":     {[]string{"SELECT 1 AS id, 'x' AS plan, NULL AS note"}, address["PostgreSQL"], 0, "ID   PLAN   NOTE\n1    x\n", ""},
		"a result without rows is said to be":   {[]string{"SELECT 1 AS id WHERE false"}, address["PostgreSQL"], 0, "SELECT 0\n", ""},
		"several statements have a result each": {[]string{"SELECT 1 AS id; SELECT 2 AS id"}, address["PostgreSQL"], 0, "ID\n1\nID\n2\n", ""},
		"a command of MongoDB has its answer":   {[]string{`{"ping": 1}`}, address["MongoDB"], 0, "{\"ok\": {\"$numberDouble\":\"1.0\"}}\n", ""},
		"what the database refuses is said":     {[]string{"SELECT * FROM customer"}, address["PostgreSQL"], 1, "", `relation "customer" does not exist`},
		"so is a command that there is not":     {[]string{`{"drink": "tea"}`}, address["MongoDB"], 1, "", "drink"},
		"SQL is no command of MongoDB":          {[]string{"SELECT 1"}, address["MongoDB"], 1, "", `use JSON, such as {"find": "customers"}`},
		"without a statement it says what to":   {nil, address["PostgreSQL"], 2, "", `such as: db "SELECT * FROM customers"`},
		"a statement without quotes is several": {[]string{"SELECT", "1"}, address["PostgreSQL"], 2, "", "takes one quoted statement"},
		"without a world it says how to start":  {[]string{"SELECT 1"}, "", 2, "", "$PLAYGROUND_DATABASE is empty: start the playground with make playground"},
		"another kind of database is refused":   {[]string{"SELECT 1"}, "mysql://127.0.0.1/", 1, "", `starts with "mysql" instead of postgres or mongodb`},
		"an address is none by any text":        {[]string{"SELECT 1"}, "://secret", 1, "", "its address is not a URL"},
		"a world that is gone is said to be":    {[]string{"SELECT 1"}, "postgres://owner:secret@127.0.0.1:1/customers", 1, "", "connecting to PostgreSQL"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if status := runDB(test.args, test.address, &stdout, &stderr); status != test.status {
				t.Errorf("status %d, want %d", status, test.status)
			}
			if diff := cmp.Diff(test.stdout, stdout.String()); diff != "" {
				t.Errorf("stdout (-want +got):\n%s", diff)
			}
			if !strings.Contains(stderr.String(), test.stderr) || (test.stderr == "") != (stderr.Len() == 0) {
				t.Errorf("it says %q, want %q", &stderr, test.stderr)
			}
			if strings.Contains(stderr.String(), "secret") {
				t.Errorf("it shows a password: %s", &stderr)
			}
		})
	}
}

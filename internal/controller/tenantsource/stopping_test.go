package tenantsource_test

import (
	"context"
	"testing"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/sourceworld"
)

// endless is a table that is never read to its end; reading is closed when a read has begun.
type endless struct{ reading chan struct{} }

func (e endless) Read(ctx context.Context, _ mapping.Query, _ mapping.Sink) error {
	close(e.reading)
	<-ctx.Done()
	return ctx.Err()
}

func TestAReadEndsWithTheOperator(t *testing.T) {
	reading, stopped := make(chan struct{}), make(chan struct{})
	w := sourceworld.New(t, kubeConfig, sourceworld.Options{
		Rows: map[mapping.Provider]port.Rows{mapping.DynamoDB: endless{reading}}, Stopped: stopped,
	})
	w.Source("customers", mapping.DynamoDB, mapping.Query{DynamoDB: mapping.DynamoDBQuery{TableName: "customers"}})
	go func() {
		<-reading
		close(stopped)
	}()
	w.Once("customers")
	if o, _ := w.Get("customers"); o.Status.LastPollTime != nil {
		t.Errorf("a read that the operator broke off counts as a poll\n%s", w.Describe("customers"))
	}
	if got := w.Condition("customers", v1alpha1.ConditionReady); got != "Ready is not there" {
		t.Errorf("the source says %s of a read that the operator broke off", got)
	}
}

// No one waits for a query that was corrected a moment later.
func TestAReadEndsWhenItsSourceIsChanged(t *testing.T) {
	for name, change := range map[string]func(*sourceworld.World){
		"edited": func(w *sourceworld.World) {
			w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.DynamoDB.TableName = "corrected" })
		},
		"suspended": func(w *sourceworld.World) {
			w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.Suspend = true })
		},
		"deleted": func(w *sourceworld.World) { w.Delete("customers") },
	} {
		t.Run(name, func(t *testing.T) {
			reading := make(chan struct{})
			w := sourceworld.New(t, kubeConfig, sourceworld.Options{Rows: map[mapping.Provider]port.Rows{mapping.DynamoDB: endless{reading}}})
			w.Source("customers", mapping.DynamoDB, mapping.Query{DynamoDB: mapping.DynamoDBQuery{TableName: "customers"}})
			changed := make(chan struct{})
			go func() {
				defer close(changed)
				<-reading
				change(w)
			}()
			w.Once("customers")
			<-changed
			if o, found := w.Get("customers"); found && o.Status.LastPollTime != nil {
				t.Errorf("a read that was broken off counts as a poll\n%s", w.Describe("customers"))
			}
		})
	}
}

package operator

import (
	"context"
	"errors"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// leaseOf is an API server that holds one lease.
type leaseOf struct {
	client.Reader
	holder string
	err    error
}

func (l *leaseOf) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	lease, ok := o.(*coordinationv1.Lease)
	if !ok {
		return errors.New("only leases are there")
	}
	lease.Spec.HolderIdentity = &l.holder
	return l.err
}

func TestOnlyTheElectedProcessConfirms(t *testing.T) {
	const us, them = "host_1", "host_2" // two processes of one host
	for name, test := range map[string]struct {
		elected string // who holds the lease when this process is elected, empty: it is not
		now     string
		err     error
		want    bool
	}{
		"the process that was elected may go on":                     {elected: us, now: us, want: true},
		"one that was frozen meanwhile may not":                      {elected: us, now: them},
		"nor after it has given the lease up":                        {elected: us, now: ""},
		"nor when the lease can't be read":                           {elected: us, now: us, err: errors.New("away")},
		"one that was never elected may not, also on the same host":  {now: them},
		"nor one on another host with the beginning of a name alike": {now: "hos_1"},
	} {
		t.Run(name, func(t *testing.T) {
			api := &leaseOf{holder: test.elected}
			l := &leadership{live: api, prefix: "host_"}
			if test.elected != "" {
				if err := l.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			api.holder, api.err = test.now, test.err
			if err := l.confirm(t.Context()); (err == nil) != test.want {
				t.Errorf("confirm = %v, want it to be allowed: %t", err, test.want)
			}
		})
	}
}

package operator

import (
	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

// What the tests look at from outside.
var (
	Slim      = newSlimmer().slim
	EventName = eventName

	OwnerAlive     = ownerAlive
	APIServerHosts = apiServerHosts
)

// NewZoneObserver returns an observer of zones that has no metrics.
func NewZoneObserver(log logr.Logger, publish func(o client.Object, e reconcile.Event)) zone.Observer {
	return zoneObserver{log: log, publish: publish}
}

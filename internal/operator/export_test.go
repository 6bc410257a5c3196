package operator

// What the tests look at from outside.
var (
	Slim      = slim
	EventName = eventName

	OwnerAlive                     = ownerAlive
	RegisterTenants                = registerTenants
	RegisterExpiry                 = registerExpiry
	RegisterDistributionsAndGroups = registerDistributionsAndGroups
)

package chain

import "slices"

// Stalled is True while someone has to act, with the reason and message of what they have to act on. Otherwise it is
// absent. It follows from the other conditions alone, so it is set and removed in the same write in which they change.
const Stalled ConditionType = "Stalled"

// personal are the reasons of all kinds with which trying again can't help: someone has to change the spec, a right,
// or something outside. They leave out problems that time resolves, or the creation of an object that the spec refers
// to. A missing plan and missing kinds are among them nevertheless: without them nothing limits a customer's namespace.
var personal = []Reason{
	// Of everything in AWS.
	"DomainConflict", "AccessDenied", "InvalidSpec", "AWSError", "ValidationFailed", "QuotaExceeded", "AdoptionRequired",
	"WrongAccount", "DriftNotConverging", "ClusterMoved", "ClusterIDChanged", "NotGranted", "DomainClaimed", "ClaimNotStored",
	// Of a grant.
	"Ambiguous", "RoleRefused",
	// Of a tenant in AWS.
	"CertificateSANMismatch", "MissingParameters", "MissingCertificate", "DistributionDisabled",
	"DNSError", "DNSConflict", "KeyValueConflict", "ZoneNotFound", "ZoneAmbiguous", "RoleNotAllowed",
	// Of a source.
	"SourceError", "Conflict", "InvalidConfig", "DeletionHeld",
	// Of an invalidation.
	"InvalidationFailed",
	// Of a customer's namespace and of a plan.
	"DeletionProtected", "NamespaceConflict", "InvalidName", "PlanNotFound", "PlanInvalid", "CRDMissing", "RolloutStopped",
}

// NeedsPerson reports whether a condition that is False with that reason stays so until someone acts.
func NeedsPerson(r Reason) bool { return slices.Contains(personal, r) }

// StalledBy is the condition Stalled that follows from the others; none while no one has to act. Ready comes first,
// then Synced, then the others in their order.
func StalledBy(list []Condition) (Condition, bool) {
	for _, of := range []func(Condition) bool{
		func(c Condition) bool { return c.Type == Ready },
		func(c Condition) bool { return c.Type == Synced },
		func(c Condition) bool { return c.Type != Stalled },
	} {
		for _, c := range list {
			if of(c) && !c.Status && NeedsPerson(c.Reason) {
				return Condition{Type: Stalled, Status: true, Reason: c.Reason, Message: c.Message, Generation: c.Generation}, true
			}
		}
	}
	return Condition{}, false
}

package dns

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// Phase is the state of a record in its zone, as far as is known.
type Phase string

// The phases of a record.
const (
	// Unknown means that the zone was not read yet, or can't be: then there is an error.
	Unknown Phase = "Unknown"
	// Absent means that no server has anything where the record belongs.
	Absent Phase = "Absent"
	// Coming means that it was sent, and not every server has it yet.
	Coming Phase = "Coming"
	// There means that the zone has it, at every server, and answers for its name.
	There Phase = "There"
	// Leaving means that its deletion was sent, and some servers may still have it.
	Leaving Phase = "Leaving"
	// Blocked means that something else exists where the record belongs, or that the zone delegates its name away.
	Blocked Phase = "Blocked"
	// Occupied means that the place is another object's.
	Occupied Phase = "Occupied"
	// Refused means that the provider takes everything but this record.
	Refused Phase = "Refused"
	// NoZone means that the zone does not exist, and the record neither.
	NoZone Phase = "NoZone"
)

// Standing is what is known of one record.
type Standing struct {
	Phase Phase
	// Found describes what exists where a Blocked record belongs, for example "CNAME other.example.net".
	Found string
	// Fixed is true when no takeover replaces what was Found.
	Fixed bool
	// Unkept is true when that is because the ledger has no room to keep it.
	Unkept bool
	// Spared is true when that is because the namespace may only replace what leads to CloudFront.
	Spared bool
	// Missing is true when the record is certainly not there. Replaces is what a takeover would replace then.
	Missing  bool
	Replaces Replaced
	// Begun is true when it may have replaced something nevertheless, see Traits.Stepwise.
	Begun bool
	// Delegated is the name at which the zone delegates that of a Blocked record away, with what was Found. Empty: it does
	// not.
	Delegated string
	// Holder is the other object that an Occupied record belongs to.
	Holder Owner
	// HandedOver is true when it belongs to that one because the domain was handed over.
	HandedOver bool
	// Foreign is true when an equal record is there that we certainly did not make: the
	// provider has refused to create ours, and no answer was ever lost.
	Foreign bool
	// Err is why the zone can't be read or changed, or why the record is Refused.
	Err *fault.Error
}

// View is what is known of the records of one claim: its wants and its ledger.
type View struct {
	Records map[Record]Standing
	// ChangeID is the provider's id of the last change for this claim, for users to look up, and ChangedAt when that
	// was sent.
	ChangeID  string
	ChangedAt time.Time
}

// Of returns what is known of a record.
func (v View) Of(r Record) Standing {
	if s, ok := v.Records[r]; ok {
		return s
	}
	return Standing{Phase: Unknown}
}

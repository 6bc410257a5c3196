package dns

// Event is something that happens to a zone.
type Event interface{ happen(z *ZoneState) }

// The events.
type (
	// Declared is what an object wants of the zone and holds there.
	Declared struct{ Claim Claim }
	// Permitted is what may be done for an object now. The rest of what it has declared stays.
	Permitted struct {
		Owner          Owner
		Still, Correct bool
	}
	// Forgotten takes back what an object has declared.
	Forgotten struct{ Owner Owner }
	// RefreshAsked means that a user wants the zone to be looked at.
	RefreshAsked struct{}
	// Begun means that what is due is being done now. The call that it takes is an effect.
	Begun struct{ Job Job }
	// BatchAnswered is the answer to a SendBatch.
	BatchAnswered struct {
		Call     SendBatch
		ChangeID string
		Err      error
	}
	// PageListed is the answer to a ListPage. Next is empty on the last page.
	PageListed struct {
		Call ListPage
		Page []RecordSet
		Next string
		Err  error
	}
	// NameRead is the answer to a ReadName.
	NameRead struct {
		Call ReadName
		Sets []RecordSet
		Err  error
	}
	// SyncAnswered is the answer to an AskSync.
	SyncAnswered struct {
		Call AskSync
		Done bool
		Err  error
	}
)

// Call is a call to the provider. Its answer is an event, which has the call in it.
//
//sumtype:decl
type Call interface{ call() }

// The calls.
type (
	// ReadName reads one name.
	ReadName struct {
		Access Access
		Name   string
	}
	// SendBatch changes the zone.
	SendBatch struct {
		Access  Access
		Changes []Change
		// Correction is true when nothing but drift is undone.
		Correction bool

		units []Unit
		// bisected is true for a part of a batch that was refused.
		bisected bool
	}
	// AskSync asks whether every server has a change.
	AskSync struct {
		Access Access
		Sent   Sent

		flight *flight
	}
	// ListPage lists the record sets from a marker on.
	ListPage struct {
		Access Access
		Marker string
		// Awaited is true when an object waits for the listing.
		Awaited bool

		listing *listing
	}
)

// Correction is what a batch restores for one object.
type Correction struct {
	Owner Owner
	// Restores are the records that others have deleted or changed, Replaces what others have put there.
	Restores []Record
	Replaces []RecordSet
}

// Corrections returns what the batch restores.
func (c SendBatch) Corrections() (list []Correction) {
	for _, u := range c.units {
		if len(u.Restores) == 0 {
			continue
		}
		correction := Correction{Owner: u.Owner, Restores: u.Restores}
		for _, change := range u.Changes {
			if u.Correction && change.Action == Delete {
				correction.Replaces = append(correction.Replaces, change.Set)
			}
		}
		list = append(list, correction)
	}
	return list
}

func (ReadName) call()  {}
func (SendBatch) call() {}
func (AskSync) call()   {}
func (ListPage) call()  {}

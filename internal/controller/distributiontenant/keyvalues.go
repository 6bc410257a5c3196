package distributiontenant

import (
	"strconv"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// tellStores tells the key value stores what the object wants, and takes over how that stands.
func (p *pass) tellStores() {
	if p.in.Nudged {
		p.KeyValues.Refresh(p.keyOwner())
	}
	p.declareKeys(p.in.Memory.Keys)
}

// declareKeys tells the stores what the object wants and what its stored ledger holds.
func (p *pass) declareKeys(stored []keyvalue.Entry) {
	wants := p.in.KeyWants()
	if len(wants)+len(stored) == 0 {
		p.KeyValues.Forget(p.keyOwner())
		return
	}
	rests := p.in.Rests()
	// The API server promises that versions are numbers.
	version, _ := strconv.ParseUint(p.object.ResourceVersion, 10, 64)
	p.in.World.Keys = p.KeyValues.Declare(keyvalue.Claim{
		Owner: p.keyOwner(), Account: p.account.ID, Version: version, Born: p.object.CreationTimestamp.Unix(),
		Wants: wants, Ledger: stored, Still: rests, Policy: p.in.KeyPolicy(),
		Correct: p.in.Policy.Drift == resource.DriftEnforce && !rests && !p.in.Unresolved(),
	})
}

func (p *pass) keyOwner() keyvalue.Owner {
	return keyvalue.Owner{Namespace: p.object.Namespace, Name: p.object.Name, UID: string(p.object.UID)}
}

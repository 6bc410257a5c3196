// Package keyvalue decides what is in CloudFront key value stores: which keys an object may write, what its ledger has to
// hold before that, and what the worker of a store sends next.
package keyvalue

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// The limits of AWS. A store holds 5 MB; its size is that of its keys and values.
const (
	MaxStoreBytes = 5 << 20
	// MaxBatch is how many keys one update may write and delete, and PageSize how many a page of a listing has at most.
	MaxBatch = 50
	PageSize = 50
)

// StoreKey is a store, as an AWS account sees it.
type StoreKey struct {
	// Account is that of the object, empty for the operator's own.
	Account, ARN string
}

// Compare orders stores.
func (k StoreKey) Compare(o StoreKey) int {
	return cmp.Or(strings.Compare(k.Account, o.Account), strings.Compare(k.ARN, o.ARN))
}

// Key is a key in a store.
type Key struct{ StoreARN, Name string }

// Compare orders keys.
func (k Key) Compare(o Key) int {
	return cmp.Or(strings.Compare(k.StoreARN, o.StoreARN), strings.Compare(k.Name, o.Name))
}

// String is the key as messages show it.
func (k Key) String() string {
	store := k.StoreARN[strings.LastIndex(k.StoreARN, "/")+1:]
	return "key " + k.Name + " of the key value store " + store
}

// Want is a value that an object asks for.
type Want struct {
	Key

	Value string
	// Takeover lets the value of a key be replaced that is not the object's.
	Takeover bool
}

// Digest stands for a value in a ledger: status is no place for what only functions should read.
func Digest(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:16])
}

// State is what a ledger says of a key.
type State string

// The states of an entry.
const (
	// Intended means that the key may be written: it was absent, or may be taken over, when that was decided.
	Intended State = "Intended"
	// Written means that the key is the object's.
	Written State = "Written"
	// Removing means that the key may be deleted as long as it has the value of the entry, or the one before.
	Removing State = "Removing"
)

// maxBefore is how many earlier values an entry remembers.
const maxBefore = 3

// Entry is a key in the ledger of an object.
type Entry struct {
	Key

	// Digest is that of the value. Before are those of values that the object has written, or was about to write, and that
	// may be there instead.
	Digest string
	Before []string
	State  State
}

// Equal reports whether two entries say the same.
func (e Entry) Equal(o Entry) bool {
	return e.Key == o.Key && e.Digest == o.Digest && e.State == o.State && slices.Equal(e.Before, o.Before)
}

// own reports whether the value is one that the object has written, or was about to write.
func (e Entry) own(value string) bool {
	d := Digest(value)
	return d == e.Digest || slices.Contains(e.Before, d)
}

// become changes the value that is written. Whatever of the object may be there now stays its own.
func (e Entry) become(value string, s Standing) Entry {
	before := append([]string{e.Digest}, e.Before...)
	if s.Phase == Present && e.own(s.Found) {
		before = append([]string{Digest(s.Found)}, before...)
	}
	e.Before, e.Digest = nil, Digest(value)
	for _, b := range before {
		if b != e.Digest && !slices.Contains(e.Before, b) && len(e.Before) < maxBefore {
			e.Before = append(e.Before, b)
		}
	}
	return e
}

// Phase is how a key stands in its store, as far as is known.
type Phase string

// The phases of a key.
const (
	// Unknown means that the store was not read yet, or can't be: then there is an error.
	Unknown Phase = "Unknown"
	// Absent means that the store does not have the key, and Present that it has.
	Absent  Phase = "Absent"
	Present Phase = "Present"
	// Occupied means that the key is another object's.
	Occupied Phase = "Occupied"
	// NoStore means that the store does not exist, and the key neither.
	NoStore Phase = "NoStore"
)

// Standing is what is known of a key.
type Standing struct {
	Phase Phase
	// Found is the value of a key that is Present.
	Found string
	// Theirs means that others have created the key while the object had not written it. Its entry is worth nothing.
	Theirs bool
	// Holder is the object that an Occupied key belongs to.
	Holder Owner
	// Err is why the store can't be read or changed, or why the value was refused.
	Err *fault.Error
}

// Has reports whether the key has the value.
func (s Standing) Has(value string) bool { return s.Phase == Present && s.Found == value }

func (s Standing) same(o Standing) bool {
	text := func(e *fault.Error) string {
		if e == nil {
			return ""
		}
		return e.Error()
	}
	return s.Phase == o.Phase && s.Found == o.Found && s.Theirs == o.Theirs && s.Holder == o.Holder && text(s.Err) == text(o.Err)
}

// View is what is known of the keys of an object.
type View map[Key]Standing

// Of returns what is known of a key.
func (v View) Of(k Key) Standing {
	if s, ok := v[k]; ok {
		return s
	}
	return Standing{Phase: Unknown}
}

// Owner is an object with keys.
type Owner struct{ Namespace, Name, UID string }

// Claim is what an object asks of the stores. It is based on the ledger that is stored.
type Claim struct {
	Owner Owner
	// Account is that of the object, empty for the operator's own.
	Account string
	// Version orders what is said of one object: an older one never replaces a newer one.
	Version uint64
	// Born orders objects that want the same key.
	Born   int64
	Wants  []Want
	Ledger []Entry
	// Still means that nothing may be written for the object. Correct means that values that others have changed are
	// restored.
	Still, Correct bool
	Policy         Policy
}

// Policy is what an object may do with its ledger.
type Policy struct {
	// Settled means that nothing uses keys any more that are not wanted.
	Settled bool
	// Reclaims makes keys the object's that have the value that it wants: an object of its name left them.
	Reclaims bool
}

// keys are all that the claim is about, sorted.
func (c Claim) keys() (out []Key) {
	for _, w := range c.Wants {
		out = append(out, w.Key)
	}
	for _, e := range c.Ledger {
		out = append(out, e.Key)
	}
	slices.SortFunc(out, Key.Compare)
	return slices.Compact(out)
}

func (c Claim) want(k Key) (Want, bool) {
	if i := slices.IndexFunc(c.Wants, func(w Want) bool { return w.Key == k }); i >= 0 {
		return c.Wants[i], true
	}
	return Want{}, false
}

func (c Claim) entry(k Key) (Entry, bool) { return entryOf(c.Ledger, k) }

func entryOf(ledger []Entry, k Key) (Entry, bool) {
	if i := slices.IndexFunc(ledger, func(e Entry) bool { return e.Key == k }); i >= 0 {
		return ledger[i], true
	}
	return Entry{}, false
}

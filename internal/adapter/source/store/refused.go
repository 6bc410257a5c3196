package store

import "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"

// Refused ends the writing of that many changes to a store that refuses or takes each of them. One that refuses many and takes
// none has something against the table, which the first of them says.
func Refused(refused []statetable.Refusal, changes int) ([]statetable.Refusal, error) {
	if len(refused) == changes && changes > mostRefused {
		return nil, refused[0].Failure
	}
	return refused, nil
}

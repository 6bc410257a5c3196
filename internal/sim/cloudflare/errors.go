package cloudflare

import (
	"fmt"
	"net/http"
	"time"
)

// The codes of Cloudflare's errors. Those that are marked as ours are for requests whose real code is not documented.
const (
	codeNoToken         = 9106
	codeBadHeader       = 6003
	codeInvalidToken    = 9109
	codeAuthentication  = 10000
	codeVerify          = 1000
	codeThrottled       = 10013
	codeNoRoute         = 7003
	codeNoRecord        = 81044
	codeQuota           = 81045
	codeHostExists      = 81053
	codeCNAMEExists     = 81054
	codeNSExists        = 81056
	codeIdentical       = 81058
	codeBadName         = 9000
	codeBadType         = 9004
	codeBadA            = 9005
	codeBadAAAA         = 9006
	codeBadCNAME        = 9007
	codeBadMX           = 9009
	codeBadTTL          = 9021
	codeBadTXT          = 9207
	codeSelfReference   = 9039
	codeBadProxied      = 9041
	codeTags            = 9300
	codeComment         = 9313
	codeBadQuery        = 6004 // ours
	codeBadBody         = 6007
	codeBatchTooLarge   = 6008 // ours
	codeDeletedTwice    = 6009 // ours
	codeBadContentOther = 9010 // ours
)

// refusal is an error as it is answered.
type refusal struct {
	status     int
	code       int
	message    string
	retryAfter time.Duration
}

// Error implements error.
func (r *refusal) Error() string { return fmt.Sprintf("%d: %s", r.code, r.message) }

func refuse(code int, format string, args ...any) error {
	return refuseWith(http.StatusBadRequest, code, format, args...)
}

func refuseWith(status, code int, format string, args ...any) error {
	return &refusal{status: status, code: code, message: fmt.Sprintf(format, args...)}
}

// noRoute is what Cloudflare says of a zone that it does not know.
func noRoute(path string) error {
	return refuseWith(http.StatusNotFound, codeNoRoute, "Could not route to %s, perhaps your object identifier is invalid?", path)
}

func noRecord() error {
	return refuseWith(http.StatusNotFound, codeNoRecord, "Record does not exist.")
}

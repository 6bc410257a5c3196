package rfc2136

import (
	"fmt"

	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// The operations, as the RFCs call them.
const (
	opZone     = "SOA"
	opTransfer = "AXFR"
	opChange   = "UPDATE"
)

// The codes of failures without an answer that counts.
const (
	codeUnreadable = "UnreadableAnswer"
	codeUnsigned   = "UnverifiedAnswer"
	codeSecret     = "UnreadableSecret"
	codeRefusedUs  = "NotSent"
)

// verdict is what an answer means and says.
type verdict struct {
	kind fault.Kind
	text string
}

// byCode classifies response codes. One that is not listed is transient.
var byCode = map[int]verdict{
	wire.RcodeFormatError:    {fault.Invalid, "the server can't read the message"},
	wire.RcodeServerFailure:  {fault.Transient, "the server failed"},
	wire.RcodeNotImplemented: {fault.Denied, "the server does not support this: use a server that supports dynamic updates and zone transfers"},
	wire.RcodeRefused:        {fault.Denied, "the server refuses this: check what it allows the account's TSIG key"},
	wire.RcodeYXDomain:       {fault.Exists, "the name has a record already"},
	wire.RcodeYXRrset:        {fault.Exists, "the name has a record of that type, or a CNAME record, already"},
	wire.RcodeNXRrset:        {fault.Conflict, "the record to be deleted has changed or is gone"},
	// It does not tell whether the zone is gone, or the account has the wrong server: then its records would be given up.
	wire.RcodeNotAuth: {fault.Denied, "the server is not the primary of the zone: correct the account's server or zones"},
	wire.RcodeNotZone: {fault.Invalid, "a name is not in the zone"},
}

// byOperation says it better than byCode.
var byOperation = map[string]map[int]string{
	opChange: {
		wire.RcodeNotImplemented: "the server does not support dynamic updates: use one that does",
		wire.RcodeRefused: "the server refuses the change: allow the account's TSIG key the types CNAME and TXT below the zone's name in update-policy, " +
			"and A and AAAA for records to be replaced; thaw the zone if it is frozen",
	},
	opTransfer: {
		wire.RcodeRefused: "the server refuses to transfer the zone: allow the account's TSIG key in allow-transfer",
	},
	opZone: {
		wire.RcodeRefused: "the server refuses the question: have it serve the zone, and allow the operator's address or the account's TSIG key in allow-query",
	},
}

// refusedUnsigned says better than byOperation what a server means that refuses a change and does not sign that. PowerDNS
// does so where it can't check our signature, and where the key or the address has no right.
const refusedUnsigned = "the server refuses the change without a signature: check the name, algorithm and secret of the account's TSIG key, and that the server " +
	"lets the key and the operator's address change the zone"

// badTSIG is what a server says of a signature that it does not accept. The numbers have other names elsewhere.
var badTSIG = map[uint16]struct{ code, text string }{
	wire.RcodeBadSig:  {"BADSIG", "the server does not accept the signature: the TSIG secret of the account is not that of the server's key"},
	wire.RcodeBadKey:  {"BADKEY", "the server does not know the account's TSIG key: check its name and algorithm"},
	wire.RcodeBadTime: {"BADTIME", "the server does not accept the time of the signature: synchronise the clocks of the server and the operator's node"},
	// Some servers say no more than that.
	wire.RcodeNotAuth:  {"NOTAUTH", "the server does not accept the account's TSIG key, or is not the primary of the zone: check the name, algorithm and secret of the key, and the zones"},
	wire.RcodeBadTrunc: {"BADTRUNC", "the server does not accept the length of the signature: use a key of an algorithm without truncation"},
}

// badKey says it better than badTSIG: to Knot, a key that may not do something is one that it does not know.
var badKey = map[string]string{
	opChange:   "the server does not know the account's TSIG key, or does not let it change this name or type: check its name and algorithm, and what it may change",
	opTransfer: "the server does not know the account's TSIG key, or does not let it transfer the zone: check its name and algorithm, and that it may",
}

// refused returns the failure that an answer stands for, nil for success.
func refused(operation string, a answer) error {
	if a.badTSIG != 0 {
		bad, ok := badTSIG[a.badTSIG]
		if !ok {
			bad.code, bad.text = wire.RcodeToString[int(a.badTSIG)], "the server does not accept the signature: check the account's TSIG key"
		}
		if text := badKey[operation]; text != "" && a.badTSIG == wire.RcodeBadKey {
			bad.text = text
		}
		return &fault.Error{Kind: fault.Denied, Operation: operation, Code: bad.code, Message: bad.text}
	}
	if a.Rcode == wire.RcodeSuccess {
		return nil
	}
	v, ok := byCode[a.Rcode]
	if !ok {
		v = verdict{fault.Transient, "the server returned an unexpected response code"}
	}
	if text := byOperation[operation][a.Rcode]; text != "" {
		v.text = text
	}
	if operation == opChange && a.Rcode == wire.RcodeRefused && a.IsTsig() == nil {
		v.text = refusedUnsigned
	}
	return &fault.Error{Kind: v.kind, Operation: operation, Code: wire.RcodeToString[a.Rcode], Message: v.text}
}

// lost is the failure of a message or an answer that did not arrive. The text of the cause names ports.
func lost(operation string, err error) error {
	return &fault.Error{Kind: fault.Transient, Operation: operation, Message: "the server did not respond", Err: err}
}

// unreadable is the failure of an answer that can't be believed, whatever it says.
func unreadable(operation, code, text string, err error) error {
	return &fault.Error{Kind: fault.Transient, Operation: operation, Code: code, Message: text, Err: err}
}

// impossible is the failure of a change that is not sent.
func impossible(format string, args ...any) error {
	return &fault.Error{Kind: fault.Invalid, Operation: opChange, Code: codeRefusedUs, Message: fmt.Sprintf(format, args...)}
}

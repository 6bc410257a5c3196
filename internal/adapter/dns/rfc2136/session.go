package rfc2136

import (
	"context"
	"encoding/base64"
	"errors"
	"net"
	"strings"
	"time"

	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/query"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

const (
	// answerTimeout is for a message and its answer, and for each part of a transfer.
	answerTimeout = 10 * time.Second
	// fudge is how far the clocks of both sides may differ, in seconds. It is what RFC 8945 recommends.
	fudge = 300
)

// session is a connection to the server, on which every message and every answer is signed.
type session struct {
	operation string
	config    *Config
	secret    string
	conn      *wire.Conn
	// patience ends the connection unless it is reset in time.
	patience *time.Timer
	release  func() bool
	buffer   []byte

	// id and mac are those of the last message; mac of the last answer, while there are several to one question.
	id        uint16
	mac       string
	continued bool
}

// answer is a message from the server. Its signature was verified, unless it is a refusal.
type answer struct {
	*wire.Msg
	// badTSIG is what the server says of our signature.
	badTSIG uint16
}

// open connects to the server. The session ends with the context at the latest.
func (d *DNS) open(ctx context.Context, operation string) (*session, error) {
	secret := strings.TrimSpace(d.config.TSIG.Secret())
	if raw, err := base64.StdEncoding.DecodeString(secret); err != nil || len(raw) == 0 {
		return nil, &fault.Error{
			Kind: fault.Denied, Operation: operation, Code: codeSecret,
			Message: "the TSIG secret of the account is empty or not in base64: store it as the server's key statement has it",
		}
	}
	conn, err := (&net.Dialer{Timeout: d.config.DialTimeout}).DialContext(ctx, "tcp", d.config.Server)
	if err != nil {
		return nil, lost(operation, err)
	}
	end := func() { _ = conn.Close() }
	return &session{
		operation: operation, config: &d.config, secret: secret, conn: &wire.Conn{Conn: conn}, buffer: make([]byte, wire.MaxMsgSize),
		patience: time.AfterFunc(answerTimeout, end), release: context.AfterFunc(ctx, end),
	}, nil
}

func (s *session) close() {
	s.patience.Stop()
	s.release()
	_ = s.conn.Close()
}

// ask sends a message and returns the answer to it, which may be a refusal.
func (s *session) ask(m *wire.Msg) (answer, error) {
	if err := s.send(m); err != nil {
		return answer{}, err
	}
	return s.receive()
}

// send signs a message and sends it.
func (s *session) send(m *wire.Msg) error {
	s.id, s.continued = m.Id, false
	m.RecursionDesired, m.Compress = false, true
	m.SetTsig(s.config.TSIG.Name, s.config.TSIG.Algorithm, fudge, s.config.Clock.Now().Unix())
	packed, mac, err := wire.TsigGenerate(m, s.secret, "", false)
	switch {
	case err != nil:
		return &fault.Error{Kind: fault.Invalid, Operation: s.operation, Code: codeRefusedUs, Message: "the message can't be written", Err: err}
	case len(packed) > wire.MaxMsgSize:
		return &fault.Error{Kind: fault.Invalid, Operation: s.operation, Code: codeRefusedUs, Message: "the message is longer than 64 KiB"}
	}
	s.mac = mac
	s.patience.Reset(answerTimeout)
	if _, err := s.conn.Write(packed); err != nil {
		return lost(s.operation, err)
	}
	return nil
}

// receive returns the next answer to the last message.
func (s *session) receive() (answer, error) {
	n, err := s.conn.Read(s.buffer)
	if err != nil {
		return answer{}, lost(s.operation, err)
	}
	s.patience.Reset(answerTimeout)
	a := answer{Msg: new(wire.Msg)}
	if err := a.Unpack(s.buffer[:n]); err != nil || a.Id != s.id || !a.Response {
		return answer{}, unreadable(s.operation, codeUnreadable, "the answer of the server can't be read", err)
	}
	tsig := a.IsTsig()
	if tsig != nil && tsig.Error != wire.RcodeSuccess {
		// Such an answer may have no signature, for lack of a common key. Nothing is concluded from it but that.
		a.badTSIG = tsig.Error
		return a, nil
	}
	switch {
	case tsig == nil && mayBeUnsigned(a.Rcode):
		return a, nil
	case tsig != nil && a.Rcode == wire.RcodeNotAuth:
		// The library verifies no answer of this code.
		return a, nil
	case tsig == nil && a.Rcode == wire.RcodeNotAuth:
		a.badTSIG = wire.RcodeNotAuth
		return a, nil
	}
	if err := s.verify(s.buffer[:n], tsig); err != nil {
		return answer{}, unreadable(s.operation, codeUnsigned, "the answer of the server has no valid signature of the account's TSIG key", err)
	}
	s.mac, s.continued = tsig.MAC, true
	return a, nil
}

// mayBeUnsigned are the refusals of a server that did not come to the signature. They lead to no change.
func mayBeUnsigned(code int) bool {
	switch code {
	case wire.RcodeFormatError, wire.RcodeServerFailure, wire.RcodeNotImplemented, wire.RcodeRefused:
		return true
	}
	return false
}

// verify checks the signature of an answer, and its time by the same clock that the question has.
func (s *session) verify(packed []byte, tsig *wire.TSIG) error {
	if tsig == nil || wire.CanonicalName(tsig.Hdr.Name) != s.config.TSIG.Name {
		return wire.ErrNoSig
	}
	if wire.CanonicalName(tsig.Algorithm) != s.config.TSIG.Algorithm {
		return wire.ErrKeyAlg
	}
	// The time is the last that is checked there, by the system's clock.
	if err := wire.TsigVerify(packed, s.secret, s.mac, s.continued); err != nil && !errors.Is(err, wire.ErrTime) {
		return err
	}
	now, signed := s.config.Clock.Now().Unix(), int64(tsig.TimeSigned)
	if now > signed+fudge || now < signed-fudge {
		return wire.ErrTime
	}
	return nil
}

// update has the server carry out a batch. What a server has not left out exists already.
func (s *session) update(u *update) error {
	if err := s.change(u.Msg); err != nil {
		return err
	}
	for _, m := range u.again {
		if err := s.change(m); err != nil && !fault.Is(err, fault.Exists) {
			return calls.Partly(err)
		}
	}
	return nil
}

func (s *session) change(m *wire.Msg) error {
	a, err := s.ask(m)
	if err == nil {
		err = refused(opChange, a)
	}
	return err
}

// serial asks for the serial number of a zone.
func (s *session) serial(zone string) (uint32, error) {
	a, err := s.ask(new(wire.Msg).SetQuestion(wire.Fqdn(zone), wire.TypeSOA))
	if err == nil {
		err = refused(s.operation, a)
	}
	if err != nil {
		return 0, err
	}
	soa := query.SOA(a.Msg, zone)
	if soa == nil {
		return 0, refused(s.operation, answer{Msg: &wire.Msg{MsgHdr: wire.MsgHdr{Rcode: wire.RcodeNotAuth}}})
	}
	return soa.Serial, nil
}

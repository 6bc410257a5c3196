package cloudflare

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// window is the time for which the requests of a token are limited.
const window = 5 * time.Minute

// tokenState is a token and what it asked for in the current window.
type tokenState struct {
	Token
	since    time.Time
	requests int
}

// authenticate finds the token of a request and counts the request.
func (s *Sim) authenticate(r *http.Request, op Operation) (*tokenState, error) {
	header := r.Header.Get("Authorization")
	if header == "" {
		return nil, refuse(codeNoToken, "Missing X-Auth-Key, X-Auth-Email or Authorization headers")
	}
	value, ok := strings.CutPrefix(header, "Bearer ")
	if !ok || value == "" || strings.ContainsAny(value, " \t") {
		return nil, refuse(codeBadHeader, "Invalid request headers")
	}
	t := s.tokens[value]
	if t == nil {
		return nil, op.unknownToken()
	}
	return t, s.count(t)
}

// unknownToken is said differently by the services behind the API.
func (o Operation) unknownToken() error {
	switch o {
	case VerifyToken:
		return refuseWith(http.StatusUnauthorized, codeVerify, "Invalid API Token")
	case ListZones, GetZone:
		return refuseWith(http.StatusForbidden, codeInvalidToken, "Invalid access token")
	default:
		return refuseWith(http.StatusUnauthorized, codeAuthentication, "Authentication error")
	}
}

// count refuses what exceeds the rate.
func (s *Sim) count(t *tokenState) error {
	now := s.options.Now()
	if now.Sub(t.since) >= window {
		t.since, t.requests = now, 0
	}
	t.requests++
	if t.requests <= s.options.RequestLimit {
		return nil
	}
	return &refusal{
		status: http.StatusTooManyRequests, code: codeThrottled, retryAfter: t.since.Add(window).Sub(now),
		message: "More than 1200 requests per 300 seconds reached. Please wait and consider throttling your request speed",
	}
}

// sees reports whether a zone is one that the token is for.
func (t *tokenState) sees(id string) bool { return t.Zones == nil || slices.Contains(t.Zones, id) }

// permits checks what a token may do. It refuses a zone that the token is not for before it says whether the zone
// exists.
func (t *tokenState) permits(op Operation, zoneID string) error {
	switch op {
	case VerifyToken:
		return nil
	case ListZones:
		if !t.ReadsZones {
			return refuseWith(http.StatusForbidden, codeInvalidToken, "Actor requires permission 'com.cloudflare.api.account.zone.list' to list zones")
		}
		return nil
	case GetZone:
		if !t.ReadsZones || !t.sees(zoneID) {
			return refuseWith(http.StatusForbidden, codeInvalidToken, "Unauthorized to access requested resource")
		}
		return nil
	default:
	}
	if !t.EditsDNS && (op.mutates() || !t.ReadsDNS) || !t.sees(zoneID) {
		return refuseWith(http.StatusForbidden, codeAuthentication, "Authentication error")
	}
	return nil
}

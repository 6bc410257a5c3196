package cloudflare

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// Operation is what a request asks for.
type Operation string

// The operations.
const (
	VerifyToken  Operation = "VerifyToken"
	ListZones    Operation = "ListZones"
	GetZone      Operation = "GetZone"
	ListRecords  Operation = "ListRecords"
	GetRecord    Operation = "GetRecord"
	CreateRecord Operation = "CreateRecord"
	PutRecord    Operation = "PutRecord"
	PatchRecord  Operation = "PatchRecord"
	DeleteRecord Operation = "DeleteRecord"
	BatchRecords Operation = "BatchRecords"
	unknown      Operation = "Unknown"
)

func (o Operation) mutates() bool {
	switch o {
	case CreateRecord, PutRecord, PatchRecord, DeleteRecord, BatchRecords:
		return true
	default:
		return false
	}
}

const (
	prefix = "/client/v4/"
	// largest bounds a request.
	largest = 4 << 20
)

// call is a request on its way through the simulator.
type call struct {
	op       Operation
	request  *http.Request
	body     []byte
	token    *tokenState
	zoneID   string
	recordID string
}

// route finds out what is asked for.
func route(r *http.Request) call {
	c := call{op: unknown, request: r}
	path, ok := strings.CutPrefix(r.URL.Path, prefix)
	if !ok {
		return c
	}
	parts := strings.Split(path, "/")
	is := func(method string, shape ...string) bool {
		if r.Method != method || len(parts) != len(shape) {
			return false
		}
		for i, s := range shape {
			if s != "" && s != parts[i] {
				return false
			}
		}
		return true
	}
	if len(parts) > 1 && parts[0] == "zones" {
		c.zoneID = parts[1]
	}
	if len(parts) > 3 && parts[2] == "dns_records" {
		c.recordID = parts[3]
	}
	switch {
	case is(http.MethodGet, "user", "tokens", "verify"):
		c.op = VerifyToken
	case is(http.MethodGet, "zones"):
		c.op = ListZones
	case is(http.MethodGet, "zones", ""):
		c.op = GetZone
	case is(http.MethodGet, "zones", "", "dns_records"):
		c.op = ListRecords
	case is(http.MethodPost, "zones", "", "dns_records"):
		c.op = CreateRecord
	case is(http.MethodPost, "zones", "", "dns_records", "batch"):
		c.op = BatchRecords
	case is(http.MethodGet, "zones", "", "dns_records", ""):
		c.op = GetRecord
	case is(http.MethodPut, "zones", "", "dns_records", ""):
		c.op = PutRecord
	case is(http.MethodPatch, "zones", "", "dns_records", ""):
		c.op = PatchRecord
	case is(http.MethodDelete, "zones", "", "dns_records", ""):
		c.op = DeleteRecord
	}
	return c
}

// answer is what goes back to the client.
type answer struct {
	result any
	info   *resultInfo
	raw    string
	err    error
	errs   []FaultError
	cut    bool
	half   bool
}

type resultInfo struct {
	Page       int `json:"page"`
	PerPage    int `json:"per_page"`
	Count      int `json:"count"`
	TotalCount int `json:"total_count"`
	TotalPages int `json:"total_pages"`
}

type envelope struct {
	Result     any          `json:"result"`
	ResultInfo *resultInfo  `json:"result_info,omitempty"`
	Success    bool         `json:"success"`
	Errors     []FaultError `json:"errors"`
	Messages   []string     `json:"messages"`
}

// ServeHTTP implements http.Handler.
func (s *Sim) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, largest))
	if err != nil {
		return // the client is gone
	}
	c := route(r)
	c.body = body
	a := s.perform(c)
	if a.cut {
		panic(http.ErrAbortHandler) // closes the connection without a log line
	}
	status, text := a.render()
	var refused *refusal
	if errors.As(a.err, &refused) && refused.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(refused.retryAfter.Seconds()))))
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.Header().Set("Cf-Ray", derive(r.URL.Path)[:16])
	w.WriteHeader(status)
	if a.half {
		_, _ = w.Write(text[:len(text)/2]) //nolint:gosec // it is JSON, and no browser reads it
		if f, ok := w.(http.Flusher); ok {
			f.Flush() // or the client would see no answer at all
		}
		panic(http.ErrAbortHandler)
	}
	// A client that went away is no concern of ours.
	_, _ = w.Write(text) //nolint:gosec // it is JSON, and no browser reads it
}

// perform carries a request out and records it.
func (s *Sim) perform(c call) (a answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.fault(c.op)
	if f != nil && f.Moment == Before {
		s.record(c.request, c.op, 0, false)
		return answer{cut: true}
	}
	if f != nil && f.Moment == Instead {
		s.record(c.request, c.op, f.Status, false)
		return answer{err: &refusal{status: f.Status, retryAfter: f.RetryAfter}, errs: f.Errors, raw: f.Body}
	}
	a = s.execute(c)
	committed := a.err == nil && c.op.mutates()
	if f != nil {
		a.cut, a.half = f.Moment == After, f.Moment == Truncated
	}
	status, _ := a.render()
	if a.cut || a.half {
		status = 0
	}
	s.record(c.request, c.op, status, committed)
	return a
}

// render writes an answer as Cloudflare does.
func (a answer) render() (int, []byte) {
	e := envelope{Result: a.result, ResultInfo: a.info, Success: a.err == nil, Errors: []FaultError{}, Messages: []string{}}
	status := http.StatusOK
	if refused, ok := errors.AsType[*refusal](a.err); ok {
		status = refused.status
		e.Result = nil
		if refused.code != 0 {
			e.Errors = append(e.Errors, FaultError{Code: refused.code, Message: refused.message})
		}
		e.Errors = append(e.Errors, a.errs...)
	}
	if a.raw != "" {
		return status, []byte(a.raw)
	}
	text, err := json.Marshal(e)
	if err != nil {
		return http.StatusInternalServerError, []byte(err.Error())
	}
	return status, text
}

func (s *Sim) execute(c call) answer {
	if c.op == unknown {
		return answer{err: noRoute(c.request.URL.Path)}
	}
	var err error
	if c.token, err = s.authenticate(c.request, c.op); err != nil {
		return answer{err: err}
	}
	if c.zoneID != "" && len(c.zoneID) != 32 {
		return answer{err: noRoute(c.request.URL.Path)}
	}
	if err := c.token.permits(c.op, c.zoneID); err != nil {
		return answer{err: err}
	}
	switch c.op {
	case VerifyToken:
		return answer{result: map[string]any{"id": derive("token", c.token.Value), "status": "active"}}
	case ListZones:
		return s.listZones(c)
	default:
	}
	z := s.zone(c.zoneID)
	if z == nil {
		return answer{err: noRoute(c.request.URL.Path)}
	}
	return s.inZone(c, z)
}

// inZone carries out what is about one zone.
func (s *Sim) inZone(c call, z *zoneState) answer {
	switch c.op {
	case GetZone:
		return answer{result: z.wire(s.options.Now())}
	case ListRecords:
		return s.listRecords(c, z)
	case GetRecord:
		if r := find(z.records, c.recordID); r >= 0 {
			return answer{result: z.records[r]}
		}
		return answer{err: noRecord()}
	default:
	}
	edit := &edit{sim: s, zone: z, records: cloneRecords(z.records)}
	result, err := edit.perform(c)
	if err != nil {
		return answer{err: err}
	}
	z.records = edit.records
	z.publish(s.options.Now())
	return answer{result: result}
}

// decode reads a body strictly: a field that is not known here would be ignored there, or not.
func decode(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return refuse(codeBadBody, "Malformed JSON in request body: %v", err)
	}
	return nil
}

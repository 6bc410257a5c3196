package aws

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// controlPrefix is where the control API lives; no AWS API has such a path.
const controlPrefix = "/_sim/"

// control answers the control API. Requests are read strictly: an unknown field is an error, because a fault that is
// not armed makes a test pass for the wrong reason.
func (s *Sim) control(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, controlPrefix)
	handlers, known := controlHandlers[name]
	if !known {
		if id, ok := strings.CutPrefix(name, "faults/"); ok {
			handlers = map[string]controlHandler{http.MethodDelete: removeFault(id)}
		} else {
			writeControl(w, http.StatusNotFound, problem(fmt.Errorf("no such control %q: docs/contributing/simulator.md lists them", r.URL.Path)))
			return
		}
	}
	handle, ok := handlers[r.Method]
	if !ok {
		writeControl(w, http.StatusMethodNotAllowed, problem(fmt.Errorf("%s is not possible for %s", r.Method, r.URL.Path)))
		return
	}
	out, err := handle(s, r)
	if err != nil {
		writeControl(w, http.StatusBadRequest, problem(err))
		return
	}
	writeControl(w, http.StatusOK, out)
}

type controlHandler func(*Sim, *http.Request) (any, error)

var controlHandlers = map[string]map[string]controlHandler{
	"health":       {http.MethodGet: func(s *Sim, _ *http.Request) (any, error) { return map[string]any{"status": "ok", "now": s.Now()}, nil }},
	"operations":   {http.MethodGet: func(*Sim, *http.Request) (any, error) { return Operations(), nil }},
	"calls":        {http.MethodGet: func(s *Sim, _ *http.Request) (any, error) { return s.Calls(), nil }},
	"journal":      {http.MethodGet: getJournal},
	"state":        {http.MethodGet: getState},
	"faults":       {http.MethodGet: getFaults, http.MethodPost: postFault, http.MethodDelete: deleteFaults},
	"limits":       {http.MethodGet: getLimits, http.MethodPost: postLimits, http.MethodDelete: deleteLimits},
	"limit-uses":   {http.MethodGet: func(s *Sim, _ *http.Request) (any, error) { return s.LimitUses(), nil }},
	"routing":      {http.MethodGet: func(s *Sim, _ *http.Request) (any, error) { return s.PublicRouting(), nil }},
	"switches":     {http.MethodGet: getSwitches, http.MethodPost: postSwitches},
	"quotas":       {http.MethodGet: func(s *Sim, _ *http.Request) (any, error) { return s.Quotas(), nil }, http.MethodPost: postQuotas},
	"clock":        {http.MethodGet: getClock, http.MethodPost: postClock},
	"certificates": {http.MethodPost: postCertificate},
	"serve-token":  {http.MethodPost: postServeToken},
	"resolving":    {http.MethodGet: getResolving, http.MethodPost: postResolving},
	"seed":         {http.MethodPost: postSeed},
	"reset":        {http.MethodPost: func(s *Sim, _ *http.Request) (any, error) { s.Reset(); return done, nil }},
}

var done = map[string]bool{"ok": true}

func problem(err error) map[string]string { return map[string]string{"error": err.Error()} }

func writeControl(w http.ResponseWriter, status int, out any) {
	body, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error": "the answer cannot be written as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // a client that went away is no concern of ours
}

// readControl decodes a request body strictly.
func readControl(r *http.Request, into any) error {
	body, err := controlBody(r)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("reading the request body: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("reading the request body: something follows the JSON value: send one value")
	}
	return nil
}

func controlBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, errors.New("the request has no body: send JSON")
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return nil, fmt.Errorf("reading the request body: %w", err)
	}
	return body, nil
}

func getJournal(s *Sim, r *http.Request) (any, error) {
	var since uint64
	if text := r.URL.Query().Get("since"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("since is %q: use the seq of an entry", text)
		}
		since = n
	}
	return s.JournalSince(since), nil
}

// getState answers with everything, or with one account, or with one resource.
func getState(s *Sim, r *http.Request) (any, error) {
	query := r.URL.Query()
	for kind, find := range map[string]func(account, identifier string) (any, bool){
		"tenant":          func(a, id string) (any, bool) { return anyOf(s.Tenant(a, id)) },
		"distribution":    func(a, id string) (any, bool) { return anyOf(s.Distribution(a, id)) },
		"connectionGroup": func(a, id string) (any, bool) { return anyOf(s.ConnectionGroup(a, id)) },
	} {
		if name := query.Get(kind); name != "" {
			found, ok := find(query.Get("account"), name)
			if !ok {
				return nil, fmt.Errorf("there is no %s %q", kind, name)
			}
			return found, nil
		}
	}
	state := s.State()
	if id := query.Get("account"); id != "" {
		state.Accounts = slices.DeleteFunc(state.Accounts, func(a AccountState) bool { return a.ID != id })
	}
	return state, nil
}

func anyOf[T any](found T, ok bool) (any, bool) { return found, ok }

func getFaults(s *Sim, _ *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]faultJSON, 0, len(s.faults.armed))
	for _, f := range s.faults.armed {
		shown := f.wire()
		shown.Seen, shown.Struck = f.seen, f.struck
		out = append(out, shown)
	}
	return out, nil
}

func postFault(s *Sim, r *http.Request) (any, error) {
	var in faultJSON
	if err := readControl(r, &in); err != nil {
		return nil, err
	}
	fault, err := in.fault()
	if err != nil {
		return nil, err
	}
	id, err := s.AddFault(fault)
	if err != nil {
		return nil, err
	}
	return map[string]string{"id": id}, nil
}

func deleteFaults(s *Sim, _ *http.Request) (any, error) {
	s.ClearFaults()
	return done, nil
}

func removeFault(id string) controlHandler {
	return func(s *Sim, _ *http.Request) (any, error) {
		if !s.RemoveFault(id) {
			return nil, fmt.Errorf("there is no fault %q", id)
		}
		return done, nil
	}
}

func getLimits(s *Sim, _ *http.Request) (any, error) { return s.Limits(), nil }

// postLimits takes one limit or a list of them.
func postLimits(s *Sim, r *http.Request) (any, error) {
	var raw json.RawMessage
	if err := readControl(r, &raw); err != nil {
		return nil, err
	}
	if raw = bytes.TrimSpace(raw); string(raw) == `"route53"` {
		return Route53Limits(), s.SetLimits(Route53Limits()...)
	}
	if !bytes.HasPrefix(raw, []byte("[")) {
		raw = slices.Concat([]byte("["), raw, []byte("]"))
	}
	var limits []Limit
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&limits); err != nil {
		return nil, fmt.Errorf("reading the request body: %w", err)
	}
	if err := s.SetLimits(limits...); err != nil {
		return nil, err
	}
	return s.Limits(), nil
}

func deleteLimits(s *Sim, _ *http.Request) (any, error) {
	s.ClearLimits()
	return done, nil
}

func getSwitches(s *Sim, _ *http.Request) (any, error) {
	sw := s.Switches()
	return sw.values(), nil
}

// postSwitches changes the switches that are named and leaves the others.
func postSwitches(s *Sim, r *http.Request) (any, error) {
	var in map[string]any
	if err := readControl(r, &in); err != nil {
		return nil, err
	}
	next := s.Switches()
	for name, value := range in {
		text, err := switchText(value)
		if err != nil {
			return nil, fmt.Errorf("switch %s: %w", name, err)
		}
		if err := next.Set(name, text); err != nil {
			return nil, err
		}
	}
	s.SetSwitches(next)
	return next.values(), nil
}

func switchText(value any) (string, error) {
	switch v := value.(type) {
	case bool:
		return strconv.FormatBool(v), nil
	case string:
		return v, nil
	case []any:
		var parts []string
		for _, item := range v {
			text, ok := item.(string)
			if !ok {
				return "", fmt.Errorf("the list has %v in it: use strings", item)
			}
			parts = append(parts, text)
		}
		return strings.Join(parts, ","), nil
	}
	return "", fmt.Errorf("%v is not a valid switch value: use true, false, a duration in quotes or a list of strings", value)
}

func postQuotas(s *Sim, r *http.Request) (any, error) {
	var in Quotas
	if err := readControl(r, &in); err != nil {
		return nil, err
	}
	s.SetQuotas(in)
	return s.Quotas(), nil
}

func getClock(s *Sim, _ *http.Request) (any, error) { return map[string]time.Time{"now": s.Now()}, nil }

func postClock(s *Sim, r *http.Request) (any, error) {
	var in struct {
		Advance string `json:"advance"`
	}
	if err := readControl(r, &in); err != nil {
		return nil, err
	}
	d, err := time.ParseDuration(in.Advance)
	if err != nil || d < 0 {
		return nil, fmt.Errorf("advance is %q: use a duration such as 30s", in.Advance)
	}
	s.Advance(d)
	return map[string]time.Time{"now": s.Now()}, nil
}

func getResolving(s *Sim, _ *http.Request) (any, error) { return s.Resolving(), nil }

func postResolving(s *Sim, r *http.Request) (any, error) {
	var in struct {
		Add    []string `json:"add"`
		Remove []string `json:"remove"`
	}
	if err := readControl(r, &in); err != nil {
		return nil, err
	}
	for _, name := range slices.Concat(in.Add, in.Remove) {
		if err := checkDomainName(name); err != nil {
			return nil, fmt.Errorf("%q is not a domain name: use lower-case host names, *.x for all names below x", name)
		}
	}
	s.SetResolving(true, in.Add...)
	s.SetResolving(false, in.Remove...)
	return s.Resolving(), nil
}

// postSeed adds to the world; the body is a seed in YAML or JSON.
func postSeed(s *Sim, r *http.Request) (any, error) {
	body, err := controlBody(r)
	if err != nil {
		return nil, err
	}
	seed, err := decodeSeed("in the request body", body)
	if err != nil {
		return nil, err
	}
	if err := s.Load(seed); err != nil {
		return nil, err
	}
	return done, nil
}

// postCertificate moves a certificate to a state only AWS can bring about.
func postCertificate(s *Sim, r *http.Request) (any, error) {
	var in CertificateChange
	if err := readControl(r, &in); err != nil {
		return nil, err
	}
	if err := s.ChangeCertificate(in); err != nil {
		return nil, err
	}
	return done, nil
}

// postServeToken makes the customers' own hosts answer with their tokens.
func postServeToken(s *Sim, r *http.Request) (any, error) {
	var in struct {
		Domains []string `json:"domains"`
	}
	if err := readControl(r, &in); err != nil {
		return nil, err
	}
	if err := s.ServeToken(in.Domains...); err != nil {
		return nil, err
	}
	return done, nil
}

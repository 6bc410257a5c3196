package controlplane

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// auditPolicy records every request once it is answered. A watch is answered when it begins, which
// is a stage of its own: its end may never be seen.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
`

func (cp *ControlPlane) auditLog() string { return filepath.Join(cp.logDir, "audit.log") }

func (cp *ControlPlane) auditFlags() []string {
	return []string{
		"--audit-policy-file=" + cp.path("audit-policy.yaml"),
		"--audit-log-path=" + cp.auditLog(),
		// A request is answered only after it was written, so that none is missing.
		"--audit-log-mode=blocking-strict",
		// Megabytes; at the default of 100 the log would continue in another file.
		"--audit-log-maxsize=100000",
	}
}

// Request is one request to the API server, as it was answered.
type Request struct {
	User, Verb string
	// Path is for requests of no resource, such as /healthz.
	Path                                               string
	APIGroup, Resource, Subresource, Object, Namespace string
	// Code is the status of the answer.
	Code int
	// Forbidden is set where the authorizer refused it. With the same code 403 admission refuses, too, for one
	// to create something in a namespace that is being deleted.
	Forbidden bool
	// Reason is why it was allowed or refused, in the authorizer's words.
	Reason string
}

// auditEvent is the part of an audit event that is read here.
type auditEvent struct {
	AuditID    string `json:"auditID"`
	Verb       string `json:"verb"`
	RequestURI string `json:"requestURI"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef *struct {
		APIGroup    string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	Annotations map[string]string `json:"annotations"`
}

// Audit returns what the user has requested so far, oldest first. The control plane has to be
// started with Options.Audit.
func (cp *ControlPlane) Audit(user string) ([]Request, error) {
	content, err := os.ReadFile(cp.auditLog())
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	// The text after the last line end is still being written.
	return parseAudit(content[:bytes.LastIndexByte(content, '\n')+1], user)
}

func parseAudit(content []byte, user string) ([]Request, error) {
	var out []Request
	seen := map[string]bool{} // a watch has two stages
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e auditEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("reading the audit log: %w", err)
		}
		if e.User.Username != user || seen[e.AuditID] {
			continue
		}
		seen[e.AuditID] = true
		out = append(out, e.request())
	}
	return out, lines.Err()
}

func (e auditEvent) request() Request {
	r := Request{
		User: e.User.Username, Verb: e.Verb, Code: e.ResponseStatus.Code,
		Forbidden: e.Annotations["authorization.k8s.io/decision"] == "forbid", Reason: e.Annotations["authorization.k8s.io/reason"],
	}
	if o := e.ObjectRef; o != nil {
		r.APIGroup, r.Resource, r.Subresource, r.Namespace, r.Object = o.APIGroup, o.Resource, o.Subresource, o.Namespace, o.Name
	} else {
		r.Path = e.RequestURI
	}
	return r
}

package aws

import (
	"slices"
	"strconv"
	"strings"
)

func (s *Sim) loadRole(i int, r SeedRole) error {
	match := roleArn.FindStringSubmatch(r.ARN)
	if match == nil {
		return &seedError{at("roles", i, "arn"), r.ARN, "is not the ARN of a role", "use the form arn:aws:iam::111122223333:role/name"}
	}
	if r.ExternalID != "" && !plausibleExternalID(r.ExternalID) {
		return &seedError{at("roles", i, "externalId"), r.ExternalID, "is not an external id", "write 2 to 1224 letters, digits and _+=,.@:/-"}
	}
	next := &role{arn: r.ARN, account: match[1], externalID: r.ExternalID, denied: r.Denied, tagSession: r.TagSession, sessions: map[string]int{}}
	if before := s.world.roles[r.ARN]; before != nil {
		next.sessions = before.sessions // so that no access key is handed out twice
	}
	s.world.roles[r.ARN] = next
	s.account(next.account)
	return nil
}

// loadManaged gives a seeded tenant the certificate it once asked for.
func (s *Sim) loadManaged(place string, a *account, r *record[tenant], m SeedManagedCertificate) error {
	if m.ValidationTokenHost == "" {
		m.ValidationTokenHost = hostCloudFront
	}
	if m.Status == "" {
		m.Status = certIssued
	}
	if m.ARN == "" {
		a.requests[r.id]++
		m.ARN = "arn:aws:acm:us-east-1:" + a.id + ":certificate/" + s.derive.uuid("managed", r.id, strconv.Itoa(a.requests[r.id]))
	}
	next := *r.current()
	names := next.domainNames()
	switch {
	case acmRegion(m.ARN) != "us-east-1" || a.certificates.byARN[m.ARN] != nil:
		return &seedError{place + ".arn", m.ARN, "already exists or is not the ARN of an ACM certificate in us-east-1", "use the form " + DefaultCertificateARN + ", or omit it"}
	case m.ValidationTokenHost != hostCloudFront && m.ValidationTokenHost != hostSelfHosted:
		return &seedError{place + ".validationTokenHost", m.ValidationTokenHost, "hosts no tokens", "use cloudfront or self-hosted"}
	case !slices.Contains(certificateStates, m.Status):
		return &seedError{place + ".status", m.Status, "is not a state of a certificate", "use one of " + strings.Join(certificateStates, ", ")}
	case slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "*.") }):
		return &seedError{place, strings.Join(names, ", "), "has a wildcard in it", "leave the wildcard out: no managed certificate covers one"}
	case m.FailureReason != "" && (m.Status != certFailed || !slices.Contains(failureReasons, m.FailureReason)):
		return &seedError{place + ".failureReason", m.FailureReason, "is not a reason of a certificate with the status " + m.Status, "for FAILED use one of " + strings.Join(failureReasons, ", ")}
	case m.Attached && slices.Contains([]string{certPending, certTimedOut, certFailed}, m.Status):
		return &seedError{place + ".attached", "true", "is set though the certificate is " + m.Status, "only one that was issued can be attached"}
	}
	now := s.now()
	next.managed = s.storeManaged(a, r.id, m.ARN, m.ValidationTokenHost, names, now)
	cert := a.certificates.byARN[m.ARN]
	cert.status, cert.failure = m.Status, m.FailureReason
	if !slices.Contains([]string{certPending, certTimedOut, certFailed}, m.Status) {
		cert.issued = now
		cert.live(now)
		if m.NotAfter != nil {
			cert.notAfter = *m.NotAfter
		}
		s.willAge(cert.notAfter.Add(-renewalLead))
	}
	if m.Attached {
		next.custom.cert = m.ARN
	} else {
		s.deactivate(a, &next)
	}
	s.replaceTenant(a, r, &next, now)
	return nil
}

// deactivate makes the domains of a seeded tenant wait for a certificate, but
// for those that another one covers.
func (s *Sim) deactivate(a *account, t *tenant) {
	c := &call{acct: a, now: s.now()}
	t.domains = slices.Clone(t.domains)
	for i, d := range t.domains {
		t.domains[i].active = s.covered(c, t, d.name)
	}
}

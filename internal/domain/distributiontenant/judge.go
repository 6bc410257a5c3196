package distributiontenant

import (
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// judged is an input with what follows from it, in which nothing changes any more. The rules are asked about it.
type judged struct {
	Input
	*facts
}

// facts are what the rules read, found once for each decision.
type facts struct {
	resource    *resource.View
	certificate certificate.Fact
	// first means that the records come before the tenant.
	first       bool
	publication publication.Fact
	// unproven are the domains of the spec that the tenant is not given before they are proven, and unled those that DNS
	// does not lead to CloudFront, of which AWS is not asked yet.
	unproven []proof.Entry
	unled    []string
	// departing are those that a standard distribution still has: the tenant gets them by a move, and by nothing else.
	departing []string
	failure   failure
	aim       aim
	turn      turn
	// certificates are the ARNs of the managed certificates that were ever seen for this tenant. All of them are stored
	// if status has them.
	certificates []string
	stored       bool
}

// ledFirst reports whether the domains have to lead to CloudFront before the tenant: it proves them itself, and takes none
// that does not.
func (f *facts) ledFirst() bool {
	r := f.certificate.Request
	return r != nil && r.ValidationTokenHost != certificate.SelfHosted
}

// partial reports whether a change of domains, or of the service, has to wait.
func (f *facts) partial() bool {
	return !f.resource.Deleting && (f.turn.waits || len(f.publication.Waiting)+len(f.publication.Leaving)+len(f.unproven)+len(f.unled)+len(f.departing) > 0)
}

// judge finds the facts. Each follows from the input and from those before it.
func judge(in Input) judged {
	f := &facts{unproven: in.missingProofs()}
	in = in.onlyProven()
	f.departing = in.departures()
	in = in.onlyArrived(f.departing)
	f.unled = in.heldFromAWS()
	j := judged{in.onlyLed(f.unled), f}
	f.resource = j.view()
	f.certificate = certificate.Judge(j.certificateCase())
	f.first = j.publishes() && f.ledFirst()
	f.failure = j.judgeFailure()
	f.aim = j.aimed() // before it is known what has to wait
	f.turn = j.judgeTurn()
	f.publication = publication.Judge(j.publicationCase())
	f.aim = j.compared()
	f.certificates = j.seenCertificates()
	f.stored = slices.Equal(f.certificates, in.Memory.Certificates)
	return j
}

// serves reports whether CloudFront answers for the domain.
func (in judged) serves(domain string) bool {
	return in.resource.Mine() && in.World.Tenant.DomainStates[domain] == DomainActive
}

package aws

import (
	"net/http"
	"strings"
	"time"
)

// service is one AWS API on the shared port. A further one (Route 53, STS)
// implements this and is added to the list in New.
type service interface {
	// accepts tells whether a request is for this service.
	accepts(r *http.Request) bool
	// decode finds the operation and reads its input. The call is never nil,
	// so that a refused request is counted too.
	decode(r *http.Request, body []byte) (*call, error)
	encode(c *call, out reply) answer
	encodeError(c *call, err error) answer
	// codeOf is the code the service would put on the wire.
	codeOf(err error) string
	throttleCode() string
}

// operation is one entry of an API.
type operation struct {
	name     string
	mutating bool
	handle   func(*Sim, *call) (reply, error)

	// The rest is for services that dispatch on method and path.
	method string
	path   string // below the version prefix; {} stands for one segment
	query  string // a key, or key=value, that must be there
}

// unknownOperation is what requests that match nothing are counted as.
var unknownOperation = &operation{name: "UnknownOperation"}

// call is one request on its way through the simulator.
type call struct {
	svc       service
	op        *operation
	acct      *account
	now       time.Time
	requestID string
	session   *session // behind temporary credentials
	throttled bool
	committed bool

	vars    []string // what the {} of the path stood for
	query   map[string][]string
	ifMatch string
	body    *node          // XML services
	input   map[string]any // JSON services

	// What the call is about, as far as known, for faults and the journal.
	mentions   []string
	records    []string // what a batch does to each record
	id         string
	name       string
	externalID string
}

// about notes the resource a call concerns.
func (c *call) about(id, name string) {
	c.id, c.name = id, name
}

// param returns a query parameter.
func (c *call) param(key string) string {
	if values := c.query[key]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// reply is what an operation returns.
type reply struct {
	status   int
	etag     string
	location string
	body     *node
	json     any
}

// route finds the service of a request.
func (s *Sim) route(r *http.Request) service {
	for _, svc := range s.services {
		if svc.accepts(r) {
			return svc
		}
	}
	return cloudFront{} // its decoder answers that nothing matches
}

// identify finds out which resource a call speaks of.
func (s *Sim) identify(c *call) {
	c.mentions = append(c.mentions, c.vars...)
	if _, ok := c.svc.(route53); ok {
		s.route53Mentions(c)
		return
	}
	for _, key := range []string{"Resource", "domain", "RoutingEndpoint", "RoleArn", "RoleSessionName"} {
		c.mentions = append(c.mentions, c.query[key]...)
	}
	for _, key := range []string{"Name", "Identifier", "Domain"} {
		if v := c.body.str(key); v != "" {
			c.mentions = append(c.mentions, v)
		}
	}
	for _, path := range [][]string{{"CallerReference"}, {"DistributionConfig", "CallerReference"}} {
		if ref := c.body.str(path...); ref != "" && strings.HasPrefix(c.op.name, "CreateDistribution") {
			c.mentions = append(c.mentions, ref)
			c.name = ref
		}
	}
	if arn, ok := c.input["CertificateArn"].(string); ok {
		c.mentions = append(c.mentions, arn)
		c.about(arn, "")
	}
	for _, mention := range c.mentions {
		if id, name, ok := c.acct.lookup(mention, s.world); ok {
			c.about(id, name)
			c.mentions = append(c.mentions, id, name)
			return
		}
	}
	if c.name == "" {
		c.name = c.body.str("Name")
	}
}

// lookup finds a resource of any kind by id, name, ARN or domain.
func (a *account) lookup(mention string, w *world) (id, name string, ok bool) {
	if r := a.tenants.resolve(mention); r != nil {
		return r.id, r.name, true
	}
	if r := a.groups.resolve(mention); r != nil {
		return r.id, r.name, true
	}
	if r := a.distributions.resolve(mention); r != nil {
		return r.id, r.current().reference(), true
	}
	if holder, held := w.domains[mention]; held && holder.account == a.id && holder.kind == kindTenant {
		if r := a.tenants.find(holder.id); r != nil {
			return r.id, r.name, true
		}
	}
	return "", "", false
}

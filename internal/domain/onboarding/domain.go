package onboarding

import (
	"fmt"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
)

// State says how far a domain is on its way to being served.
type State string

// The states.
const (
	AwaitingProof State = "AwaitingProof"
	AwaitingDNS   State = "AwaitingDNS"
	Validating    State = "Validating"
	Issuing       State = "Issuing"
	Deploying     State = "Deploying"
	Live          State = "Live"
	Lost          State = "Lost"
	Disabled      State = "Disabled"
	Leaving       State = "Leaving"
	Refused       State = "Refused"
)

// Stage is how far the certificate of a domain is.
type Stage int

// The stages.
const (
	// Covered means that a certificate of the tenant or of its distribution covers the domain, as far as is known.
	Covered Stage = iota
	// Requested means that CloudFront is asked for one, and is at work on it.
	Requested
	// Issued means that it was issued and is not attached yet.
	Issued
	// Uncovered means that none is asked for, and CloudFront does not serve the domain.
	Uncovered
)

// Facts are all that a state follows from.
type Facts struct {
	Domain string
	Place  Place
	// Before is the state that was last told; empty for a new domain.
	Before State
	// Leaving means that the domain is not wanted any more, and not gone yet.
	Leaving bool
	// Refused is why nothing happens before a manual action of the platform, and Stopped why the operator does not work on
	// the domain at the moment. Empty: nothing keeps it back.
	Refused, Stopped string

	// Proof is the record that has to prove the domain, or did; nil if none has to. ProofSight is what DNS shows of it.
	Proof      *proof.Entry
	ProofSight proof.Sight

	// Publishes means that the operator publishes the records, which are Published. InDNS means that all of them are
	// there. Held is why they are not, and Blocked that a user has to act for it.
	Publishes, InDNS bool
	Published        []Record
	Held             string
	Blocked          bool

	// Targets are where DNS may lead the domain, the first is the one to recommend; Addresses are those for an apex.
	Targets, Addresses []string
	// Untargeted is why no target is known although it was looked up, as the end of a sentence; empty if it was not.
	Untargeted string
	// Watched means that public DNS is looked at. Sight is what it shows.
	Watched bool
	Sight   Sight

	// First means that CloudFront takes the domain only once DNS leads it there.
	First bool
	// Departs means that a standard distribution has the domain, from which it is moved.
	Departs bool
	// Has means that the tenant has the domain, Served that CloudFront answers for it, and Settled that the tenant is
	// deployed. Enabled is what the spec says.
	Has, Served, Settled, Enabled bool
	Certificate                   Stage
	// Off is why CloudFront answers for none of the tenant's domains although the spec enables it; empty if it does.
	// Others means that the tenant is not created before DNS leads its other domains there, too.
	Off    string
	Others bool
	// Redirect is what the web server of the domain has to answer with; nil if nothing.
	Redirect *Redirect
	// Word is what AWS says about the domain, and Renewal what keeps the renewal of its certificate up.
	Word, Renewal string
}

// Domain is what is told of a domain.
type Domain struct {
	Domain   string
	State    State
	WaitsFor Party
	Message  string
	Records  []Record
}

// Row is one line of the table of states.
type Row struct {
	State    State
	When     string
	WaitsFor string
	holds    func(Facts) bool
	tell     func(Facts, []Record) (Party, string)
}

// Table lists the states. The first whose facts hold is the state of a domain.
func Table() []Row {
	return []Row{
		{Leaving, "The spec no longer has the domain, or the object is being deleted.", "nothing", func(f Facts) bool { return f.Leaving }, told("", "The domain is being removed.")},
		{Disabled, "The tenant or its distribution is disabled, by the spec or outside of Kubernetes.", "the platform", func(f Facts) bool { return f.Has && (!f.Enabled || f.Off != "") }, Facts.tellDisabled},
		{Lost, "CloudFront serves the domain, which has pointed elsewhere for hours.", "the customer", Facts.lost, Facts.tellLost},
		{Live, "CloudFront serves the domain, the tenant is deployed, and the domain points there. Where public DNS can't be asked, CloudFront's word is enough.", "nothing", Facts.live, Facts.tellLive},
		{Refused, "AWS, the grant or a claim refuses what the spec asks for, or the domain can't belong to a customer.", "the platform", Facts.refused, Facts.tellRefused},
		{AwaitingProof, "The grant demands a proof of the domain, and its TXT record was not found.", "the customer", Facts.unproven, Facts.tellUnproven},
		{AwaitingDNS, "CloudFront takes the domain only once it points there, or would serve it if it did, and it does not.", "the customer; for records of the operator, the operator or the platform", Facts.awaitsDNS, Facts.tellDNS},
		{Validating, "CloudFront checks the domain, or will once the operator may add it, or a web server has to answer its challenge, or no certificate covers the domain.", "AWS, the customer or the platform", Facts.validating, Facts.tellValidating},
		{Issuing, "CloudFront was asked for a certificate and has not issued it.", "AWS", func(f Facts) bool { return f.Has && !f.Served && f.Certificate == Requested }, Facts.tellIssuing},
		{Deploying, "Everything is there, and CloudFront distributes it to its edge locations, or the domain is about to be moved.", "AWS; before a move, the operator; if the object is paused, the platform", func(Facts) bool { return true }, Facts.tellDeploying},
	}
}

// Judge says what a domain needs.
func Judge(f Facts) Domain {
	if !f.Watched {
		f.Sight = Sight{} // what was seen before says nothing
	}
	records := f.records()
	for _, row := range Table() {
		if row.holds(f) {
			d := Domain{Domain: f.Domain, State: row.State, Records: records}
			d.WaitsFor, d.Message = row.tell(f, records)
			return d
		}
	}
	return Domain{}
}

// told tells the same of each domain.
func told(p Party, message string) func(Facts, []Record) (Party, string) {
	return func(Facts, []Record) (Party, string) { return p, message }
}

// wasLive reports whether customers were served under the domain already.
func (f Facts) wasLive() bool { return f.Before == Live || f.Before == Lost }

// led reports whether DNS leads the domain to CloudFront, as far as is known.
func (f Facts) led() bool {
	switch {
	case f.Publishes:
		return f.InDNS || f.wasLive()
	case !f.Watched || f.Sight.Way == Silent || f.Sight.Way == Here:
		return true
	}
	// One that is live stays so until it is certain that it is not.
	return f.wasLive()
}

func (f Facts) live() bool { return f.Enabled && f.Served && f.led() && (f.Settled || f.wasLive()) }

func (f Facts) lost() bool {
	if !f.Served || !f.wasLive() || !f.Watched || f.Publishes {
		return false
	}
	// A process that has just started has not seen for itself yet.
	return f.Sight.Lost() || f.Before == Lost && f.Sight.Way != Here && f.Sight.Way != Partly
}

func (f Facts) refused() bool { return f.Refused != "" && !f.Served || f.Place.Suffix && !f.Has }

func (f Facts) unproven() bool { return f.Proof != nil && !f.Proof.Proven() && !f.Has }

// awaitsDNS reports whether DNS is what is missing now. A tenant that needs no DNS before is deployed first, so that a
// domain never leads to CloudFront while a stranger could claim it there.
func (f Facts) awaitsDNS() bool {
	switch {
	case f.Has && f.Served:
		return f.Settled && !f.led()
	case !f.First:
		return false
	case f.Publishes:
		return !f.InDNS
	case !f.Watched, f.Sight.Way == Silent:
		return !f.Has
	}
	return f.Sight.Way != Here
}

func (f Facts) validating() bool {
	return f.First && !f.Has || f.Redirect != nil && !f.Served || f.Has && !f.Served && f.Certificate == Uncovered
}

func (f Facts) tellDisabled([]Record) (Party, string) {
	if f.Enabled {
		return Platform, f.Off
	}
	return Platform, "The distribution tenant is disabled, as the spec requests. Set spec.enabled to true to serve the domain."
}

func (f Facts) tellLost(records []Record) (Party, string) {
	return Customer, join("The domain was live, but now "+f.seenText("it"), "Nothing was removed: CloudFront still serves it.", f.advice(records, "Restore"))
}

func (f Facts) tellLive(records []Record) (Party, string) {
	switch {
	case f.Renewal != "":
		return Customer, "The domain is live. " + f.Renewal
	case !f.Publishes && f.Watched && f.Sight.Way.Astray():
		return Customer, join("CloudFront serves the domain, but "+f.seenText("it"), f.advice(records, "Restore"))
	}
	return "", "The domain is live."
}

func (f Facts) tellRefused([]Record) (Party, string) {
	if f.Refused == "" {
		return Platform, f.Domain + " is a public suffix: others register their domains under it, and it can't belong to a customer. Remove it from spec.domains."
	}
	return Platform, f.Refused
}

func (f Facts) tellUnproven([]Record) (Party, string) {
	text := fmt.Sprintf("Create the TXT record %s with the value %q. It proves whose the domain is.", f.Proof.Name, f.Proof.Value)
	if finding := f.ProofSight.Finding(); finding != "" {
		text += " " + finding
	}
	return Customer, text
}

func (f Facts) tellDNS(records []Record) (Party, string) {
	switch {
	case f.Publishes && f.Blocked:
		return Platform, f.Held
	case f.Publishes:
		return Operator, f.Held
	case len(f.Targets) == 0 && f.Untargeted != "":
		return Platform, "The domain has to point to " + f.Untargeted
	case len(f.Targets) == 0:
		return Operator, "The operator looks up where the domain has to point."
	case f.Sight.Way == Partly:
		return AWS, "Some DNS resolvers return the new record, others still have the previous one. They follow when its TTL has passed."
	case !f.Watched, !f.Sight.Way.Known():
		return Customer, f.advice(records, "Create")
	case f.Sight.Way == Failing && len(f.Sight.Seen) == 0:
		return Customer, join(sentence(f.seenText("the domain")), f.advice(records, "Fix that, and create"))
	case f.Sight.Way == Nowhere:
		return Customer, join(sentence(f.seenText("the domain")), f.advice(records, "Create"))
	}
	return Customer, join(sentence(f.seenText("the domain")), f.advice(records, "Replace that with"))
}

func (f Facts) tellValidating([]Record) (Party, string) {
	switch {
	case f.Redirect != nil:
		return Customer, fmt.Sprintf("Have the web server of the domain redirect http://%s to https://%s, so that its certificate can be validated.", f.Redirect.From, f.Redirect.To)
	case f.Has && f.Certificate == Uncovered:
		return Platform, "No certificate covers the domain. Request one with spec.managedCertificateRequest, or use one that covers it." + f.word()
	}
	if f.Stopped != "" {
		return Platform, "The domain points to CloudFront. " + f.Stopped
	}
	if f.Others {
		return Customer, "The domain points to CloudFront. It is added once the other domains of the tenant do, too."
	}
	if f.Word != "" {
		return AWS, "The domain points to CloudFront, which has not accepted it yet. The operator retries." + f.word()
	}
	return AWS, "The domain points to CloudFront, which checks it now."
}

func (f Facts) tellIssuing([]Record) (Party, string) {
	return AWS, "The certificate of the domain is being issued. That usually takes minutes." + f.word()
}

func (f Facts) tellDeploying([]Record) (Party, string) {
	if f.Departs && f.Stopped == "" {
		return Operator, "A standard distribution serves the domain, until the operator moves it to the distribution tenant. Change its DNS record after the move."
	}
	if f.Stopped != "" && !f.Has {
		return Platform, f.Stopped
	}
	return AWS, "CloudFront is deploying the distribution tenant. That usually takes minutes."
}

func (f Facts) word() string {
	if f.Word == "" {
		return ""
	}
	return " AWS: " + f.Word
}

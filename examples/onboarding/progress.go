package main

import (
	"slices"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// progress is what the page shows of a domain.
type progress struct {
	Domain string               `json:"domain"`
	State  v1alpha1.DomainState `json:"state"`
	// Title and Text are for the customer.
	Title string `json:"title"`
	Text  string `json:"text"`
	// Step is how many of the steps on the page are done.
	Step int `json:"step"`
	// Stopped means that the domain does not become live before someone acts on the platform's side.
	Stopped bool `json:"stopped,omitempty"`
	// Records are those that the customer sets.
	Records []v1alpha1.DomainRecord `json:"records"`
}

// story is what a customer is told in a state.
type story struct {
	title, text string
	step        int
	stopped     bool
}

// stories are what a customer is told. The operator's own message is for engineers, and may name objects of the cluster.
var stories = map[v1alpha1.DomainState]story{
	v1alpha1.DomainAwaitingProof: {title: "Prove that the domain is yours", text: "Add the records below at your DNS provider. We check for them automatically."},
	v1alpha1.DomainAwaitingDNS:   {title: "Set your DNS record", text: "Add the record below at your DNS provider. We check for it automatically."},
	v1alpha1.DomainValidating:    {title: "Checking your domain", text: "Your DNS record is right. CloudFront is verifying your domain.", step: 1},
	v1alpha1.DomainIssuing:       {title: "Issuing your certificate", text: "Your certificate is being issued. This usually takes a few minutes.", step: 2},
	v1alpha1.DomainDeploying:     {title: "Almost there", text: "Your domain is being set up around the world. This usually takes a few minutes.", step: 3},
	v1alpha1.DomainLive:          {title: "Your domain is live", text: "Visitors reach you under your own domain, with HTTPS.", step: 4},
	v1alpha1.DomainLost:          {title: "Your domain points elsewhere", text: "It was live, but its DNS record has changed. Restore the record below."},
	v1alpha1.DomainDisabled:      {title: "Your domain is switched off", text: "Contact support to switch it on again.", stopped: true},
	v1alpha1.DomainLeaving:       {title: "Your domain is being removed", text: "You can add it again when that is done.", stopped: true},
	v1alpha1.DomainRefused:       {title: "We can't use this domain", text: "It may be in use elsewhere. Contact support.", stopped: true},
}

// astray is what a customer is told of a live domain whose DNS record has changed.
var astray = story{title: "Check your DNS record", text: "Your domain no longer points here. Restore the record below."}

// progressOf is what is shown of a domain. An object that the operator has not seen yet has no state.
func progressOf(t *v1alpha1.DistributionTenant, domain string) progress {
	p := progress{Domain: domain, Title: "Preparing your domain", Text: "This takes a few seconds.", Records: []v1alpha1.DomainRecord{}}
	for _, d := range t.Status.Domains {
		if d.Domain != domain {
			continue
		}
		told := stories[d.State]
		if d.State == v1alpha1.DomainLive && slices.ContainsFunc(d.Records, pointsElsewhere) {
			told = astray
		}
		p.State, p.Title, p.Text, p.Step, p.Stopped = d.State, told.title, told.text, told.step, told.stopped
		for _, r := range d.Records {
			if r.PublishedBy == v1alpha1.PartyCustomer && r.Value != "" {
				p.Records = append(p.Records, r)
			}
		}
	}
	return p
}

// pointsElsewhere reports whether a record that brings visitors is not as the customer has to set it.
func pointsElsewhere(r v1alpha1.DomainRecord) bool {
	return r.PublishedBy == v1alpha1.PartyCustomer && r.Purpose == v1alpha1.PurposeRouting &&
		(r.State == v1alpha1.RecordMissing || r.State == v1alpha1.RecordWrong)
}

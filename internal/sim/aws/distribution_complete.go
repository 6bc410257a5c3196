package aws

import (
	"cmp"
	"slices"
	"strings"
)

// complete adds what the service answers with although it was not sent, and
// puts lists without an order into its own. For a multi-tenant distribution
// that is only what may be sent back, unless a switch says otherwise.
func (s *Sim) complete(d *distribution) {
	config := d.config
	standard := d.mode == modeDirect || s.switches.UnsupportedEchoed
	fill(config,
		txt("ConnectionMode", d.mode),
		txt("DefaultRootObject", ""),
		el("OriginGroups", intEl("Quantity", 0)),
		el("CacheBehaviors", intEl("Quantity", 0)),
		el("CustomErrorResponses", intEl("Quantity", 0)),
		el("ViewerCertificate", boolEl("CloudFrontDefaultCertificate", true)),
		el("Restrictions", el("GeoRestriction", txt("RestrictionType", "none"), intEl("Quantity", 0))),
		txt("WebACLId", ""),
		txt("HttpVersion", "http2"),
		el("Logging"),
	)
	completeLogging(config.child("Logging"))
	if standard {
		fill(config,
			el("Aliases", intEl("Quantity", 0)),
			txt("PriceClass", priceClass(d.mode)),
			boolEl("IsIPV6Enabled", false),
			boolEl("Staging", false),
		)
	}
	for _, origin := range origins(config) {
		completeOrigin(origin)
	}
	for _, g := range originGroups(config) {
		fill(g, txt("SelectionCriteria", "default"))
	}
	for _, b := range behaviors(config) {
		completeBehavior(b, standard)
	}
	for _, r := range config.at("CustomErrorResponses", "Items").items("CustomErrorResponse") {
		fill(r, txt("ResponsePagePath", ""), txt("ResponseCode", ""), intEl("ErrorCachingMinTTL", 10))
	}
	completeCertificate(config.child("ViewerCertificate"), d)
	s.reorder(config)
}

// priceClass is the one of a distribution that says none. Multi-tenant ones
// have none, for which the API has a word.
func priceClass(mode string) string {
	if mode == modeTenantOnly {
		return "None"
	}
	return "PriceClass_All"
}

// fill adds the children that are absent.
func fill(n *node, kids ...*node) {
	for _, kid := range kids {
		if n.child(kid.name) == nil {
			n.kids = append(n.kids, kid)
		}
	}
}

func completeLogging(logging *node) {
	fill(logging, boolEl("Enabled", false), boolEl("IncludeCookies", false), txt("Bucket", ""), txt("Prefix", ""))
	if !logging.isTrue("Enabled") {
		logging.set(txt("Bucket", ""))
		logging.set(txt("Prefix", ""))
	}
}

func completeOrigin(origin *node) {
	fill(origin,
		txt("OriginPath", ""),
		el("CustomHeaders", intEl("Quantity", 0)),
		intEl("ConnectionAttempts", 3),
		intEl("ConnectionTimeout", 10),
		el("OriginShield", boolEl("Enabled", false)),
		txt("OriginAccessControlId", ""),
	)
	if s3 := origin.child("S3OriginConfig"); s3 != nil {
		fill(s3, intEl("OriginReadTimeout", 30))
	}
	if vpc := origin.child("VpcOriginConfig"); vpc != nil {
		fill(vpc, intEl("OriginReadTimeout", 30), intEl("OriginKeepaliveTimeout", 5))
	}
	if custom := origin.child("CustomOriginConfig"); custom != nil {
		fill(custom,
			el("OriginSslProtocols", intEl("Quantity", 3), texts("SslProtocol", "TLSv1", "TLSv1.1", "TLSv1.2")),
			intEl("OriginReadTimeout", 30),
			intEl("OriginKeepaliveTimeout", 5),
			txt("IpAddressType", "ipv4"),
		)
	}
}

// texts makes the items of a list.
func texts(name string, values ...string) *node {
	items := el("Items")
	for _, value := range values {
		items.kids = append(items.kids, txt(name, value))
	}
	return items
}

func completeBehavior(b *node, standard bool) {
	if standard {
		fill(b, el("TrustedSigners", boolEl("Enabled", false), intEl("Quantity", 0)), boolEl("SmoothStreaming", false))
	}
	fill(b,
		el("TrustedKeyGroups", boolEl("Enabled", false), intEl("Quantity", 0)),
		el("AllowedMethods", intEl("Quantity", 2), texts("Method", "HEAD", "GET")),
		boolEl("Compress", false),
		el("LambdaFunctionAssociations", intEl("Quantity", 0)),
		el("FunctionAssociations", intEl("Quantity", 0)),
		txt("FieldLevelEncryptionId", ""),
		el("GrpcConfig", boolEl("Enabled", false)),
	)
	fill(b.child("AllowedMethods"), el("CachedMethods", intEl("Quantity", 2), texts("Method", "HEAD", "GET")))
	for _, a := range b.at("LambdaFunctionAssociations", "Items").items("LambdaFunctionAssociation") {
		fill(a, boolEl("IncludeBody", false))
	}
	if old := b.child("ForwardedValues"); old != nil {
		fill(old, el("Headers", intEl("Quantity", 0)), el("QueryStringCacheKeys", intEl("Quantity", 0)))
		least := b.number("MinTTL")
		usual := b.numberOr("DefaultTTL", max(86_400, least))
		fill(b, intEl("DefaultTTL", usual), intEl("MaxTTL", max(31_536_000, usual)))
	}
}

// completeCertificate adds the deprecated members, with which the service says
// the same once more.
func completeCertificate(cert *node, d *distribution) {
	iam := cert.str("IAMCertificateId")
	switch {
	case cert.isTrue("CloudFrontDefaultCertificate"):
		cert.kids = []*node{boolEl("CloudFrontDefaultCertificate", true)}
		if d.mode == modeDirect {
			cert.set(txt("SSLSupportMethod", "vip"))
		}
		cert.set(txt("MinimumProtocolVersion", "TLSv1"))
		cert.set(txt("CertificateSource", "cloudfront"))
	case iam != "":
		cert.set(boolEl("CloudFrontDefaultCertificate", false))
		cert.set(txt("Certificate", iam))
		cert.set(txt("CertificateSource", "iam"))
	default:
		cert.set(boolEl("CloudFrontDefaultCertificate", false))
		cert.set(txt("ACMCertificateArn", d.certArn))
		cert.set(txt("Certificate", d.certArn))
		cert.set(txt("CertificateSource", "acm"))
	}
}

// methodOrder is the one the service answers in, whatever was sent.
var methodOrder = []string{"HEAD", "DELETE", "POST", "GET", "OPTIONS", "PUT", "PATCH"}

// unordered are the lists in which the order means nothing, by the name of their items.
var unordered = []string{
	"Origin", "OriginGroup", "OriginCustomHeader", "CustomErrorResponse", "CNAME", "FunctionAssociation", "LambdaFunctionAssociation",
	"KeyGroup", "StatusCode", "SslProtocol",
}

// reorder sorts methods and locations, and if a switch is set turns every
// other list round whose order means nothing.
func (s *Sim) reorder(n *node) {
	if len(n.kids) > 0 {
		switch item := n.kids[0].name; {
		case item == "Method":
			slices.SortStableFunc(n.kids, func(a, b *node) int {
				return cmp.Compare(slices.Index(methodOrder, a.text), slices.Index(methodOrder, b.text))
			})
		case item == "Location":
			slices.SortFunc(n.kids, func(a, b *node) int { return strings.Compare(a.text, b.text) })
		case s.switches.SetsReordered && (slices.Contains(unordered, item) || n.name == "ParameterDefinitions"):
			slices.Reverse(n.kids)
		}
	}
	for _, kid := range n.kids {
		s.reorder(kid)
	}
}

package aws

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// behaviors are the default cache behavior and the others.
func behaviors(config *node) []*node {
	all := []*node{config.child("DefaultCacheBehavior")}
	return append(all, config.at("CacheBehaviors", "Items").items("CacheBehavior")...)
}

var (
	pathPattern  = regexp.MustCompile(`^[A-Za-z0-9_.*$/~"'@:+&?-]{1,255}$`)
	policyID     = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)
	functionArn  = regexp.MustCompile(`^arn:aws[a-z-]*:cloudfront::[0-9]{12}:function/[A-Za-z0-9_-]{1,64}$`)
	lambdaArn    = regexp.MustCompile(`^arn:aws[a-z-]*:lambda:us-east-1:[0-9]{12}:function:[A-Za-z0-9_-]{1,64}:[0-9]+$`)
	cachedSets   = [][]string{{"GET", "HEAD"}, {"GET", "HEAD", "OPTIONS"}}
	allowedSets  = slices.Concat(cachedSets, [][]string{{"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"}})
	viewerEvents = []string{"viewer-request", "viewer-response"}
)

// checkBehaviors looks at every cache behavior, and at what it refers to.
func (s *Sim) checkBehaviors(d *distribution) error {
	var targets, patterns []string
	for _, n := range slices.Concat(origins(d.config), originGroups(d.config)) {
		targets = append(targets, n.str("Id"))
	}
	all := behaviors(d.config)
	if len(all) > s.quotas.CacheBehaviors {
		return tooMany("TooManyCacheBehaviors", "cache behaviors", s.quotas.CacheBehaviors, len(all))
	}
	for i, b := range all {
		if pattern := b.str("PathPattern"); i > 0 {
			// The slash at the beginning makes no difference.
			same := strings.TrimPrefix(pattern, "/")
			switch {
			case !pathPattern.MatchString(pattern):
				return invalidArgument("The parameter PathPattern is not valid: %q.", pattern)
			case slices.Contains(patterns, same):
				return invalidArgument("The path pattern %s is listed twice.", pattern)
			}
			patterns = append(patterns, same)
		}
		if target := b.str("TargetOriginId"); !slices.Contains(targets, target) {
			return noSuchOrigin("The cache behavior targets the origin", target)
		}
		for _, check := range []func(*node) error{checkCaching, checkMethods, s.checkFunctions, s.checkLambdas, s.checkSigners} {
			if err := check(b); err != nil {
				return err
			}
		}
		if err := checkGRPC(d.config, b); err != nil {
			return err
		}
	}
	return nil
}

// checkCaching wants a cache policy, or else the older settings.
func checkCaching(b *node) error {
	policy, old := b.str("CachePolicyId"), b.child("ForwardedValues")
	switch {
	case policy == "" && old == nil:
		return invalidArgument("A cache behavior needs a CachePolicyId or ForwardedValues.")
	case policy != "" && old != nil:
		return invalidArgument("The parameter ForwardedValues cannot be used when a cache policy is associated to the cache behavior.")
	case old != nil && b.child("MinTTL") == nil:
		return invalidArgument("The parameter MinTTL is required.")
	}
	for _, name := range []string{"MinTTL", "DefaultTTL", "MaxTTL"} {
		switch {
		case policy != "" && b.child(name) != nil:
			return invalidArgument("The parameter %s cannot be used when a cache policy is associated to the cache behavior.", name)
		case outside(b, name, 0, longestTTL):
			return invalidArgument("The parameter %s is out of range: %s.", name, b.str(name))
		}
	}
	least, usual, most := b.numberOr("MinTTL", 0), b.numberOr("DefaultTTL", 86_400), b.numberOr("MaxTTL", 31_536_000)
	if old != nil && (least > usual && b.child("DefaultTTL") != nil || usual > most && b.child("MaxTTL") != nil && b.child("DefaultTTL") != nil || least > most && b.child("MaxTTL") != nil) {
		return refuse(http.StatusBadRequest, "InvalidTTLOrder", "The TTLs must rise from MinTTL over DefaultTTL to MaxTTL.")
	}
	for name, code := range map[string]string{
		"CachePolicyId": "NoSuchCachePolicy", "OriginRequestPolicyId": "NoSuchOriginRequestPolicy", "ResponseHeadersPolicyId": "NoSuchResponseHeadersPolicy",
	} {
		if id := b.str(name); id != "" && !policyID.MatchString(id) {
			return refuse(http.StatusNotFound, code, "The policy %q in %s does not exist.", id, name)
		}
	}
	// The encryption has to be kept up from the viewer on.
	if id := b.str("FieldLevelEncryptionId"); id != "" && b.str("ViewerProtocolPolicy") == "allow-all" {
		return refuse(http.StatusBadRequest, "IllegalFieldLevelEncryptionConfigAssociationWithCacheBehavior",
			"The field-level encryption %s can't be used by a cache behavior that takes HTTP.", id)
	}
	return nil
}

// checkMethods accepts the sets that there are.
func checkMethods(b *node) error {
	if b.child("AllowedMethods") == nil {
		return nil
	}
	allowed := sortedTexts(b.at("AllowedMethods", "Items"), "Method")
	if !slices.ContainsFunc(allowedSets, func(set []string) bool { return slices.Equal(set, allowed) }) {
		return invalidArgument("The parameter AllowedMethods must be GET and HEAD, these and OPTIONS, or all, got %v.", allowed)
	}
	if b.at("AllowedMethods", "CachedMethods") == nil {
		return nil
	}
	cached := sortedTexts(b.at("AllowedMethods", "CachedMethods", "Items"), "Method")
	switch {
	case !slices.ContainsFunc(cachedSets, func(set []string) bool { return slices.Equal(set, cached) }):
		return invalidArgument("The parameter CachedMethods must be GET and HEAD, or these and OPTIONS, got %v.", cached)
	case len(cached) > len(allowed):
		return invalidArgument("The parameter CachedMethods has a method that AllowedMethods has not.")
	}
	return nil
}

func sortedTexts(items *node, name string) []string {
	var out []string
	for _, item := range items.items(name) {
		out = append(out, item.text)
	}
	slices.Sort(out)
	return out
}

// checkFunctions looks at CloudFront functions.
func (s *Sim) checkFunctions(b *node) error {
	return checkAssociations(b.at("FunctionAssociations", "Items").items("FunctionAssociation"), "FunctionARN", functionArn, "InvalidFunctionAssociation",
		func(a *node) bool { return slices.Contains(viewerEvents, a.str("EventType")) })
}

// checkLambdas looks at functions of Lambda@Edge. At the viewer's side a
// behavior can't have both kinds.
func (s *Sim) checkLambdas(b *node) error {
	functions := says(b, "FunctionAssociations")
	return checkAssociations(b.at("LambdaFunctionAssociations", "Items").items("LambdaFunctionAssociation"), "LambdaFunctionARN", lambdaArn, "InvalidLambdaFunctionAssociation",
		func(a *node) bool {
			event := a.str("EventType")
			return (!a.isTrue("IncludeBody") || strings.HasSuffix(event, "-request")) && (!functions || !slices.Contains(viewerEvents, event))
		})
}

func checkAssociations(list []*node, arnName string, arn *regexp.Regexp, code string, possible func(*node) bool) error {
	var seen []string
	for _, a := range list {
		event := a.str("EventType")
		switch {
		case !arn.MatchString(a.str(arnName)):
			return refuse(http.StatusBadRequest, code, "The function ARN is not valid: %q.", a.str(arnName))
		case slices.Contains(seen, event):
			return refuse(http.StatusBadRequest, code, "The event type %s has two functions.", event)
		case !possible(a):
			return refuse(http.StatusBadRequest, code, "The function %s can't be associated with %s in this way.", a.str(arnName), event)
		}
		seen = append(seen, event)
	}
	return nil
}

// checkSigners looks at who may sign.
func (s *Sim) checkSigners(b *node) error {
	for _, name := range []string{"TrustedKeyGroups", "TrustedSigners"} {
		block := b.child(name)
		if block != nil && block.isTrue("Enabled") != (block.number("Quantity") > 0) {
			return invalidArgument("%s must be enabled if it has items, and only then.", name)
		}
	}
	groups := b.at("TrustedKeyGroups", "Items").items("KeyGroup")
	if len(groups) > s.quotas.KeyGroups {
		return tooMany("TooManyKeyGroupsAssociatedToDistribution", "key groups in a cache behavior", s.quotas.KeyGroups, len(groups))
	}
	for _, g := range groups {
		if !policyID.MatchString(g.text) {
			return refuse(http.StatusBadRequest, "TrustedKeyGroupDoesNotExist", "The key group %q does not exist.", g.text)
		}
	}
	return onlyOnce("key group", groups)
}

// checkGRPC wants what gRPC is made of: POST, and HTTP/2 from the viewer.
func checkGRPC(config, b *node) error {
	if !b.child("GrpcConfig").isTrue("Enabled") {
		return nil
	}
	version := config.str("HttpVersion")
	if version == "http1.1" || version == "http3" || !slices.Contains(sortedTexts(b.at("AllowedMethods", "Items"), "Method"), "POST") {
		return invalidArgument("gRPC needs POST among the AllowedMethods, and HTTP/2 in HttpVersion.")
	}
	return nil
}

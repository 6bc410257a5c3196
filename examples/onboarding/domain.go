package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"regexp"
	"strings"
)

// domainName is what the API accepts: two or more labels, the last of which begins with a letter.
var domainName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)

// errDomain says what a customer has to type.
var errDomain = errors.New("Enter a domain such as shop.example.com.") //nolint:staticcheck,revive // it is shown as it is

// parseDomain is the domain that a customer means, also if they paste the address of a page.
func parseDomain(typed string) (string, error) {
	typed = strings.TrimSpace(typed)
	if !strings.Contains(typed, "://") {
		typed = "https://" + typed
	}
	address, err := url.Parse(typed)
	if err != nil {
		return "", errDomain
	}
	domain := strings.TrimSuffix(strings.ToLower(address.Hostname()), ".")
	if len(domain) > 253 || !domainName.MatchString(domain) {
		return "", errDomain
	}
	return domain, nil
}

// objectName is the name of the object for a domain: readable, and never the same for two domains.
func objectName(domain string) string {
	sum := sha256.Sum256([]byte(domain))
	readable := strings.ReplaceAll(domain, ".", "-")
	return strings.TrimRight(readable[:min(len(readable), 40)], "-") + "-" + hex.EncodeToString(sum[:6])
}

package identity

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// RolePatterns are the roles that objects may name. The zero value allows none.
type RolePatterns struct{ patterns []rolePattern }

// rolePattern is a pattern, split into the parts that are compared separately.
type rolePattern struct {
	partition, account string
	// path are the parts of the role's path and name, each of which may have stars.
	path []string
}

// anyAccount is the one pattern for accounts.
const anyAccount = "*"

const longestRoleText = 512

var (
	partitionText = regexp.MustCompile(`^aws(-[a-z]+)*$`)
	accountText   = regexp.MustCompile(`^[0-9]{12}$`)
	// roleText is the text between the slashes of a role's path, including the name. It has at most longestRoleText
	// characters, which the pattern leaves out: one that counts takes memory for each character.
	roleText = regexp.MustCompile(`^[\w+=,.@-]+$`)
)

// ParseRolePatterns reads patterns of the form arn:aws:iam::<account>:role/<path and name>. A star matches any text
// between two slashes of the path and name; the account is a number, or a single star for all accounts. So a star never
// reaches from one field, or from one path segment, into the next.
func ParseRolePatterns(texts []string) (RolePatterns, error) {
	var out RolePatterns
	for _, text := range texts {
		p, reason := splitRole(text, true)
		if reason != "" {
			return RolePatterns{}, fmt.Errorf(
				"role pattern %q: %s; for example arn:aws:iam::111122223333:role/tenant-dns-*", text, reason)
		}
		out.patterns = append(out.patterns, p)
	}
	return out, nil
}

// Allows reports whether objects may name the role. A text that is not the ARN of a role is never allowed.
func (p RolePatterns) Allows(roleARN string) bool {
	role, reason := splitRole(roleARN, false)
	return reason == "" && slices.ContainsFunc(p.patterns, func(p rolePattern) bool { return p.matches(role) })
}

// splitRole cuts the ARN of a role, or a pattern for some, and says what is wrong with it.
func splitRole(text string, isPattern bool) (p rolePattern, reason string) {
	fields := strings.SplitN(text, ":", 6)
	if len(fields) < 6 || fields[0] != "arn" || !partitionText.MatchString(fields[1]) || fields[2] != "iam" || fields[3] != "" {
		return rolePattern{}, "it must start with arn:aws:iam:: and an account ID"
	}
	p = rolePattern{partition: fields[1], account: fields[4]}
	switch {
	case accountText.MatchString(p.account):
	case !isPattern:
		return rolePattern{}, fmt.Sprintf("the account ID %q does not have twelve digits", p.account)
	case p.account != anyAccount:
		return rolePattern{}, fmt.Sprintf("the account ID %q is neither twelve digits nor a single *", p.account)
	}
	path, isRole := strings.CutPrefix(fields[5], "role/")
	if !isRole {
		return rolePattern{}, "the account ID must be followed by :role/ and a name"
	}
	p.path = strings.Split(path, "/")
	for _, part := range p.path {
		if isPattern {
			part = strings.ReplaceAll(part, "*", "x")
		}
		if len(part) > longestRoleText || !roleText.MatchString(part) {
			return rolePattern{}, fmt.Sprintf("%q is not a role name with a path: use letters, digits and _+=,.@- between slashes", path)
		}
	}
	return p, ""
}

func (p rolePattern) matches(role rolePattern) bool {
	return p.partition == role.partition && (p.account == anyAccount || p.account == role.account) &&
		slices.EqualFunc(p.path, role.path, Matches)
}

// Matches reports whether a text matches the pattern, where each star matches any text.
func Matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	rest, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		// The first place is as good as any: what follows has the more room.
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, parts[last])
}

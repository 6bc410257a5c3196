package cli

import "regexp"

// redacted stands for what was taken out.
const redacted = "<redacted>"

// secretName is the end of a name whose value is a credential, with the sign behind it.
const secretName = `(?i)((?:passw(?:or)?d|pwd|passphrase|secret|token|(?:api|access|private|session)[_-]?key|x-origin-verify)\\*["']?[ \t]*[:=][ \t]*` //nolint:gosec // a pattern, and no credential

// confidential matches texts that look like a credential. The bundle does not rely on it: it is for texts of others,
// such as logs.
var confidential = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\b(AKIA|ASIA)[A-Z0-9]{16}\b`), redacted},
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*`), redacted},
	{regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----`), redacted},
	// The text in front of the last @ of a URL, and of user:password@host, but not of image:tag@sha256.
	{regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^\s"'<>]+@`), "${1}" + redacted + "@"},
	{regexp.MustCompile(`[\w.%+-]+:(?:[^\s"'/]|/[^\s"'/])[^\s"']*@([^s]|s[^h]|sh[^a]|sha[^2])`), redacted + "@${1}"},
	// HTTP headers, alone and as pairs of a name and a value in JSON, YAML and XML.
	{regexp.MustCompile(`(?i)(authorization\\*["']?[ \t]*[:=][ \t]*\\*["']?)[^"'\\\r\n]+`), "${1}" + redacted},
	{regexp.MustCompile(`(?i)\b(bearer[ \t]+)[^\s"'\\,;]+`), "${1}" + redacted},
	{regexp.MustCompile(`(?i)(name\W{1,9}(?:x-[\w-]+|[\w-]*(?:auth|verify|secret|token|passw|key)[\w-]*)\W{1,12}(?:headername\W{1,4})?(?:header)?value\W{1,9})[^"\s\\<][^"\r\n\\<]*`), "${1}" + redacted},
	// Values in quotes that are themselves in a quoted text, in quotes, and without.
	{regexp.MustCompile(secretName + `\\+["'])[^"'\\]+`), "${1}" + redacted},
	{regexp.MustCompile(secretName + `")(?:[^"\\]|\\.)+`), "${1}" + redacted},
	{regexp.MustCompile(secretName + `')[^']+`), "${1}" + redacted},
	{regexp.MustCompile(secretName + `)[^\s"'\\]+`), "${1}" + redacted},
}

// redact replaces what looks like a credential.
func redact(text string) string {
	for _, c := range confidential {
		text = c.pattern.ReplaceAllString(text, c.with)
	}
	return text
}

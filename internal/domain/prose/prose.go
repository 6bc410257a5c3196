// Package prose makes texts of others fit for a message: harmless, quoted, shortened, counted.
package prose

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// LongestQuote keeps messages readable, and what they are stored in small.
	LongestQuote = 100
	// shown bounds lists in messages.
	shown = 5

	ellipsis = "…"

	// command begins a command to copy. Another one comes after a semicolon between spaces.
	command = ": kubectl "

	lowerCase = "abcdefghijklmnopqrstuvwxyz"
)

// Plain is a text without the characters that a terminal obeys instead of showing them: controls, with which a text can
// clear the screen or set its title, and format characters, which can reverse or hide their neighbours. Line breaks and
// tabs become spaces, so that one text can't look like two.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r) && unicode.IsSpace(r), unicode.In(r, unicode.Zl, unicode.Zp):
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf):
			return -1
		}
		return r
	}, s)
}

// Quote shows a text of unknown length.
func Quote(s string) string { return fmt.Sprintf("%q", Shorten(s, LongestQuote)) }

// Shorten cuts a text off after n characters, and shows that.
func Shorten(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	end := 0
	for range n {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	return s[:end] + ellipsis
}

// Fit makes a text fit for status and events: it is plain, and cut to at most n bytes at the end of a character. Bytes that
// are not UTF-8 are replaced as JSON would replace them: a message that is read back other than it was written would be
// written forever.
func Fit(s string, n int) string {
	s = Plain(strings.ToValidUTF8(s, string(utf8.RuneError)))
	if len(s) <= n {
		return s
	}
	s = s[:n-len(ellipsis)]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + ellipsis
}

// Sentence gives a text the form that all messages of conditions and events have: a capital at its beginning and a full
// stop at its end. A first word that is more than lower-case letters, such as a field or a domain, stays as it is. A text with
// a command to copy ends with it: a stop would become a part of the command.
func Sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return s
	}
	word, _, _ := strings.Cut(s, " ")
	if strings.Trim(word, lowerCase+",:;") == "" {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	if strings.Contains(s, command) || strings.HasSuffix(s, ".") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "?") || strings.HasSuffix(s, ellipsis) {
		return s
	}
	return s + "."
}

// Count puts a number before the word that fits it.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// List joins the first few items and says how many more there are.
func List(items []string) string {
	if len(items) <= shown {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(items[:shown], ", "), len(items)-shown)
}

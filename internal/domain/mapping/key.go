package mapping

import (
	"crypto/sha256"
	"strings"
)

// Key is a short text for the value that identifies the row, the same for the same column and value and no others.
// Empty: the config names no column for that, or the row has no value in it.
func (p *Program) Key(row Row) string {
	value, ok := plain(row.Values[p.key])
	if p.key == "" || !ok || value == "" {
		return ""
	}
	return shortHash(p.key) + keySeparator + shortHash(value)
}

// IsKey reports whether the text is the key of a row by the column that the config names now.
func (p *Program) IsKey(key string) bool {
	column, _, _ := strings.Cut(key, keySeparator)
	return p.key != "" && column == shortHash(p.key)
}

// keySeparator is between the column and the value.
const keySeparator = "."

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hashText.EncodeToString(sum[:hashBytes])
}

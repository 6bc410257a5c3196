// Package truth checks what conditions say against each other.
package truth

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
)

// shows matches what is said of a resource that AWS has, or may have.
var shows = regexp.MustCompile(`already exists \(|was created|AWS reports that|and belongs to|is being (deployed|disabled)|could not be read`)

// Contradiction shows two conditions of which one denies a resource that the other speaks of. Empty: there are none.
func Contradiction(list []chain.Condition) string {
	for _, denies := range list {
		if !strings.HasSuffix(denies.Message, " does not exist yet.") {
			continue
		}
		for _, c := range list {
			if shows.MatchString(c.Message) {
				return fmt.Sprintf("%s says %q, and %s says %q", denies.Type, denies.Message, c.Type, c.Message)
			}
		}
	}
	return ""
}

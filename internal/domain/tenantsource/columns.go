package tenantsource

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// manyRows is the number of rows from which a column that loses all its values at once counts as a mistake, in addition
// to the same share as that of the deletion guard.
const (
	manyRows  = 10
	manyShare = 20 // one in twenty
)

// Upset compares the columns with those of an earlier read of the same spec, and says what looks like a
// mistake in the table: a column that is gone, has another type, or has lost all of many values. The
// result is empty where nothing does. before is how many rows the earlier read had.
func Upset(earlier []SeenColumn, before int, h *Harvest) []string {
	if h.Rows == 0 {
		// Nothing can be said of an empty table; the guard holds what it would delete.
		return nil
	}
	now := map[string]SeenColumn{}
	for _, c := range h.Columns {
		now[c.Name] = c
	}
	var upset []string
	for _, was := range earlier {
		is, there := now[was.Name]
		switch {
		case !there && h.Declared:
			upset = append(upset, fmt.Sprintf("the column %s is missing", prose.Quote(was.Name)))
		case is.Rows == 0 && manyOf(was.Rows, before):
			upset = append(upset, fmt.Sprintf("the column %s had a value in %d rows and now has none", prose.Quote(was.Name), was.Rows))
		case there && h.Declared && is.Type != was.Type && was.Type != mapping.TypeMixed && is.Type != mapping.TypeMixed:
			upset = append(upset, fmt.Sprintf("the type of the column %s changed from %s to %s", prose.Quote(was.Name), was.Type, is.Type))
		}
	}
	return upset
}

func manyOf(rows, of int) bool {
	return rows > 1 && (rows >= of || rows > max(manyRows, of/manyShare))
}

// UpsetHash identifies what was found; a user approves exactly that.
func UpsetHash(upset []string, complete time.Time) string {
	return hash(append([]string{strconv.FormatInt(complete.Unix(), 36)}, upset...))
}

// upsetMessage says what was found, and how to continue. A few columns are enough to show what happened, and leave room
// for the fix.
func upsetMessage(upset []string, complete time.Time) string {
	const most = 3
	told := strings.Join(upset[:min(len(upset), most)], ", and ")
	if more := len(upset) - most; more > 0 {
		told += fmt.Sprintf(", and the same for %s", prose.Count(more, "other column", "other columns"))
	}
	return fmt.Sprintf("Nothing was changed, because %s. If this is intended, set the annotation %s to %s, or change the spec",
		told, approveAnnotation, UpsetHash(upset, complete))
}

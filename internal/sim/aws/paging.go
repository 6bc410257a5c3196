package aws

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// pageSize reads MaxItems. Larger values are cut to the cap; the real limits are not documented.
func (s *Sim) pageSize(maxItems *int) (int, error) {
	switch {
	case maxItems == nil:
		return s.options.PageSize, nil
	case *maxItems < 1:
		return 0, invalidArgument("The parameter MaxItems must be at least 1, got %d.", *maxItems)
	}
	return min(*maxItems, s.options.PageSize), nil
}

// bodyPage reads Marker and MaxItems of lists that are POSTs.
func (s *Sim) bodyPage(in *node) (marker string, size int, err error) {
	maxItems, err := in.integer("MaxItems")
	if err != nil {
		return "", 0, err
	}
	size, err = s.pageSize(maxItems)
	return in.str("Marker"), size, err
}

// queryPage reads Marker and MaxItems of lists that are GETs.
func (s *Sim) queryPage(c *call) (marker string, size int, err error) {
	var maxItems *int
	if text := c.param("MaxItems"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return "", 0, invalidArgument("The parameter MaxItems must be a whole number, got %q.", text)
		}
		maxItems = &n
	}
	size, err = s.pageSize(maxItems)
	return c.param("Marker"), size, err
}

// sealMarker makes a marker out of a position; clients are to pass it on and
// not to look inside.
func sealMarker(position uint64) string {
	return base64.RawURLEncoding.EncodeToString([]byte("after:" + strconv.FormatUint(position, 36)))
}

func openMarker(marker string) (uint64, error) {
	if marker == "" {
		return 0, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(marker)
	if err == nil {
		if digits, ok := strings.CutPrefix(string(raw), "after:"); ok {
			if position, err := strconv.ParseUint(digits, 36, 64); err == nil {
				return position, nil
			}
		}
	}
	return 0, invalidArgument("The parameter Marker is not valid: %q.", marker)
}

// page collects what show returns for the records after a marker. It costs as
// much as it looks at, so a page of a large account is cheap.
func page[T any](t *table[T], marker string, size int, show func(*record[T]) *node) (found []*node, next string, err error) {
	after, err := openMarker(marker)
	if err != nil {
		return nil, "", err
	}
	var last uint64
	for _, r := range t.order[t.after(after):] {
		n := show(r)
		if n == nil {
			continue
		}
		if len(found) == size {
			return found, sealMarker(last), nil
		}
		found = append(found, n)
		last = r.seq
	}
	return found, "", nil
}

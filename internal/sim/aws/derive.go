package aws

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
)

const (
	base62Digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	upperDigits  = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lowerDigits  = "0123456789abcdefghijklmnopqrstuvwxyz"
)

// deriver turns a seed and a list of facts into values that look random.
// Everything "random" comes from here and depends on what it is for, not on how
// many values were drawn before: two runs that make the same calls in another
// order still agree on every id and ETag.
type deriver struct {
	seed uint64
}

func (d deriver) sum(parts ...string) [sha256.Size]byte {
	return sha256.Sum256([]byte(strconv.FormatUint(d.seed, 10) + "\x00" + strings.Join(parts, "\x00")))
}

// digits returns up to 32 digits, one for each byte of the sum.
func (d deriver) digits(alphabet string, length int, parts ...string) string {
	sum := d.sum(parts...)
	out := make([]byte, length)
	for i := range out {
		out[i] = alphabet[int(sum[i])%len(alphabet)]
	}
	return string(out)
}

// fraction returns a number in [0, 1).
func (d deriver) fraction(parts ...string) float64 {
	sum := d.sum(parts...)
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}

func (d deriver) uuid(parts ...string) string {
	sum := d.sum(parts...)
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:32]
}

func (d deriver) hex(length int, parts ...string) string {
	sum := d.sum(parts...)
	return hex.EncodeToString(sum[:])[:length]
}

// etag looks like the ones CloudFront hands out: E and 13 upper-case
// alphanumerics.
func (d deriver) etag(parts ...string) string {
	return "E" + d.digits(upperDigits, 13, append([]string{"etag"}, parts...)...)
}

// ksuid is a prefix and 27 base 62 digits: ids of tenants and groups.
func (d deriver) ksuid(prefix string, parts ...string) string {
	return prefix + d.digits(base62Digits, 27, append([]string{prefix}, parts...)...)
}

// endpoint is a host name in cloudfront.net.
func (d deriver) endpoint(parts ...string) string {
	return "d" + d.digits(lowerDigits, 13, append([]string{"endpoint"}, parts...)...) + ".cloudfront.net"
}

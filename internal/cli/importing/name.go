package importing

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/kubename"
)

// longestName is that of an object of which names of files and labels are made.
const longestName = 200

// isName reports whether the text can be the name of an object.
func isName(s string) bool { return kubename.IsSubdomain(s) }

// slug is the text with hyphens in place of characters that an object's name can't have: the same text makes the same
// name.
func slug(text string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(text) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' {
			b.WriteRune(c)
			continue
		}
		b.WriteByte('-')
	}
	labels := strings.Split(b.String(), ".")
	for i, label := range labels {
		for strings.Contains(label, "--") {
			label = strings.ReplaceAll(label, "--", "-")
		}
		labels[i] = strings.Trim(label, "-")
	}
	labels = slices.DeleteFunc(labels, func(l string) bool { return l == "" })
	name := strings.Join(labels, ".")
	if len(name) > longestName {
		name = strings.TrimRight(name[:longestName], "-.")
	}
	return name
}

// names gives each object of one kind a name of its own.
type names struct {
	// taken are those that other objects have.
	taken map[string]bool
	given map[string]string
}

// newNames knows the names of the objects of the kind that the namespace has.
func (o *Options) newNames(kind string) *names {
	n := &names{taken: map[string]bool{}, given: map[string]string{}}
	for _, other := range o.Cluster.objects() {
		if other.Kind == kind && other.Namespace == o.Namespace {
			n.taken[other.Name] = true
		}
	}
	return n
}

// assign names the objects for the resources with those names in AWS, which are all different. Those that have a name
// already keep it, then those whose name in AWS is a valid one, so that a name does not depend on the number of similar
// ones.
func (n *names) assign(subjects []string, kept map[string]string) {
	subjects = slices.Sorted(slices.Values(subjects))
	for _, s := range subjects {
		if name := kept[s]; name != "" && !n.taken[name] {
			n.give(s, name)
		}
	}
	for _, s := range subjects {
		if n.given[s] == "" && isName(s) && !n.taken[s] {
			n.give(s, s)
		}
	}
	for _, s := range subjects {
		if n.given[s] == "" {
			n.give(s, n.free(s))
		}
	}
}

func (n *names) give(subject, name string) {
	n.given[subject], n.taken[name] = name, true
}

// free is a name that is not taken: one that can be read, with a suffix that depends on the subject alone if there are
// several like it.
func (n *names) free(subject string) string {
	base := slug(subject)
	if base != "" && !n.taken[base] {
		return base
	}
	if base == "" {
		base = "unnamed"
	}
	for seed := 0; ; seed++ {
		h := fnv.New32a()
		fmt.Fprintf(h, "%s/%d", subject, seed)
		if name := fmt.Sprintf("%s-%08x", base, h.Sum32()); !n.taken[name] {
			return name
		}
	}
}

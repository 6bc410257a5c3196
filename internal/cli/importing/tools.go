package importing

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The tags by which other tools mark what they manage. Terraform marks nothing.
const (
	tagOfStack = "aws:cloudformation:stack-name"
	tagOfACK   = "services.k8s.aws/"
)

// Tool is another tool that manages what is imported, and would continue to change or delete it.
type Tool struct {
	Name string
	// Objects is how much of it is imported.
	Objects int
	// Advice is what makes the tool let go without deleting anything.
	Advice string
}

// tools are those of which the tags of the entries tell.
func (b *builder) tools() []Tool {
	found := map[string]*Tool{}
	add := func(name, advice string) {
		if found[name] == nil {
			found[name] = &Tool{Name: name, Advice: advice}
		}
		found[name].Objects++
	}
	for _, e := range b.fleet.Entries() {
		tags := b.reader.tags[e.ARN]
		if stack := tags[tagOfStack]; stack != "" {
			add("the CloudFormation stack "+stack,
				"Give each of these resources DeletionPolicy: Retain in the template and update the stack, then remove them from the template and update it again.")
		}
		for key := range tags {
			if strings.HasPrefix(key, tagOfACK) {
				add("the ACK controller for CloudFront",
					"Annotate its objects with services.k8s.aws/deletion-policy=retain, then delete them.")
				break
			}
		}
	}
	var out []Tool
	for _, name := range slices.Sorted(maps.Keys(found)) {
		out = append(out, *found[name])
	}
	return out
}

func (f *Fleet) toolsPage() (title, text string) {
	var b strings.Builder
	for _, t := range f.Tools {
		fmt.Fprintf(&b, "- According to tags, %s manages the resources of %s. %s\n", t.Name, objects(t.Objects), t.Advice)
	}
	return "Other tools that manage them", b.String()
}

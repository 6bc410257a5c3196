package distribution

import (
	"fmt"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// stalled adds that the deletion takes longer than it should, with what can be done by hand. The operator continues all
// the same.
func (in Input) stalled(list []chain.Condition, r Report) []chain.Condition {
	list = slices.DeleteFunc(list, func(c chain.Condition) bool { return c.Type == DeletionStalled })
	if !in.deleting() || in.Policy.Timeout <= 0 || in.Now.Sub(in.DeletedAt) < in.Policy.Timeout {
		return list
	}
	list = append(list, chain.Condition{
		Type: DeletionStalled, Status: true, Reason: ReasonDeletionTimeout, Generation: in.Generation,
		Message: in.stalledText(r.Deletion),
	})
	resource.Sort(list)
	return list
}

// stalledText is the same as long as the deletion is at the same step, so that status is not written again.
func (in Input) stalledText(p *Progress) string {
	since := in.DeletedAt.UTC().Format(time.RFC3339)
	text := fmt.Sprintf("The deletion started at %s and is taking longer than spec.deletionTimeout (%s).", since, in.Policy.Timeout)
	if p != nil {
		text += fmt.Sprintf(" It has been in the step %s since %s.", p.Step, p.Since.UTC().Format(time.RFC3339))
	}
	switch {
	case in.Halt != nil:
		return text + " It is on hold. " + in.StillText()
	case in.Paused:
		return text + " The object is paused: the deletion continues after its paused annotation is removed."
	}
	return text + " The operator keeps trying. To help manually: " + in.manual(p)
}

// manual says what can be done by hand for the step.
func (in Input) manual(p *Progress) string {
	w, id := in.Desired.Words, in.Memory.ID
	if id == "" && in.World.present() {
		id = in.World.Resource.ID
	}
	step := DeletionStep("")
	if p != nil {
		step = p.Step
	}
	aws := "aws cloudfront "
	switch step {
	case StepInUse:
		return fmt.Sprintf("delete the tenants that `%slist-distribution-tenants --association-filter %s=%s` lists.", aws, w.Filter, id)
	case StepDisabling:
		return fmt.Sprintf("check the Ready condition, and disable the %s in the AWS console or with `%supdate-%s`; the operator then continues.", w.Noun, aws, w.Command)
	case StepSettling:
		return fmt.Sprintf("`%sget-%s %s %s` shows the status. If it stays InProgress for hours, contact AWS Support.", aws, w.Command, w.GetFlag, id)
	case StepDeleting:
		return fmt.Sprintf("check the Ready condition, and delete the %s in the AWS console or with `%sdelete-%s --id %s --if-match <its ETag>`; the operator then removes the finalizer.", w.Noun, aws, w.Command, id)
	}
	return "check the Ready condition."
}

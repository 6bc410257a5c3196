package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

const (
	// atCloudflare is the sample whose zone is at Cloudflare, and shopDomain its domain.
	atCloudflare = "cloudflare"
	shopDomain   = "shop." + cloudflareZone
	// listable is how old what the operator knows of a zone is at least when a user has it listed again.
	listable = time.Minute
	// elsewhere is where the record points after it was changed by hand.
	elsewhere = "elsewhere.example"
)

// atAnotherProvider shows the record at Cloudflare, changes it, and has it corrected.
func (s *story) atAnotherProvider(ctx context.Context) error {
	before, id := s.w.cloudflare.record()
	if before.Name != shopDomain || !strings.HasSuffix(before.Comment, " object="+namespace+"/"+atCloudflare) {
		return fmt.Errorf("the zone at Cloudflare has the record %+v, which is wrong", before)
	}
	return do(ctx,
		s.tell("The zone of the tenant %s is at Cloudflare. A comment on its record names the object:", atCloudflare),
		s.showCloudflare,
		s.tell("The record is changed there by hand:"),
		s.lead(id, elsewhere),
		s.tell("The operator lists a quiet zone every 15m. This annotation makes it look now:"),
		s.untilListable,
		s.askNow,
		s.await("the record at Cloudflare is corrected", func(context.Context) (bool, error) {
			record, _ := s.w.cloudflare.record()
			return record == before, nil
		}, s.sayTenants(atCloudflare)),
		s.until("the correction is reported", settled(atCloudflare), atCloudflare),
		s.lookup(shopDomain, "CNAME"),
		s.showCloudflare,
	)
}

// askNow makes the operator look now: the time is that of the step, not of the chapter's start.
func (s *story) askNow(ctx context.Context) error {
	return s.kubectl("annotate", "cfdt", atCloudflare, "--overwrite", v1alpha1.AnnotationReconcileNow+"="+time.Now().Format(time.TimeOnly))(ctx)
}

func (s *story) untilListable(ctx context.Context) error {
	select {
	case <-time.After(time.Until(s.samplesReady.Add(listable))):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// showCloudflare shows the CNAME of the zone as the API does.
func (s *story) showCloudflare(context.Context) error {
	s.say.command(s.w.cloudflare.curl("", "?type=CNAME") + ` | jq -c '.result[] | {name, content, comment}'`)
	record, _ := s.w.cloudflare.record()
	return s.outputJSON(record)
}

// outputJSON shows a value in one line.
func (s *story) outputJSON(value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("printing %v: %w", value, err)
	}
	s.say.output(string(text))
	return nil
}

// lead changes the record as a user would.
func (s *story) lead(id, target string) step {
	return func(ctx context.Context) error {
		c := s.w.cloudflare
		s.say.command(c.curl(" -X PATCH", "/"+id) + fmt.Sprintf(` -d '{"content": %q}' | jq .result.content`, target))
		if err := call(ctx, http.MethodPatch, c.records()+"/"+id, cloudflareToken, map[string]string{"content": target}); err != nil {
			return err
		}
		record, _ := c.record()
		return s.outputJSON(record.Content)
	}
}

// nothingAtCloudflare shows that the zone has only the record of others.
func (s *story) nothingAtCloudflare(context.Context) error {
	s.say.paragraph("The operator's record at Cloudflare is deleted as well. The zone still has the record of others:")
	s.say.command(s.w.cloudflare.curl("", "") + ` | jq -c '[.result[].name]'`)
	var names []string
	for _, r := range s.w.cloudflare.sim.Records(s.w.cloudflare.zone.ID) {
		names = append(names, r.Name)
	}
	if err := s.outputJSON(names); err != nil {
		return err
	}
	if len(names) != 1 || names[0] != foreignRecord {
		return fmt.Errorf("the zone at Cloudflare still has %v", names)
	}
	return nil
}

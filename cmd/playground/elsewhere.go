package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

const (
	// atCloudflare is the sample whose zone is at Cloudflare, and shopDomain its domain.
	atCloudflare = "cloudflare"
	shopDomain   = "shop." + cloudflareZone
	// listable is how old what the operator knows of a zone is at least when a person has it listed again.
	listable = time.Minute
	// elsewhere is where the record leads after it was changed by hand.
	elsewhere = "elsewhere.example"
)

// atAnotherProvider shows the record at Cloudflare, changes it, and has it corrected.
func (s *story) atAnotherProvider(ctx context.Context) error {
	s.say.paragraph("The zone of the tenant %s is at Cloudflare. A comment on its record names the object:", atCloudflare)
	before, id := s.w.cloudflare.record()
	if err := s.showCloudflare(); err != nil {
		return err
	}
	if before.Name != shopDomain || !strings.HasSuffix(before.Comment, " object="+namespace+"/"+atCloudflare) {
		return fmt.Errorf("the zone at Cloudflare has the record %+v, which is wrong", before)
	}
	s.say.paragraph("The record is changed there by hand:")
	if err := s.lead(ctx, id, elsewhere); err != nil {
		return err
	}
	s.say.paragraph("The operator lists a quiet zone every 15m. This annotation makes it look now:")
	select {
	case <-time.After(time.Until(s.kube.samplesReady.Add(listable))):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	err := s.kube.show(ctx, "annotate", "cfdt", atCloudflare, "--overwrite", v1alpha1.AnnotationReconcileNow+"="+time.Now().Format(time.TimeOnly))
	if err != nil {
		return fmt.Errorf("asking for a look at %s: %w", atCloudflare, err)
	}
	if err := s.awaitRecord(ctx, before); err != nil {
		return err
	}
	if err := s.kube.until(ctx, "the correction is reported", settled(atCloudflare), atCloudflare); err != nil {
		return err
	}
	if err := s.lookup(ctx, shopDomain, "CNAME"); err != nil {
		return err
	}
	return s.showCloudflare()
}

// showCloudflare shows the CNAME of the zone as the API does.
func (s *story) showCloudflare() error {
	s.say.command(s.w.cloudflare.curl("", "?type=CNAME") + ` | jq -c '.result[] | {name, content, comment}'`)
	record, _ := s.w.cloudflare.record()
	text, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("printing a record: %w", err)
	}
	s.say.output(string(text))
	return nil
}

// lead changes the record as a person would.
func (s *story) lead(ctx context.Context, id, target string) error {
	c := s.w.cloudflare
	s.say.command(c.curl(" -X PATCH", "/"+id) + fmt.Sprintf(` -d '{"content": %q}' | jq .result.content`, target))
	url := c.url + "/zones/" + c.zone.ID + "/dns_records/" + id
	if err := call(ctx, http.MethodPatch, url, cloudflareToken, map[string]string{"content": target}); err != nil {
		return err
	}
	record, _ := c.record()
	s.say.output(fmt.Sprintf("%q", record.Content))
	return nil
}

// awaitRecord waits until the zone has a record as it was.
func (s *story) awaitRecord(ctx context.Context, wanted cloudflareRecord) error {
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		record, _ := s.w.cloudflare.record()
		return record == wanted, nil
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		tenants, _ := s.kube.fleet(ctx) // it is empty then
		return s.kube.diagnose("the record at Cloudflare is corrected", tenants, []string{atCloudflare})
	}
	return err
}

// nothingAtCloudflare shows that the zone has only the record of others.
func (s *story) nothingAtCloudflare() error {
	s.say.paragraph("The operator's record at Cloudflare is deleted as well. The zone still has the record of others:")
	s.say.command(s.w.cloudflare.curl("", "") + ` | jq -c '[.result[].name]'`)
	var names []string
	for _, r := range s.w.cloudflare.sim.Records(s.w.cloudflare.zone.ID) {
		names = append(names, r.Name)
	}
	text, err := json.Marshal(names)
	if err != nil {
		return fmt.Errorf("listing the records at Cloudflare: %w", err)
	}
	s.say.output(string(text))
	if string(text) != `["`+foreignRecord+`"]` {
		return fmt.Errorf("the zone at Cloudflare still has %s", text)
	}
	return nil
}

package cloudflare

import (
	"context"
	"net/url"
	"strconv"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// recordsPerPage is the most that Cloudflare returns at once.
const recordsPerPage = 5000

// ListRecords implements port.Zones. It returns all record sets at once: pages cut through sets, and move when someone
// adds or deletes a record, so that none of them means anything without the others.
func (d *DNS) ListRecords(ctx context.Context, id, _ string) ([]dns.RecordSet, string, error) {
	held, err := d.held(calls.Errand(ctx), id, "")
	if err != nil {
		return nil, "", err
	}
	return held.sets(), "", nil
}

// ReadName implements port.Zones.
func (d *DNS) ReadName(ctx context.Context, id, name string) ([]dns.RecordSet, error) {
	held, err := d.held(calls.Errand(ctx), id, name)
	if err != nil {
		return nil, err
	}
	return held.sets(), nil
}

// held reads what a zone holds at a name; at all names if that is empty.
func (d *DNS) held(ctx context.Context, id, name string) (holding, error) {
	if err := plausible(opListRecords, id); err != nil {
		return holding{}, err
	}
	zone, err := d.info(ctx, id, 0)
	if err != nil {
		return holding{}, err
	}
	records, err := d.pages(ctx, id, name)
	if err != nil {
		d.forget(id, err)
		return holding{}, err
	}
	held := newHolding(zone.name, name == "" || name == zone.name)
	for _, r := range records {
		if r.ID == "" || r.Name == "" || r.Type == "" {
			return holding{}, unreadable(opListRecords, "a record's id, name and type")
		}
		// The filter of the API knows no case.
		if name == "" || readName(r.Name) == name {
			held.add(r)
		}
	}
	held.complete()
	return held, nil
}

// pages reads the records page by page until there are as many as there should be.
func (d *DNS) pages(ctx context.Context, id, name string) ([]wireRecord, error) {
	var all []wireRecord
	seen, total := map[string]bool{}, -1
	for number := 1; ; number++ {
		page, of, err := d.page(ctx, id, name, number)
		if err != nil {
			return nil, err
		}
		moved := total >= 0 && of != total
		total = of
		for _, r := range page {
			moved = moved || seen[r.ID]
			seen[r.ID] = true
		}
		all = append(all, page...)
		switch {
		case moved || len(all) > total:
			return nil, fault.New(fault.Transient, opListRecords, "records were added or deleted while they were being listed")
		case len(all) == total:
			return all, nil
		case len(page) == 0:
			return nil, unreadable(opListRecords, "the rest of the list of records")
		}
	}
}

// page reads one page, and how many records there are in all.
func (d *DNS) page(ctx context.Context, id, name string, number int) ([]wireRecord, int, error) {
	query := pageOf(number, recordsPerPage)
	if name != "" {
		query.Set("name.exact", name)
	}
	var answer struct {
		Result []wireRecord `json:"result"`
		Info   resultInfo   `json:"result_info"`
	}
	if err := d.call(ctx, opListRecords, request{path: pathOf(id) + "/dns_records", query: query}, &answer); err != nil {
		return nil, 0, err
	}
	if answer.Result == nil || answer.Info.Total == nil {
		return nil, 0, unreadable(opListRecords, "the list of records with its length")
	}
	return answer.Result, *answer.Info.Total, nil
}

// pageOf asks for a page of a list.
func pageOf(number, size int) url.Values {
	return url.Values{"page": {strconv.Itoa(number)}, "per_page": {strconv.Itoa(size)}}
}

package azure

import (
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// place is where a zone is. Two zones of one name can be in two groups.
type place struct{ group, zone string }

// id is the zone's id for the operator.
func (p place) id() string { return p.group + "/" + p.zone }

// placeOf reads a zone's id. One without a group is of no zone here.
func placeOf(operation, id string) (place, error) {
	group, zone, ok := strings.Cut(id, "/")
	if !ok || group == "" || zone == "" || strings.Contains(zone, "/") {
		return place{}, fault.New(fault.NotFound, operation, "%q is not the ID of an Azure DNS zone: use <resource group>/<zone name>", id)
	}
	return place{strings.ToLower(group), strings.ToLower(zone)}, nil
}

// placeOfResource reads the id that Azure gives a zone.
func placeOfResource(id string) (place, bool) {
	parsed, err := arm.ParseResourceID(id)
	if err != nil || parsed.ResourceGroupName == "" || parsed.Name == "" {
		return place{}, false
	}
	return place{strings.ToLower(parsed.ResourceGroupName), dns.Lower(parsed.Name)}, true
}

// apex is the relative name of the zone itself.
const apex = "@"

// full is the name of a record set that the zone knows by a relative name.
func (p place) full(relative string) string {
	if relative == apex {
		return p.zone
	}
	return dns.Lower(relative) + "." + p.zone
}

// relative is the way back. It is not ok with a name that is not in the zone.
func (p place) relative(name string) (string, bool) {
	if name == p.zone {
		return apex, true
	}
	return strings.CutSuffix(name, "."+p.zone)
}

package cloudfront

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// ListTenantsOf implements port.Fleet.
func (c *Client) ListTenantsOf(ctx context.Context, distributionID, marker string) ([]distributiontenant.Observed, string, error) {
	return c.listTenants(ctx, &types.DistributionTenantAssociationFilter{DistributionId: &distributionID}, marker)
}

// listTenants reads one page of the tenants that the filter lets through, of all without one.
func (c *Client) listTenants(ctx context.Context, filter *types.DistributionTenantAssociationFilter, marker string) ([]distributiontenant.Observed, string, error) {
	out, err := c.api.ListDistributionTenants(ctx, &sdk.ListDistributionTenantsInput{
		AssociationFilter: filter, Marker: optional(marker), MaxItems: awssdk.Int32(pageSize),
	}, c.read)
	if err != nil {
		return nil, "", classify(opList, err)
	}
	page := make([]distributiontenant.Observed, 0, len(out.DistributionTenantList))
	for _, summary := range out.DistributionTenantList {
		o, err := summarised(opList, summary)
		if err != nil {
			return nil, "", err
		}
		page = append(page, o)
	}
	next, err := nextMarker(opList, marker, out.NextMarker)
	if err != nil {
		return nil, "", err
	}
	return page, next, nil
}

// Unmanaged implements port.Fleet. It converts what was read as if for a create, and returns the members that get lost
// by that.
func (c *Client) Unmanaged(d port.Distribution) []string {
	raw, err := rawConfig(d)
	if err != nil {
		return nil
	}
	kept := wireDistribution(types.DistributionConfig{CallerReference: raw.CallerReference}, d.Config)
	l := losses{ignored: meaningless(d.Config)}
	l.structs("", reflect.ValueOf(*raw), reflect.ValueOf(*kept))
	return l.found
}

// meaningless are members that CloudFront shows and that have no effect: those that repeat others, and those of the other
// kind of distribution.
func meaningless(c v1alpha1.DistributionConfig) []string {
	out := []string{"ViewerCertificate.Certificate", "ViewerCertificate.CertificateSource"}
	if v := c.ViewerCertificate; v == nil || v.CloudFrontDefaultCertificate != nil {
		out = append(out, "ViewerCertificate.MinimumProtocolVersion", "ViewerCertificate.SSLSupportMethod")
	}
	if c.ConnectionMode == v1alpha1.ConnectionModeTenantOnly {
		return append(out, "Aliases", "PriceClass", "IsIPV6Enabled", "Logging")
	}
	return append(out, "TenantConfig")
}

// losses are the members that only one of two configurations has.
type losses struct {
	ignored []string
	found   []string
}

func (l *losses) structs(path string, had, has reflect.Value) {
	for i := range had.NumField() {
		field := had.Type().Field(i)
		if !field.IsExported() || field.Name == "Quantity" {
			continue
		}
		name := field.Name
		switch {
		case name == "Items":
			name = path
		case path != "":
			name = path + "." + name
		}
		if !slices.Contains(l.ignored, name) {
			l.values(name, had.Field(i), has.Field(i))
		}
	}
}

// values compares a member. One that is empty, or a block that is switched off, is like one that is absent.
func (l *losses) values(path string, had, has reflect.Value) {
	had, has = pointed(had), pointed(has)
	if !had.IsValid() || had.IsZero() || off(had) {
		return
	}
	if !has.IsValid() {
		has = reflect.Zero(had.Type())
	}
	switch had.Kind() {
	case reflect.Struct:
		l.structs(path, had, has)
	case reflect.Slice:
		l.lists(path, had, has)
	default:
		if had.Interface() != has.Interface() {
			l.found = append(l.found, path)
		}
	}
}

func (l *losses) lists(path string, had, has reflect.Value) {
	for i := range had.Len() {
		var other reflect.Value
		if i < has.Len() {
			other = has.Index(i)
		}
		if had.Type().Elem().Kind() != reflect.Struct {
			if !other.IsValid() || had.Index(i).Interface() != other.Interface() {
				l.found = append(l.found, path)
				return
			}
			continue
		}
		l.values(fmt.Sprintf("%s[%s]", path, keyOf(had.Index(i), i)), had.Index(i), other)
	}
}

// keyOf is what identifies an element of a list for users.
func keyOf(element reflect.Value, i int) string {
	for _, name := range []string{"Id", "PathPattern", "EventType", "Name", "HeaderName"} {
		if field := element.FieldByName(name); field.IsValid() {
			if key := pointed(field); key.IsValid() {
				return fmt.Sprint(key)
			}
		}
	}
	return fmt.Sprint(i)
}

// pointed follows a pointer, to nothing where it is nil.
func pointed(v reflect.Value) reflect.Value {
	if v.IsValid() && v.Kind() == reflect.Pointer {
		return v.Elem()
	}
	return v
}

// off reports whether a block says of itself that it is not in use.
func off(v reflect.Value) bool {
	if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[types.DistributionConfig]() {
		return false
	}
	enabled := v.FieldByName("Enabled")
	if !enabled.IsValid() {
		return false
	}
	on, isBool := reflect.TypeAssert[*bool](enabled)
	return isBool && !awssdk.ToBool(on)
}

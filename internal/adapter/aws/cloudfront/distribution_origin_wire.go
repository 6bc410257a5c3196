package cloudfront

import (
	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

func wireOrigins(base *types.Origins, origins []v1alpha1.Origin, standard bool) *types.Origins {
	known := map[string]types.Origin{}
	for _, o := range valueOf(base).Items {
		known[awssdk.ToString(o.Id)] = o
	}
	items := make([]types.Origin, len(origins))
	for i, o := range origins {
		items[i] = wireOrigin(known[o.ID], o, standard)
	}
	return &types.Origins{Quantity: quantity(items), Items: items}
}

func wireOrigin(base types.Origin, o v1alpha1.Origin, standard bool) types.Origin {
	out := base
	out.Id = &o.ID
	out.DomainName = &o.DomainName
	out.OriginPath = &o.OriginPath
	out.OriginAccessControlId = &o.OriginAccessControlID
	out.ConnectionAttempts = positive(o.ConnectionAttempts)
	out.ConnectionTimeout = positive(o.ConnectionTimeout)
	out.ResponseCompletionTimeout = positive(o.ResponseCompletionTimeout)
	switch s := o.OriginShield; {
	case s != nil:
		out.OriginShield = &types.OriginShield{Enabled: new(true), OriginShieldRegion: &s.OriginShieldRegion}
	case awssdk.ToBool(valueOf(base.OriginShield).Enabled):
		out.OriginShield = &types.OriginShield{Enabled: new(false)}
	}
	var headers []types.OriginCustomHeader
	for _, h := range o.CustomHeaders {
		headers = append(headers, types.OriginCustomHeader{HeaderName: new(h.Name), HeaderValue: new(h.Value)})
	}
	out.CustomHeaders = &types.CustomHeaders{Quantity: quantity(headers), Items: headers}

	out.CustomOriginConfig, out.S3OriginConfig, out.VpcOriginConfig = nil, nil, nil
	if s := o.CustomOriginConfig; s != nil {
		out.CustomOriginConfig = wireCustomOrigin(valueOf(base.CustomOriginConfig), *s)
	}
	if s := o.S3OriginConfig; s != nil {
		out.S3OriginConfig = &types.S3OriginConfig{OriginAccessIdentity: new(""), OriginReadTimeout: positive(s.OriginReadTimeout)}
		// An identity is refused together with an access control, and in a multi-tenant distribution.
		if identity := valueOf(base.S3OriginConfig).OriginAccessIdentity; standard && o.OriginAccessControlID == "" && identity != nil {
			out.S3OriginConfig.OriginAccessIdentity = identity
		}
	}
	if s := o.VPCOriginConfig; s != nil {
		out.VpcOriginConfig = wireVPCOrigin(valueOf(base.VpcOriginConfig), *s)
	}
	return out
}

func readOrigin(o types.Origin) v1alpha1.Origin {
	out := v1alpha1.Origin{
		ID:                        awssdk.ToString(o.Id),
		DomainName:                awssdk.ToString(o.DomainName),
		OriginPath:                awssdk.ToString(o.OriginPath),
		OriginAccessControlID:     awssdk.ToString(o.OriginAccessControlId),
		ConnectionAttempts:        awssdk.ToInt32(o.ConnectionAttempts),
		ConnectionTimeout:         awssdk.ToInt32(o.ConnectionTimeout),
		ResponseCompletionTimeout: awssdk.ToInt32(o.ResponseCompletionTimeout),
	}
	for _, h := range valueOf(o.CustomHeaders).Items {
		out.CustomHeaders = append(out.CustomHeaders, v1alpha1.CustomHeader{
			Name: awssdk.ToString(h.HeaderName), Value: awssdk.ToString(h.HeaderValue),
		})
	}
	if s := valueOf(o.OriginShield); awssdk.ToBool(s.Enabled) {
		out.OriginShield = &v1alpha1.OriginShield{OriginShieldRegion: awssdk.ToString(s.OriginShieldRegion)}
	}
	if s := o.CustomOriginConfig; s != nil {
		out.CustomOriginConfig = &v1alpha1.CustomOriginConfig{
			OriginProtocolPolicy:   v1alpha1.OriginProtocolPolicy(s.OriginProtocolPolicy),
			HTTPPort:               awssdk.ToInt32(s.HTTPPort),
			HTTPSPort:              awssdk.ToInt32(s.HTTPSPort),
			OriginSSLProtocols:     converted[v1alpha1.SSLProtocol](valueOf(s.OriginSslProtocols).Items),
			OriginReadTimeout:      awssdk.ToInt32(s.OriginReadTimeout),
			OriginKeepaliveTimeout: awssdk.ToInt32(s.OriginKeepaliveTimeout),
			IPAddressType:          v1alpha1.IPAddressType(s.IpAddressType),
		}
		if m := s.OriginMtlsConfig; m != nil {
			out.CustomOriginConfig.OriginMTLSConfig = &v1alpha1.OriginMTLSConfig{ClientCertificateARN: awssdk.ToString(m.ClientCertificateArn)}
		}
	}
	if s := o.S3OriginConfig; s != nil {
		out.S3OriginConfig = &v1alpha1.S3OriginConfig{OriginReadTimeout: awssdk.ToInt32(s.OriginReadTimeout)}
	}
	if s := o.VpcOriginConfig; s != nil {
		out.VPCOriginConfig = &v1alpha1.VPCOriginConfig{
			VPCOriginID:            awssdk.ToString(s.VpcOriginId),
			OwnerAccountID:         awssdk.ToString(s.OwnerAccountId),
			OriginReadTimeout:      awssdk.ToInt32(s.OriginReadTimeout),
			OriginKeepaliveTimeout: awssdk.ToInt32(s.OriginKeepaliveTimeout),
		}
	}
	return out
}

func wireCustomOrigin(base types.CustomOriginConfig, s v1alpha1.CustomOriginConfig) *types.CustomOriginConfig {
	out := base
	out.OriginProtocolPolicy = types.OriginProtocolPolicy(s.OriginProtocolPolicy)
	out.HTTPPort = positive(s.HTTPPort)
	out.HTTPSPort = positive(s.HTTPSPort)
	protocols := converted[types.SslProtocol](s.OriginSSLProtocols)
	out.OriginSslProtocols = &types.OriginSslProtocols{Quantity: quantity(protocols), Items: protocols}
	out.OriginReadTimeout = positive(s.OriginReadTimeout)
	out.OriginKeepaliveTimeout = positive(s.OriginKeepaliveTimeout)
	out.IpAddressType = types.IpAddressType(s.IPAddressType)
	if m := s.OriginMTLSConfig; m != nil {
		out.OriginMtlsConfig = nil
		if m.ClientCertificateARN != "" {
			out.OriginMtlsConfig = &types.OriginMtlsConfig{ClientCertificateArn: &m.ClientCertificateARN}
		}
	}
	return &out
}

// wireVPCOrigin keeps the owner that CloudFront shows of the same VPC origin where the spec
// names none.
func wireVPCOrigin(base types.VpcOriginConfig, s v1alpha1.VPCOriginConfig) *types.VpcOriginConfig {
	out := base
	if s.OwnerAccountID != "" || awssdk.ToString(base.VpcOriginId) != s.VPCOriginID {
		out.OwnerAccountId = optional(s.OwnerAccountID)
	}
	out.VpcOriginId = &s.VPCOriginID
	out.OriginReadTimeout = positive(s.OriginReadTimeout)
	out.OriginKeepaliveTimeout = positive(s.OriginKeepaliveTimeout)
	return &out
}

func wireOriginGroups(base *types.OriginGroups, groups []v1alpha1.OriginGroup) *types.OriginGroups {
	known := map[string]types.OriginGroup{}
	for _, g := range valueOf(base).Items {
		known[awssdk.ToString(g.Id)] = g
	}
	var items []types.OriginGroup
	for _, g := range groups {
		out := known[g.ID]
		out.Id = new(g.ID)
		out.SelectionCriteria = types.OriginGroupSelectionCriteria(g.SelectionCriteria)
		var members []types.OriginGroupMember
		for _, m := range g.Members {
			members = append(members, types.OriginGroupMember{OriginId: new(m.OriginID)})
		}
		out.Members = &types.OriginGroupMembers{Quantity: quantity(members), Items: members}
		var codes []int32
		if g.FailoverCriteria != nil {
			codes = numbers[int32](g.FailoverCriteria.StatusCodes)
		}
		out.FailoverCriteria = &types.OriginGroupFailoverCriteria{
			StatusCodes: &types.StatusCodes{Quantity: quantity(codes), Items: codes},
		}
		items = append(items, out)
	}
	return &types.OriginGroups{Quantity: quantity(items), Items: items}
}

func readOriginGroup(g types.OriginGroup) v1alpha1.OriginGroup {
	codes := valueOf(valueOf(g.FailoverCriteria).StatusCodes).Items
	return v1alpha1.OriginGroup{
		ID:                awssdk.ToString(g.Id),
		SelectionCriteria: v1alpha1.OriginSelectionCriteria(g.SelectionCriteria),
		FailoverCriteria:  &v1alpha1.FailoverCriteria{StatusCodes: numbers[v1alpha1.FailoverStatusCode](codes)},
		Members: each(valueOf(g.Members).Items, func(m types.OriginGroupMember) v1alpha1.OriginGroupMember {
			return v1alpha1.OriginGroupMember{OriginID: awssdk.ToString(m.OriginId)}
		}),
	}
}

package cloudfront

import (
	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

func wireBehaviors(base *types.CacheBehaviors, behaviors []v1alpha1.CacheBehavior, standard bool) *types.CacheBehaviors {
	known := map[string]types.CacheBehavior{}
	for _, b := range valueOf(base).Items {
		known[awssdk.ToString(b.PathPattern)] = b
	}
	var items []types.CacheBehavior
	for _, b := range behaviors {
		out := wireBehavior(known[b.PathPattern], b.CacheBehaviorSettings, standard)
		out.PathPattern = new(b.PathPattern)
		items = append(items, out)
	}
	return &types.CacheBehaviors{Quantity: quantity(items), Items: items}
}

func wireBehavior(base types.CacheBehavior, s v1alpha1.CacheBehaviorSettings, standard bool) types.CacheBehavior {
	out := base
	out.TargetOriginId = &s.TargetOriginID
	out.ViewerProtocolPolicy = types.ViewerProtocolPolicy(s.ViewerProtocolPolicy)
	out.CachePolicyId = &s.CachePolicyID
	// CloudFront takes these or a cache policy.
	out.ForwardedValues, out.MinTTL, out.DefaultTTL, out.MaxTTL = nil, nil, nil, nil //nolint:staticcheck // what was there has to go
	if standard && out.SmoothStreaming == nil {
		out.SmoothStreaming = new(false) // CloudFront refuses an update without
	}
	out.OriginRequestPolicyId = optional(s.OriginRequestPolicyID)
	out.ResponseHeadersPolicyId = optional(s.ResponseHeadersPolicyID)
	allowed, cached := converted[types.Method](s.AllowedMethods), converted[types.Method](s.CachedMethods)
	out.AllowedMethods = &types.AllowedMethods{
		Quantity: quantity(allowed), Items: allowed,
		CachedMethods: &types.CachedMethods{Quantity: quantity(cached), Items: cached},
	}
	out.Compress = s.Compress
	out.FieldLevelEncryptionId = &s.FieldLevelEncryptionID
	if s.RealtimeLogConfigARN != nil {
		out.RealtimeLogConfigArn = optional(*s.RealtimeLogConfigARN)
	}
	out.TrustedKeyGroups = &types.TrustedKeyGroups{
		Enabled: new(len(s.TrustedKeyGroups) > 0), Quantity: quantity(s.TrustedKeyGroups),
		Items: converted[string](s.TrustedKeyGroups),
	}
	out.GrpcConfig = &types.GrpcConfig{Enabled: new(s.GRPCConfig != nil && awssdk.ToBool(s.GRPCConfig.Enabled))}
	var functions []types.FunctionAssociation
	for _, f := range s.FunctionAssociations {
		functions = append(functions, types.FunctionAssociation{
			EventType: types.EventType(f.EventType), FunctionARN: new(f.FunctionARN),
		})
	}
	out.FunctionAssociations = &types.FunctionAssociations{Quantity: quantity(functions), Items: functions}
	var lambdas []types.LambdaFunctionAssociation
	for _, f := range s.LambdaFunctionAssociations {
		lambdas = append(lambdas, types.LambdaFunctionAssociation{
			EventType: types.EventType(f.EventType), LambdaFunctionARN: new(f.LambdaFunctionARN), IncludeBody: f.IncludeBody,
		})
	}
	out.LambdaFunctionAssociations = &types.LambdaFunctionAssociations{Quantity: quantity(lambdas), Items: lambdas}
	return out
}

func readBehavior(b types.CacheBehavior) v1alpha1.CacheBehaviorSettings {
	out := v1alpha1.CacheBehaviorSettings{
		TargetOriginID:          awssdk.ToString(b.TargetOriginId),
		ViewerProtocolPolicy:    v1alpha1.ViewerProtocolPolicy(b.ViewerProtocolPolicy),
		CachePolicyID:           awssdk.ToString(b.CachePolicyId),
		OriginRequestPolicyID:   awssdk.ToString(b.OriginRequestPolicyId),
		ResponseHeadersPolicyID: awssdk.ToString(b.ResponseHeadersPolicyId),
		AllowedMethods:          converted[v1alpha1.Method](valueOf(b.AllowedMethods).Items),
		CachedMethods:           converted[v1alpha1.Method](valueOf(valueOf(b.AllowedMethods).CachedMethods).Items),
		Compress:                copied(b.Compress),
		FieldLevelEncryptionID:  awssdk.ToString(b.FieldLevelEncryptionId),
	}
	for _, f := range valueOf(b.FunctionAssociations).Items {
		out.FunctionAssociations = append(out.FunctionAssociations, v1alpha1.FunctionAssociation{
			EventType: v1alpha1.FunctionEventType(f.EventType), FunctionARN: awssdk.ToString(f.FunctionARN),
		})
	}
	for _, f := range valueOf(b.LambdaFunctionAssociations).Items {
		out.LambdaFunctionAssociations = append(out.LambdaFunctionAssociations, v1alpha1.LambdaFunctionAssociation{
			EventType: v1alpha1.LambdaEventType(f.EventType), LambdaFunctionARN: awssdk.ToString(f.LambdaFunctionARN),
			IncludeBody: copied(f.IncludeBody),
		})
	}
	if k := valueOf(b.TrustedKeyGroups); awssdk.ToBool(k.Enabled) {
		out.TrustedKeyGroups = converted[string](k.Items)
	}
	if arn := awssdk.ToString(b.RealtimeLogConfigArn); arn != "" {
		out.RealtimeLogConfigARN = &arn
	}
	if b.GrpcConfig != nil {
		out.GRPCConfig = &v1alpha1.GRPCConfig{Enabled: copied(b.GrpcConfig.Enabled)}
	}
	return out
}

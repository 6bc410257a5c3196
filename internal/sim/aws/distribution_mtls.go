package aws

import "strings"

// checkMutualTLS refuses what AWS documents not to go with certificates of viewers, or of CloudFront towards an origin.
func checkMutualTLS(d *distribution) error {
	config := d.config
	viewer := config.child("ViewerMtlsConfig")
	if viewer != nil && viewer.str("Mode") != "passthrough" && viewer.at("TrustStoreConfig").str("TrustStoreId") == "" {
		return invalidArgument("A trust store is required for the viewer mTLS mode %q.", viewer.str("Mode"))
	}
	if viewer != nil && strings.HasSuffix(config.str("HttpVersion"), "3") {
		return invalidArgument("Viewer mTLS is not supported with HTTP/3.")
	}
	for _, b := range behaviors(config) {
		if viewer != nil && b.str("ViewerProtocolPolicy") == "allow-all" {
			return invalidArgument("Viewer mTLS requires a viewer protocol policy of HTTPS only, or a redirect to HTTPS, in all cache behaviors.")
		}
		if err := checkMutualOrigin(config, b); err != nil {
			return err
		}
	}
	return nil
}

// checkMutualOrigin looks at the origin that a behavior leads to.
func checkMutualOrigin(config, b *node) error {
	for _, o := range origins(config) {
		if o.str("Id") != b.str("TargetOriginId") || o.at("CustomOriginConfig", "OriginMtlsConfig") == nil {
			continue
		}
		if b.at("GrpcConfig").str("Enabled") == "true" {
			return invalidArgument("gRPC is not supported for the origin %s with mutual TLS.", o.str("Id"))
		}
		for _, f := range b.at("LambdaFunctionAssociations", "Items").items("LambdaFunctionAssociation") {
			if strings.HasPrefix(f.str("EventType"), "origin-") {
				return invalidArgument("Lambda@Edge at origin events is not supported for the origin %s with mutual TLS.", o.str("Id"))
			}
		}
	}
	return nil
}

// Package config has the manifests of the operator that programs need.
package config

import "embed"

// CRDs has the CRDs as they are installed, one file for each kind, in the folder crd.
//
//go:embed crd/*.yaml
var CRDs embed.FS

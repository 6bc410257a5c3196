//go:build !linux

package child_test

import (
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

var confined map[mapping.Provider]port.Rows

func playHidden() {}

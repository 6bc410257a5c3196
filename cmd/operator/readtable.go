package main

import "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator"

// The operator starts itself to read a table. Such a process is no operator: it must not look at flags, at the cluster or
// at AWS.
func init() { operator.ReadTable() }

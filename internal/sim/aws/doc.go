// Package aws is a simulated AWS: the CloudFront control plane for
// multi-tenant distributions, Route 53, the certificates of ACM that go with
// them, the streams of DynamoDB, and STS.
//
// It speaks the wire format the AWS SDKs speak and refuses what AWS refuses:
// missing or stale If-Match, deletes of what is enabled, names and domains that
// are taken, domains that no certificate covers, exceeded quotas and request
// rates. It shares no code with the operator, so it cannot agree with the
// operator's mistakes, and it does not use the AWS SDK.
//
// A [Sim] is an [net/http.Handler], and [Sim.Transport] is an
// [net/http.RoundTripper] over the same state without a socket, which is what a
// testing/synctest bubble needs. Time comes from a [Clock] and moves further
// with [Sim.Advance]; nothing in the package waits for time to pass except a
// requested latency. Where the behaviour of AWS is unknown or the sources
// disagree there is a switch, see [Switches].
package aws

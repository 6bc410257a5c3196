// Package aws is what the adapters for the services of AWS share: the rate limiter, the
// metrics, the retry policy, the classification of errors, and the construction of SDK
// clients. The SDK's own package of the same name is imported as awssdk.
package aws

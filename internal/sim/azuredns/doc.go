// Package azuredns is a simulated Azure DNS: the DNS part of Azure Resource Manager in its API version 2018-05-01, the
// token endpoints of Microsoft Entra ID and of managed identities, and the name servers of the zones.
//
// It speaks the wire format that armdns and azidentity speak, and refuses what Azure refuses. Its texts and codes are those
// of recorded sessions and of error reports where there are some. Where Azure's behaviour is not known it refuses. It
// shares no code with the operator and does not use the Azure SDK.
//
// A [Sim] is an [net/http.Handler] for all three services, and [Sim.Transport] reaches it without a socket under any host,
// as login.microsoftonline.com or 169.254.169.254 among them.
package azuredns

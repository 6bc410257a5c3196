package distributiontenant

import "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"

// NextLedger is the ledger as it is stored next.
func (in Input) NextLedger() []dns.Entry { return judge(in).publication.Ledger }

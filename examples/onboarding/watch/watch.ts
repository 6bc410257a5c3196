// Prints each change of a domain in the namespace default, and the records that its customer has to set.
import { KubeConfig, Watch } from '@kubernetes/client-node'

interface Tenant {
  status?: { domains?: { domain: string; state: string; message?: string; records?: DNSRecord[] }[] }
}
interface DNSRecord { type: string; name: string; value?: string; publishedBy: string; state: string }

const path = '/apis/cloudfront-tenant-operator.io/v1alpha1/namespaces/default/distributiontenants'
const config = new KubeConfig()
config.loadFromDefault()
const shown = new Map<string, string>()

function show(phase: string, tenant: Tenant) {
  if (phase !== 'ADDED' && phase !== 'MODIFIED') return
  for (const { domain, state, message = '', records = [] } of tenant.status?.domains ?? []) {
    const missing = records.filter((r) => r.publishedBy === 'customer' && r.state !== 'Present')
    const text = [`${domain} ${state} ${message}`, ...missing.map((r) => `  set ${r.type} ${r.name} ${r.value ?? ''}`)].join('\n')
    if (shown.get(domain) !== text) console.log(text)
    shown.set(domain, text)
  }
}

// The API server ends each watch after some minutes. A new one begins with all objects as they are then.
const again = (err: unknown) => {
  if (err) console.error(err)
  setTimeout(watch, 1000)
}
const watch = () => new Watch(config).watch(path, {}, show, again).catch(again)
await watch()

// Prints each change of a domain in the namespace default, and the records that its customer has to set.
import { CustomObjectsApi, KubeConfig, makeInformer, type KubernetesListObject, type KubernetesObject } from '@kubernetes/client-node'

interface Tenant extends KubernetesObject {
  status?: { domains?: { domain: string; state: string; message?: string; records?: DNSRecord[] }[] }
}
interface DNSRecord { type: string; name: string; value?: string; publishedBy: string; state: string }

const kind = { group: 'cloudfront-tenant-operator.io', version: 'v1alpha1', namespace: 'default', plural: 'distributiontenants' }
const path = `/apis/${kind.group}/${kind.version}/namespaces/${kind.namespace}/${kind.plural}`
const config = new KubeConfig()
config.loadFromDefault()
const api = config.makeApiClient(CustomObjectsApi)
const shown = new Map<string, Map<string, string>>() // by object, then by domain

function show(tenant: Tenant) {
  const name = tenant.metadata?.name ?? ''
  const before = shown.get(name)
  const now = new Map<string, string>()
  for (const { domain, state, message = '', records = [] } of tenant.status?.domains ?? []) {
    const missing = records.filter((r) => r.publishedBy === 'customer' && r.state !== 'Present' && r.value)
    const text = [`${domain} ${state} ${message}`, ...missing.map((r) => `  set ${r.type} ${r.name} ${r.value}`)].join('\n')
    if (before?.get(domain) !== text) console.log(text)
    now.set(domain, text)
  }
  shown.set(name, now)
}

// The informer lists the objects, watches them, and lists them again when it has missed changes.
const list = () => api.listNamespacedCustomObject(kind) as Promise<KubernetesListObject<Tenant>>
const informer = makeInformer<Tenant>(config, path, list)
informer.on('add', show)
informer.on('update', show)
informer.on('delete', (tenant) => {
  shown.delete(tenant.metadata?.name ?? '')
  console.log(`default/${tenant.metadata?.name} is deleted`)
})
informer.on('error', (err) => {
  console.error(err)
  setTimeout(() => informer.start(), 5000)
})
await informer.start()

// The order of the pages on the site, in one list. A page that does not exist is left out, and a page of docs/ that is
// not listed is added at the end, so that none is out of reach.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const parts = [
  ['Start', [
    ['Overview', 'index'], ['Try it', 'playground'], ['Quickstart', 'quickstart'], ['Tutorial', 'tutorial'],
    ['Installation', 'installation'], ['Verify what you install', 'verify'], ['Comparison', 'comparison'],
    ['Questions and answers', 'faq'], ['Glossary', 'glossary'], ['Roadmap', 'roadmap'],
  ]],
  ['Guides', [
    ['How it works', 'concepts'], ['DistributionTenant', 'spec/distributiontenant'],
    ['Distribution', 'spec/distribution'], ['ConnectionGroup', 'spec/connectiongroup'],
    ['How your application knows the tenant', 'origins'], ['Invalidation', 'spec/invalidation'],
    ['Who may use what', 'grants'], ['EdgeGrant', 'spec/edgegrant'], ['DomainClaim', 'spec/domainclaim'],
    ['Customer onboarding', 'customer-onboarding'], ['Certificates', 'certificates'], ['DNS', 'dns'], ['Key values', 'key-values'],
    ['DNS providers and accounts', 'dns/accounts'], ['Cloudflare', 'dns/cloudflare'], ['Azure DNS', 'dns/azure'], ['RFC 2136', 'dns/rfc2136'],
    ['ExternalDNS', 'dns/externaldns'],
    ['Tenants from a database', 'tenantsource'], ['Deletion guard', 'tenantsource/guard'], ['State table', 'state-table'],
    ['PostgreSQL', 'tenantsource/postgresql'], ['MySQL and MariaDB', 'tenantsource/mysql'],
    ['MongoDB and DocumentDB', 'tenantsource/mongodb'], ['DynamoDB', 'tenantsource/dynamodb'],
    ['Redis and Valkey', 'tenantsource/redis'], ['TenantSource', 'spec/tenantsource'],
    ["Customers' namespaces", 'tenancy'], ['Tenant', 'spec/tenant'], ['TenantPlan', 'spec/tenantplan'],
    ['Rollouts', 'rollouts'], ['GitOps', 'gitops'],
  ]],
  ['Operations', [
    ['Production checklist', 'production'], ['kubectl cfdt', 'kubectl-cfdt'], ['Deletions that wait', 'deletion-budget'], ['Copies of a cluster', 'clones'], ['Warnings at admission', 'webhook'], ['Monitoring', 'monitoring'], ['Logs of one tenant', 'logs'], ['Security model', 'security-model'],
    ['Limits and quotas', 'limits'], ['What it costs', 'costs'], ['Troubleshooting', 'troubleshooting'], ['Upgrade', 'upgrade'],
    ['Uninstall', 'uninstall'],
  ]],
  ['Migration', [
    ['Import a fleet', 'import'],
    ["From dsp0x4's operator", 'migration/predecessor'], ['From kleff', 'migration/kleff'],
    ['From ACK', 'migration/ack'], ['From Terraform', 'migration/terraform'],
    ['From standard distributions', 'migration/standard-distributions'],
  ]],
  ['Reference', [
    ['API', 'reference/api'], ['DistributionTenant', 'reference/api/distributiontenant'],
    ['Distribution', 'reference/api/distribution'], ['ConnectionGroup', 'reference/api/connectiongroup'],
    ['TenantSource', 'reference/api/tenantsource'], ['EdgeGrant', 'reference/api/edgegrant'], ['DomainClaim', 'reference/api/domainclaim'], ['Invalidation', 'reference/api/invalidation'], ['Tenant', 'reference/api/tenant'],
    ['TenantPlan', 'reference/api/tenantplan'], ['Conditions', 'reference/conditions'], ['Events', 'reference/events'],
    ['States of a domain', 'reference/domain-states'], ['Columns of a state table', 'reference/state-table'],
    ['Metrics', 'reference/metrics'], ['Alerts', 'reference/alerts'], ['Flags', 'reference/flags'],
    ['IAM policies', 'reference/iam'], ['Rules', 'reference/rules'],
  ]],
  ['Internals', [
    ['Architecture', 'architecture'], ['What AWS is sent', 'aws-behaviour'], ['Reliability', 'reliability'],
    ['Benchmarks', 'benchmarks'], ['Simulator', 'simulator'], ['Decisions', 'decisions/index'],
  ]],
]

// Open when a page is first visited.
const open = new Set(['Start', 'Guides'])

function pagesBelow(docs) {
  return readdirSync(docs, { recursive: true }).filter((name) => name.endsWith('.md')).map((name) => name.slice(0, -3)).sort()
}

function title(docs, page) {
  return readFileSync(join(docs, page + '.md'), 'utf8').match(/^# (.+)$/m)?.[1] ?? page
}

const link = (page) => '/' + page.replace(/(^|\/)index$/, '$1')

export function sidebar(docs) {
  const listed = new Set(parts.flatMap(([, pages]) => pages.map(([, page]) => page)))
  const more = pagesBelow(docs).filter((page) => !listed.has(page) && !page.startsWith('decisions/'))
  return [...parts, ['More', more.map((page) => [title(docs, page), page])]]
    .map(([text, pages]) => ({
      text,
      collapsed: !open.has(text),
      items: pages.filter(([, page]) => existsSync(join(docs, page + '.md'))).map(([text, page]) => ({ text, link: link(page) })),
    }))
    .filter((part) => part.items.length > 0)
}

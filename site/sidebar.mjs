// The order of the pages on the site, in one list. A page that does not exist is left out, and a page of docs/ that is
// not listed is added at the end, so that none is out of reach.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const parts = [
  ['Start', [
    ['Overview', 'index'], ['Quickstart', 'quickstart'], ['Tutorial', 'tutorial'], ['Installation', 'installation'],
    ['Playground', 'playground'], ['Simulated AWS', 'simulator'], ['How it works', 'concepts'], ['FAQ', 'faq'],
    ['Comparison', 'comparison'], ['Glossary', 'glossary'], ['Roadmap', 'roadmap'],
  ]],
  ['Tenants', [
    ['DistributionTenant', 'spec/distributiontenant'], ['Distribution', 'spec/distribution'],
    ['ConnectionGroup', 'spec/connectiongroup'], ['Invalidation', 'spec/invalidation'],
    ['How your application knows the tenant', 'origins'], ['Key value stores', 'key-values'], ['Rollouts', 'rollouts'],
    ['Customer onboarding', 'customer-onboarding'], ['Logs of one tenant', 'logs'],
  ]],
  ['DNS and certificates', [
    ['Certificates', 'certificates'], ['DNS', 'dns'], ['DNS providers and accounts', 'dns/accounts'],
    ['Cloudflare', 'dns/cloudflare'], ['Azure DNS', 'dns/azure'], ['RFC 2136 (BIND)', 'dns/rfc2136'],
    ['Knot DNS', 'dns/knot'], ['PowerDNS', 'dns/powerdns'], ['ExternalDNS', 'dns/externaldns'],
  ]],
  ['Sources', [
    ['Tenants from a database', 'tenantsource'], ['TenantSource', 'spec/tenantsource'],
    ['Deletion guard', 'tenantsource/guard'], ['State table', 'state-table'],
    ['PostgreSQL, RDS and Aurora', 'tenantsource/postgresql'], ['MySQL and MariaDB', 'tenantsource/mysql'],
    ['MongoDB and DocumentDB', 'tenantsource/mongodb'], ['DynamoDB', 'tenantsource/dynamodb'],
    ['Redis and Valkey', 'tenantsource/redis'],
  ]],
  ['Teams and safety', [
    ['Teams and grants', 'grants'], ['EdgeGrant', 'spec/edgegrant'], ['Domain ownership (DomainClaim)', 'spec/domainclaim'],
    ['Deletion budget', 'deletion-budget'], ['Cluster clones and restores', 'clones'],
    ['Admission webhook', 'webhook'], ['Security model', 'security-model'], ['Verify what you install', 'verify'],
  ]],
  ["Customers' namespaces", [
    ['Namespace per customer', 'tenancy'], ['Tenant', 'spec/tenant'], ['TenantPlan', 'spec/tenantplan'],
  ]],
  ['Operations', [
    ['Production checklist', 'production'], ['kubectl cfdt', 'kubectl-cfdt'], ['Monitoring', 'monitoring'],
    ['Alerts', 'reference/alerts'], ['Troubleshooting', 'troubleshooting'], ['GitOps: Argo CD and Flux', 'gitops'],
    ['Limits and quotas', 'limits'], ['What it costs', 'costs'], ['Benchmarks', 'benchmarks'], ['Reliability', 'reliability'],
    ['Upgrade and roll back', 'upgrade'], ['Uninstall', 'uninstall'],
  ]],
  ['Migrate', [
    ['Import an existing fleet', 'import'], ['From standard distributions', 'migration/standard-distributions'],
    ['From Terraform', 'migration/terraform'], ['From ACK', 'migration/ack'],
    ["From dsp0x4's operator", 'migration/predecessor'], ['From kleff', 'migration/kleff'],
  ]],
  ['Reference', [
    ['API', 'reference/api'], ['DistributionTenant', 'reference/api/distributiontenant'],
    ['Distribution', 'reference/api/distribution'], ['ConnectionGroup', 'reference/api/connectiongroup'],
    ['Invalidation', 'reference/api/invalidation'], ['TenantSource', 'reference/api/tenantsource'],
    ['EdgeGrant', 'reference/api/edgegrant'], ['DomainClaim', 'reference/api/domainclaim'],
    ['Tenant', 'reference/api/tenant'], ['TenantPlan', 'reference/api/tenantplan'],
    ['Conditions', 'reference/conditions'], ['Events', 'reference/events'],
    ['States of a domain', 'reference/domain-states'], ['Columns of a state table', 'reference/state-table'],
    ['Metrics', 'reference/metrics'], ['Flags', 'reference/flags'], ['IAM policies', 'reference/iam'],
    ['Kubernetes versions', 'reference/kubernetes-versions'],
    ["Conditions of dsp0x4's operator", 'reference/predecessor-conditions'],
  ]],
  ['Contributing', [
    ['Overview', 'contributing/index'], ['Architecture', 'contributing/architecture'], ['Rules', 'contributing/rules'],
    ['How it works in detail', 'contributing/mechanisms'], ['The process that reads a database', 'contributing/reader'],
    ['Undocumented AWS behaviour', 'contributing/aws-behaviour'], ['Crash campaign', 'contributing/campaign'],
    ['A real node', 'contributing/real-node'], ['Benchmarks in detail', 'contributing/benchmarks'],
    ['Simulated AWS in detail', 'contributing/simulator'], ['Playground in detail', 'contributing/playground'],
    ['Decisions', 'decisions/index'],
  ]],
]

// Open when a page is first visited. The part of the visited page is always open.
const open = new Set(['Start', 'Tenants'])

function pagesBelow(docs) {
  return readdirSync(docs, { recursive: true }).filter((name) => name.endsWith('.md')).map((name) => name.slice(0, -3)).sort()
}

function title(docs, page) {
  return readFileSync(join(docs, page + '.md'), 'utf8').match(/^# (.+)$/m)?.[1] ?? page
}

const link = (page) => '/' + page.replace(/(^|\/)index$/, '$1')

export function sidebar(docs) {
  const listed = new Set(parts.flatMap(([, pages]) => pages.map(([, page]) => page)))
  const more = pagesBelow(docs).filter((page) => !listed.has(page) && !page.startsWith('decisions/') && !page.startsWith('proposals/'))
  return [...parts, ['More', more.map((page) => [title(docs, page), page])]]
    .map(([text, pages]) => ({
      text,
      collapsed: !open.has(text),
      items: pages.filter(([, page]) => existsSync(join(docs, page + '.md'))).map(([text, page]) => ({ text, link: link(page) })),
    }))
    .filter((part) => part.items.length > 0)
}

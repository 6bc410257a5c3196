// The head of the first page. Its text is docs/index.md, which has no front matter, because GitHub shows that as a table.
export const home = {
  layout: 'home',
  hero: {
    name: 'CloudFront tenant operator',
    text: 'A domain for every customer',
    tagline:
      'A Kubernetes operator for Amazon CloudFront SaaS Manager: certificate, DNS and settings for each customer, from one Kubernetes object or one row in your customers table.',
    image: { light: '/images/overview-light.svg', dark: '/images/overview-dark.svg', alt: 'A table row or an object reaches the operator, which creates a CloudFront tenant, a certificate and DNS records' },
    actions: [
      { theme: 'brand', text: 'Quickstart', link: '/quickstart' },
      { theme: 'alt', text: 'How it works', link: '/concepts' },
      { theme: 'alt', text: 'Installation', link: '/installation' },
    ],
  },
  features: [
    {
      title: 'Tenants as objects',
      details: 'Tenants, distributions and connection groups in any order, deleted in the order that CloudFront requires.',
      link: '/spec/distributiontenant',
    },
    {
      title: 'Tenants from a database',
      details: 'PostgreSQL, MySQL, MongoDB, DynamoDB or Redis. An emptied table deletes no tenant.',
      link: '/tenantsource',
    },
    {
      title: 'Certificates and DNS',
      details: 'Managed certificates requested, validated and attached; records in Route 53, Cloudflare, Azure and other DNS services.',
      link: '/certificates',
    },
    {
      title: 'Made for large fleets',
      details: '1.07 AWS calls per tenant to Ready, one list call for every 100 tenants at rest, 110 MiB at 10,000 tenants.',
      link: '/benchmarks',
    },
    {
      title: 'A namespace per customer',
      details: 'Quota, isolation, Istio and Gatekeeper policies from a plan, rolled out a few customers at a time.',
      link: '/tenancy',
    },
    {
      title: 'Tested by breaking it',
      details: '2,500 crash cases with kills, lost answers and failing APIs: no tenant left behind, none created twice.',
      link: '/reliability',
    },
  ],
}

// Adds the domain of a customer: node create.js shop.customer.example
import { CustomObjectsApi, KubeConfig } from '@kubernetes/client-node'

// The domain that a customer means, also if they paste the address of a page.
const typed = process.argv[2].trim()
const domain = new URL(typed.includes('://') ? typed : 'https://' + typed).hostname.replace(/\.$/, '')
const config = new KubeConfig()
config.loadFromDefault()

await config.makeApiClient(CustomObjectsApi).createNamespacedCustomObject({
  group: 'cloudfront-tenant-operator.io',
  version: 'v1alpha1',
  namespace: 'default',
  plural: 'distributiontenants',
  body: {
    apiVersion: 'cloudfront-tenant-operator.io/v1alpha1',
    kind: 'DistributionTenant',
    metadata: { name: 'customer-' + domain.replaceAll('.', '-') },
    spec: {
      distributionRef: { name: 'platform' },
      domains: [{ domain }],
      managedCertificateRequest: { validationTokenHost: 'cloudfront' },
    },
  },
})

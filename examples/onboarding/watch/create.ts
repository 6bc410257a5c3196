// Adds the domain of a customer: node create.js shop.customer.example
import { CustomObjectsApi, KubeConfig } from '@kubernetes/client-node'

const domain = process.argv[2]
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

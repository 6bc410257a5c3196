package metrics

import "github.com/prometheus/client_golang/prometheus"

// Register adds the gauges. They are set before anything is scraped.
func (g *Gauges) Register(r prometheus.Registerer) error {
	in := &registrar{Registerer: r}
	for _, s := range g.table() {
		in.add(s)
	}
	return in.err
}

// table has all gauges, next to what computes them.
func (g *Gauges) table() []*scraped {
	const active = " Only the active replica exports it."
	const known = " Only the active replica exports it, while the value is known."
	return []*scraped{
		scrape(g.tenants,
			gauge{"tenants_total", "namespace status", "DistributionTenant objects by namespace and reason of their Ready condition (Deployed if Ready)." + active},
			gauge{"domains", "namespace state", "Domains of DistributionTenants by namespace and state, as in status.domains: AwaitingProof, AwaitingDNS, Validating, Issuing, Deploying, Live, Lost, Disabled, Leaving or Refused." + active}),
		scrape(g.customers,
			gauge{"customers", "plan reason", "Tenants by plan and reason of their TenantReady condition (Ready if ready)." + active}),
		scrape(g.plans,
			gauge{"plan_tenants", "plan state", "Tenants of each plan by how far the plan's current version has come: applied, failed or waiting." + active}),
		scrape(g.invalidations,
			gauge{"invalidation_objects", "namespace reason", "Invalidation objects by namespace and reason of their Ready condition (Completed if Ready)." + active},
			gauge{"invalidation_age_seconds", "namespace reason", "Age of the oldest Invalidation object that has not finished, by namespace and reason of its Ready condition. It counts from status.expectedCompletionTime if the object has one, and is 0 before." + active}),
		scrape(g.parents,
			gauge{"parent_condition", "kind namespace name condition status reason", "1 for each condition of each Distribution and ConnectionGroup, with its current status and reason. Objects of a kind beyond the first 1,000, of which those that are not Ready come first, have no namespace and name, and are counted together." + active}),
		scrape(g.stalled,
			gauge{"stalled", "kind namespace name reason", "1 for each object that needs manual action (condition Stalled), with the reason. Objects of a kind beyond the first 100 have no namespace, name and reason, and are counted together." + active},
			gauge{"rollout_stopped", "kind namespace name", "1 for each TenantSource and TenantPlan whose rollout has stopped (condition RolledOut with the reason RolloutStopped), whatever else is wrong with it. With the kind DistributionTenant, and without namespace and name: how many changes of what customers are served with have stopped, outside of these. Objects of a kind beyond the first 100 have no namespace and name, and are counted together." + active}),

		scrape(g.guardRails,
			gauge{"guard_rails", "name", "Whether a guard rail is on (1) or off (0): deletion_budget, cluster_check, domain_claims, rollout, grants (1 only with --grants=Enforce)."}),
		scrape(g.halted,
			gauge{"writes_halted", "reason", "1 for each reason for which nothing is changed in AWS: ClusterMoved while the cluster is another one than the operator was installed in, ClusterIDChanged while the cluster ID is another one, Frozen while an administrator has frozen the operator. There is no series while writes go on."}),
		scrape(g.losses,
			gauge{"deletions_held", "kind namespace", "Deletions, and changes that take objects out of service, that the deletion budget holds until they are approved, by kind and namespace. The namespace is empty for a plan of the whole cluster." + active}),
		scrape(g.rollouts,
			gauge{"rollout_tenants", "state", "Tenants that a change of what customers are served with has not reached yet (waiting), has reached and are not Ready yet (in_flight), or has reached and failed (failed)." + active}),
		scrape(g.domains,
			gauge{"domain_claims", "phase", "DomainClaims, by phase: Reserved, HandOver or Held."},
			gauge{"domain_claims_refused", "", "Distribution tenants that are refused a domain that is taken or reserved outside of their namespace, or handed over within it (condition reason DomainClaimed)."}),
		scrape(g.grants,
			gauge{"default_grant_open", "", "1 while there are EdgeGrants and every namespace that none of them selects has the default grant: a namespace that loses its EdgeGrant may then use more than before."},
			gauge{"grant_violations", "grant", "Objects that ask for more than their grant allows. The label is (default) for the default grant, and empty for namespaces without a grant."}),

		scrape(g.zones,
			gauge{"dns_zones", "", "DNS zones in which objects have records."},
			gauge{"dns_zone_records", "", "Records in these zones, including those that the operator does not own."},
			gauge{"dns_names_waiting", "", "Names with pending changes of DNS records."},
			gauge{"dns_batches_propagating", "", "Accepted batches of DNS changes that have not reached every server yet."}),
		scrape(g.keyValues,
			gauge{"key_value_stores", "", "CloudFront key value stores in which objects have keys."},
			gauge{"key_values", "", "Keys in the ledgers of objects."}),
		scrape(g.dnsAccounts,
			gauge{"dns_account_valid", "provider account", "1 for each DNS account that can be used, 0 for one whose configuration or Secret is not valid."}),

		scrape(g.watchedDomains,
			gauge{"watched_domains", "way", "Domains that the operator does not publish, by where they point in public DNS: Here (to the tenant), Partly (not all DNS servers agree), Nowhere (no record), Elsewhere, Edge (another endpoint of CloudFront), Circle (CNAMEs that form a loop), Failing (lookups of the name fail), Silent (no DNS server answers), or Unseen before the first look." + active}),

		scrape(g.inventories,
			gauge{"inventory_tenants", "account", "Tenants in the AWS account that the operator knows of, including those it does not own. The label account is empty for the operator's own account."},
			gauge{"inventory_in_flight", "account", "Tenants with a deployment in progress that the operator follows, by AWS account."},
			gauge{"inventory_age_seconds", "account", "Time since all tenants of the AWS account were last listed, or -1 if this replica has not listed them yet."}),
		scrape(g.orphans,
			gauge{"orphans", "account", "Orphaned tenants by AWS account: created by this cluster, but their objects no longer exist. The log names them." + active}),
		scrape(g.quotas,
			gauge{"quota_used", "account quota", "What the AWS account has of a quota, including what is not the operator's: distribution_tenants, certificates (in ACM, as of the last list, which needs an attached certificate), connection_groups and multi_tenant_distributions (both counted once a day), domains_per_tenant (those of the tenant that has the most), associations_per_web_acl (tenants that override their web ACL by the one that is used most; distributions with it are not counted), invalidation_paths and invalidation_wildcards (without and with a star, in progress for the Invalidation objects of the cluster only). Not exported while it is not known." + active},
			gauge{"quota_limit", "account quota source", "What the AWS account may have of a quota. The source is account (Service Quotas has a value of the account), default (Service Quotas has a default only) or documented (AWS's documentation: Service Quotas can't be read, or lacks the quota). Read once a day." + active}),
		scrape(g.certificates,
			gauge{"certificates", "account state", "Certificates attached to tenants, by their state in ACM's list: issued, unusable (expired, revoked, inactive) or unlisted. A certificate that several tenants share counts once." + known},
			gauge{"certificates_expiring", "account within_days", "Attached certificates that expire within this number of days or have expired. Longer periods include shorter ones." + known},
			gauge{"certificate_expiry_days", "account", "Days until the first attached certificate expires, negative if one has expired. Not exported while no certificate is attached." + known},
			gauge{"certificates_age_seconds", "account", "Time since the account's certificates were last listed, or -1 if that is not possible. Not exported while no certificate is attached."}),
		scrape(g.distributionCertificates,
			gauge{"distribution_certificate_expiry_days", "namespace name type", "Days until the certificate of a Distribution expires, which its tenants without their own inherit, negative if it has expired. The label type is that of status.certificate: Managed, Issued, Imported or Private. Not exported while the expiry is not known, for a certificate that is not in ACM, and beyond the first 1,000 to expire." + active}),
	}
}

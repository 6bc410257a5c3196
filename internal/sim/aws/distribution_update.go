package aws

import (
	"net/http"
	"time"
)

// updateDistribution replaces the whole configuration; nothing is merged.
func (s *Sim) updateDistribution(c *call) (reply, error) {
	r, err := s.distributionForWrite(c)
	if err != nil {
		return reply{}, err
	}
	root, err := c.root("DistributionConfig")
	if err != nil {
		return reply{}, err
	}
	if err := s.fits(root, distributionShape, "distributionConfig"); err != nil {
		return reply{}, err
	}
	before := r.current()
	if got := root.str("CallerReference"); got != before.reference() {
		return reply{}, illegalUpdate("You cannot update Origin or CallerReference.")
	}
	if got := connectionMode(root); got != before.mode {
		return reply{}, illegalUpdate("The connection mode of a distribution cannot be changed from %s to %s.", before.mode, got)
	}
	next, err := s.readDistribution(c, root)
	if err != nil {
		return reply{}, err
	}
	if s.switches.UpdateNeedsWhole {
		if err := checkWhole(root, before.mode); err != nil {
			return reply{}, err
		}
	}
	if err := s.switches.Allowed.doubtLogging(before, root); err != nil {
		return reply{}, err
	}
	holder := domainHolder{kind: kindDistribution, account: c.acct.id, id: r.id}
	if err := s.world.domainsFree(next.aliases, holder); err != nil {
		return reply{}, err
	}
	if s.switches.DefinitionsBindTenants {
		if err := c.acct.definitionsKept(r.id, next.params); err != nil {
			return reply{}, err
		}
	}
	s.replaceDistribution(c.acct, r, next, c.now)
	return s.distributionReply(http.StatusOK, seen[distribution]{record: r, value: next, at: c.now}), nil
}

// neededForUpdate are the members that a create can do without and an update
// can't, though the model of the API calls them optional. Those that a
// multi-tenant distribution can't have stand apart.
var (
	neededForUpdate         = []string{"DefaultRootObject", "CacheBehaviors", "CustomErrorResponses", "ViewerCertificate", "Restrictions", "WebACLId", "HttpVersion"}
	neededForUpdateStandard = []string{"Aliases", "Logging", "PriceClass"}
	neededInBehavior        = []string{"AllowedMethods", "Compress", "LambdaFunctionAssociations", "FieldLevelEncryptionId"}
	neededInCustomOrigin    = []string{"OriginReadTimeout", "OriginKeepaliveTimeout"}
)

// checkWhole wants in an update whatever a read answers with.
func checkWhole(config *node, mode string) error {
	if err := needed(config, neededForUpdate); err != nil {
		return err
	}
	if mode == modeDirect {
		if err := needed(config, neededForUpdateStandard); err != nil {
			return err
		}
	}
	for _, b := range behaviors(config) {
		names := neededInBehavior
		if mode == modeDirect {
			names = append([]string{"SmoothStreaming"}, names...)
		}
		if err := needed(b, names); err != nil {
			return err
		}
	}
	for _, origin := range origins(config) {
		if custom := origin.child("CustomOriginConfig"); custom != nil {
			if err := needed(custom, neededInCustomOrigin); err != nil {
				return err
			}
		}
	}
	for _, r := range config.at("CustomErrorResponses", "Items").items("CustomErrorResponse") {
		if r.child("ResponseCode") == nil || r.child("ResponsePagePath") == nil {
			return illegalUpdate("The specified list of custom error responses does not exist or is not valid.")
		}
	}
	return nil
}

func needed(n *node, names []string) error {
	for _, name := range names {
		if n.child(name) == nil {
			return illegalUpdate("%s is required for updates.", name)
		}
	}
	return nil
}

// definitionsKept refuses definitions that the parameters of the tenants there
// are do not go with.
func (a *account) definitionsKept(id string, defs []paramDef) error {
	for _, r := range a.tenants.live {
		t := r.current()
		if t.distributionID != id {
			continue
		}
		if err := checkParams(t.params, defs); err != nil {
			return illegalUpdate("The parameters of the distribution tenant %s don't go with the update: %s", r.id, asAPIError(err).Message)
		}
	}
	return nil
}

func (s *Sim) replaceDistribution(a *account, r *record[distribution], next *distribution, now time.Time) {
	before := r.current()
	r.rev++
	next.meta, next.endpoint = s.changed(r.id, r.rev, now), before.endpoint
	r.put(next, now, s.keep())
	s.holdAliases(a, r.id, before.aliases, next.aliases)
}

func (s *Sim) distributionForWrite(c *call) (*record[distribution], error) {
	r := c.acct.distributions.find(c.vars[0])
	if r == nil {
		return nil, noSuchDistribution(c.vars[0])
	}
	return r, s.checkETag(c, r.current().meta, true)
}

// deleteDistribution refuses a distribution that is enabled, or disabled but
// not settled, or that still has tenants.
func (s *Sim) deleteDistribution(c *call) (reply, error) {
	r, err := s.distributionForWrite(c)
	if err != nil {
		return reply{}, err
	}
	d := r.current()
	if d.enabled || d.status(c.now) != statusDeployed {
		return reply{}, conflict("DistributionNotDisabled", "The distribution you are trying to delete has not been disabled: %s.", r.id)
	}
	if c.acct.tenantsOf[r.id] > 0 {
		return reply{}, conflict("ResourceInUse", "The distribution %s has distribution tenants.", r.id)
	}
	s.holdAliases(c.acct, r.id, d.aliases, nil)
	c.acct.distributions.remove(r, c.now, s.keep())
	return reply{status: http.StatusNoContent}, nil
}

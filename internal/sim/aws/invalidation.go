package aws

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// invalidation is one invalidation of a tenant.
type invalidation struct {
	id        string
	reference string
	paths     []string
	created   time.Time
	done      time.Time
}

func (i invalidation) status(now time.Time) string {
	if now.Before(i.done) {
		return "InProgress"
	}
	return "Completed"
}

// createTenantInvalidation invalidates paths of a tenant.
func (s *Sim) createTenantInvalidation(c *call) (reply, error) {
	r := c.acct.tenants.find(c.vars[0])
	if r == nil {
		return reply{}, entityNotFound("distribution tenant", c.vars[0])
	}
	return s.createInvalidation(c, "distribution-tenant/", r.id, s.switches.Allowed.doubtTags)
}

// createDistributionInvalidation invalidates paths of a standard distribution. To it, one that only serves tenants does not exist.
func (s *Sim) createDistributionInvalidation(c *call) (reply, error) {
	r := c.acct.distributions.find(c.vars[0])
	if r == nil || r.current().mode == modeTenantOnly {
		return reply{}, noSuchDistribution(c.vars[0])
	}
	return s.createInvalidation(c, "distribution/", r.id, nil)
}

func (s *Sim) createInvalidation(c *call, kind, id string, doubt func(items []string) error) (reply, error) {
	if c.body == nil {
		return reply{}, refuse(http.StatusBadRequest, "MissingBody", "The InvalidationBatch is missing.")
	}
	root, err := c.root("InvalidationBatch")
	if err != nil {
		return reply{}, err
	}
	paths, err := readPaths(root.child("Paths"))
	if err == nil && doubt != nil {
		err = doubt(paths)
	}
	if err != nil {
		return reply{}, err
	}
	reference := root.str("CallerReference")
	if reference == "" {
		return reply{}, invalidArgument("The parameter CallerReference is required.")
	}
	for _, earlier := range c.acct.invalidations[id] {
		switch {
		case earlier.reference != reference:
		case slices.Equal(earlier.paths, paths):
			return invalidationReply(http.StatusCreated, kind+id, earlier, c.now), nil
		default:
			return reply{}, refuse(http.StatusBadRequest, "InvalidationBatchAlreadyExists",
				"The caller reference %s belongs to an invalidation with other paths.", reference)
		}
	}
	if err := s.checkInvalidationQuota(c, paths); err != nil {
		return reply{}, err
	}
	next := invalidation{
		id:        "I" + s.derive.digits(upperDigits, 13, "invalidation", id, reference),
		reference: reference, paths: paths, created: c.now, done: c.now.Add(s.switches.DeployDelay),
	}
	c.acct.invalidations[id] = append(c.acct.invalidations[id], next)
	return invalidationReply(http.StatusCreated, kind+id, next, c.now), nil
}

// longestPath is what a path may have in characters.
const longestPath = 4_000

// cacheTag is a tag with the # that distinguishes it from a path.
var cacheTag = regexp.MustCompile(`^#[!-~]{1,256}$`)

func isTag(item string) bool { return strings.HasPrefix(item, "#") }

// checkPath refuses what no path and no tag can be.
func checkPath(path string) error {
	switch {
	case isTag(path) && cacheTag.MatchString(path) && !strings.ContainsAny(path, ",*"):
		return nil
	case isTag(path):
		return invalidArgument("A cache tag must have 1 to 256 visible ASCII characters without commas and wildcards, got %q.", path)
	case !strings.HasPrefix(path, "/"):
		return invalidArgument("An invalidation path must begin with a slash, got %q.", path)
	case len(path) > longestPath:
		return invalidArgument("An invalidation path can have %d characters, got %d.", longestPath, len(path))
	case strings.Contains(strings.TrimSuffix(path, "*"), "*"):
		return invalidArgument("An invalidation path can have a star only at its end, got %q.", path)
	}
	return nil
}

func readPaths(block *node) ([]string, error) {
	if block == nil {
		return nil, invalidArgument("The parameter Paths is required.")
	}
	if err := checkQuantity(block); err != nil {
		return nil, err
	}
	var paths []string
	for _, item := range block.child("Items").items("Path", "member") {
		if err := checkPath(item.text); err != nil {
			return nil, err
		}
		paths = append(paths, item.text)
	}
	if len(paths) == 0 {
		return nil, invalidArgument("An invalidation needs at least one path.")
	}
	slices.Sort(paths)
	return paths, nil
}

// checkInvalidationQuota counts what is in progress in the account.
func (s *Sim) checkInvalidationQuota(c *call, paths []string) error {
	if len(paths) > s.quotas.InvalidationPaths {
		return refuse(http.StatusRequestEntityTooLarge, "BatchTooLarge", "An invalidation can have %d paths, got %d.", s.quotas.InvalidationPaths, len(paths))
	}
	total, wildcards := len(paths), countWildcards(paths)
	for _, list := range c.acct.invalidations {
		for _, i := range list {
			if c.now.Before(i.done) {
				total += len(i.paths)
				wildcards += countWildcards(i.paths)
			}
		}
	}
	if total > s.quotas.InvalidationPaths || wildcards > s.quotas.WildcardInvalidations {
		return refuse(http.StatusBadRequest, "TooManyInvalidationsInProgress",
			"The account can have %d paths and %d wildcard paths in progress.", s.quotas.InvalidationPaths, s.quotas.WildcardInvalidations)
	}
	return nil
}

func countWildcards(paths []string) int {
	count := 0
	for _, p := range paths {
		if strings.HasSuffix(p, "*") {
			count++
		}
	}
	return count
}

func (s *Sim) getInvalidation(c *call) (reply, error) {
	v, err := s.seeTenant(c, c.vars[0])
	if err != nil {
		return reply{}, err
	}
	for _, i := range c.acct.invalidations[v.id] {
		if i.id == c.vars[1] {
			return invalidationReply(http.StatusOK, "distribution-tenant/"+v.id, i, c.now), nil
		}
	}
	return reply{}, refuse(http.StatusNotFound, "NoSuchInvalidation", "The specified invalidation does not exist: %s.", c.vars[1])
}

func invalidationReply(status int, of string, i invalidation, now time.Time) reply {
	items := el("Items")
	for _, p := range i.paths {
		items.kids = append(items.kids, txt("Path", p))
	}
	body := el("Invalidation",
		txt("Id", i.id),
		txt("Status", i.status(now)),
		txt("CreateTime", stamp(i.created)),
		el("InvalidationBatch",
			el("Paths", intEl("Quantity", len(i.paths)), items),
			txt("CallerReference", i.reference)))
	return reply{
		status:   status,
		body:     body,
		location: "https://cloudfront.amazonaws.com" + cloudFrontVersion + of + "/invalidation/" + i.id,
	}
}

// listInvalidations lists the newest first.
func (s *Sim) listInvalidations(c *call) (reply, error) {
	v, err := s.seeTenant(c, c.vars[0])
	if err != nil {
		return reply{}, err
	}
	marker, size, err := s.queryPage(c)
	if err != nil {
		return reply{}, err
	}
	before, err := openMarker(marker)
	if err != nil {
		return reply{}, err
	}
	all := c.acct.invalidations[v.id]
	end := len(all)
	if marker != "" && before < uint64(len(all)) {
		end = int(before)
	}
	start := max(0, end-size)
	items := el("Items")
	for _, i := range slices.Backward(all[start:end]) {
		items.kids = append(items.kids, el("InvalidationSummary",
			txt("Id", i.id), txt("CreateTime", stamp(i.created)), txt("Status", i.status(c.now))))
	}
	next := ""
	if start > 0 {
		next = sealMarker(uint64(start))
	}
	body := el("InvalidationList",
		txt("Marker", marker),
		opt("NextMarker", next),
		intEl("MaxItems", size),
		boolEl("IsTruncated", next != ""),
		intEl("Quantity", len(items.kids)),
		items)
	return reply{status: http.StatusOK, body: body}, nil
}

// InvalidationState is an invalidation of a tenant, or of a standard distribution.
type InvalidationState struct {
	ID string `json:"id"`
	// Of is the ID of the tenant or distribution.
	Of              string    `json:"of"`
	CallerReference string    `json:"callerReference"`
	Paths           []string  `json:"paths"`
	Status          string    `json:"status"`
	CreatedTime     time.Time `json:"createdTime"`
}

// Invalidations returns the invalidations of an account, those of one resource in order of creation; no account means the
// default one.
func (s *Sim) Invalidations(accountID string) []InvalidationState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accountNamed(accountID).invalidationStates(s.now())
}

func (a *account) invalidationStates(now time.Time) []InvalidationState {
	var out []InvalidationState
	for _, id := range slices.Sorted(maps.Keys(a.invalidations)) {
		for _, i := range a.invalidations[id] {
			out = append(out, InvalidationState{
				ID: i.id, Of: id, CallerReference: i.reference, Paths: slices.Clone(i.paths), Status: i.status(now), CreatedTime: i.created,
			})
		}
	}
	return out
}

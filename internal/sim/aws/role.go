package aws

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// role is an IAM role that can be assumed.
type role struct {
	arn        string
	account    string
	externalID string // demanded if not empty
	denied     bool
	tagSession bool           // trusts callers that bring session tags
	sessions   map[string]int // handed out, by session name
}

// session is what temporary credentials stand for.
type session struct {
	role    *role
	name    string
	token   string
	expires time.Time
	// tagged sessions hand their tags on to every role that is assumed with them.
	tagged bool
}

var (
	roleArn     = regexp.MustCompile(`^arn:aws[a-z-]*:iam::([0-9]{12}):role/[\w+=,.@/-]{1,576}$`)
	sessionName = regexp.MustCompile(`^[\w+=,.@-]{2,64}$`)
	externalID  = regexp.MustCompile(`^[\w+=,.@:/-]+$`)
)

const (
	minSession     = 900
	maxSession     = 43200
	maxChained     = 3600
	defaultSession = 3600

	minExternalID = 2
	maxExternalID = 1224
)

func plausibleExternalID(id string) bool {
	return len(id) >= minExternalID && len(id) <= maxExternalID && externalID.MatchString(id)
}

// name is the role's own name, without its path.
func (r *role) name() string { return arnID(r.arn) }

// userID is the unique id of a session.
func (x *session) userID() string {
	return "AROASIMULATED" + strings.ToUpper(x.role.name()) + ":" + x.name
}

// arn is what IAM shows for a caller with temporary credentials.
func (x *session) arn() string {
	return "arn:aws:sts::" + x.role.account + ":assumed-role/" + x.role.name() + "/" + x.name
}

// caller is the ARN of the identity that makes a call.
func (c *call) caller() string {
	if c.session != nil {
		return c.session.arn()
	}
	return "arn:aws:iam::" + c.acct.id + ":user/simulated"
}

// assumeRole hands out temporary credentials for a role of any account.
func (s *Sim) assumeRole(c *call) (reply, error) {
	arn, name, external := c.param("RoleArn"), c.param("RoleSessionName"), c.param("ExternalId")
	c.about(arn, name)
	c.externalID = external
	lifetime, err := c.readAssumeRole(arn, name, external)
	if err != nil {
		return reply{}, err
	}
	// A caller without access gets the same answer for a role that does not exist, one that does not trust the caller,
	// and a wrong external id.
	r := s.world.roles[arn]
	if r == nil || r.denied || (r.externalID != "" && r.externalID != external) {
		return reply{}, refuse(http.StatusForbidden, "AccessDenied",
			"User: %s is not authorized to perform: sts:AssumeRole on resource: %s", c.caller(), arn)
	}
	inherits := c.session != nil && c.session.tagged
	if (inherits || c.param("Tags.member.1.Key") != "") && !r.tagSession {
		return reply{}, refuse(http.StatusForbidden, "AccessDenied",
			"User: %s is not authorized to perform: sts:TagSession on resource: %s", c.caller(), arn)
	}
	r.sessions[name]++
	facts := []string{"session", arn, name, strconv.Itoa(r.sessions[name])}
	key := "ASIA" + s.derive.digits(upperDigits, 16, facts...)
	issued := &session{
		role: r, name: name, token: s.derive.hex(64, append(facts, "token")...), expires: c.now.Add(lifetime),
		tagged: inherits || c.param("TransitiveTagKeys.member.1") != "",
	}
	s.world.sessions[key] = issued
	return reply{status: http.StatusOK, body: el("AssumeRoleResult",
		el("Credentials",
			txt("AccessKeyId", key),
			txt("SecretAccessKey", s.derive.hex(40, append(facts, "secret")...)),
			txt("SessionToken", issued.token),
			txt("Expiration", stamp(issued.expires))),
		el("AssumedRoleUser", txt("Arn", issued.arn()), txt("AssumedRoleId", issued.userID())),
		intEl("PackedPolicySize", 0),
	)}, nil
}

// readAssumeRole checks what the request itself shows, and reads how long the
// credentials are to live.
func (c *call) readAssumeRole(arn, name, external string) (time.Duration, error) {
	switch {
	case !roleArn.MatchString(arn):
		return 0, stsInvalid(arn, "roleArn", "be the ARN of a role such as arn:aws:iam::111122223333:role/name")
	case !sessionName.MatchString(name):
		return 0, stsInvalid(name, "roleSessionName", `have 2 to 64 characters that match [\w+=,.@-]*`)
	case c.query["ExternalId"] != nil && !plausibleExternalID(external):
		return 0, stsInvalid(external, "externalId", `have 2 to 1224 characters that match [\w+=,.@:\/-]*`)
	}
	text := c.param("DurationSeconds")
	if text == "" {
		return defaultSession * time.Second, nil
	}
	seconds, err := strconv.Atoi(text)
	if err != nil || seconds < minSession || seconds > maxSession {
		return 0, stsInvalid(text, "durationSeconds", "be a number from 900 to 43200")
	}
	if c.session != nil && seconds > maxChained {
		return 0, refuse(http.StatusBadRequest, "ValidationError",
			"The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining")
	}
	return time.Duration(seconds) * time.Second, nil
}

func stsInvalid(value, field, constraint string) error {
	return refuse(http.StatusBadRequest, "ValidationError",
		"1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: Member must %s", value, field, constraint)
}

// authenticate finds the caller. Temporary credentials are good with
// the token that came with them, until they expire; any other key is taken for
// one that does not expire.
func (s *Sim) authenticate(c *call, who credential) error {
	x := s.world.sessions[who.key]
	if x == nil {
		c.acct = s.accountOf(who.key)
		return nil
	}
	c.acct, c.session = s.account(x.role.account), x
	switch {
	case who.token != x.token:
		return refuse(http.StatusForbidden, "InvalidClientTokenId", "The security token included in the request is invalid.")
	case !c.now.Before(x.expires):
		return expiredToken(c.svc)
	}
	return nil
}

// expiredToken is spelled in two ways: the services that speak JSON have their
// own suffix and status.
func expiredToken(svc service) error {
	const message = "The security token included in the request is expired"
	switch svc.(type) {
	case acm, dynamoDB:
		return refuse(http.StatusBadRequest, "ExpiredTokenException", message)
	}
	return refuse(http.StatusForbidden, "ExpiredToken", message)
}

// credential is the signer of a request, as the request names it.
type credential struct {
	key, token string
}

// credentialOf takes it out of the headers. The signature is not verified and
// the region in the scope is not looked at: with a custom endpoint SDKs sign for
// whatever region they are configured with.
func credentialOf(r *http.Request) credential {
	who := credential{token: r.Header.Get("X-Amz-Security-Token")}
	if _, rest, found := strings.Cut(r.Header.Get("Authorization"), "Credential="); found {
		who.key, _, _ = strings.Cut(rest, "/")
	}
	return who
}

package child

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// logIn gives a query that logs in with AWS IAM its connection string. The child gets no credentials, only a token for one
// server and one user.
func (r *Rows) logIn(ctx context.Context, q *mapping.Query) error {
	if q.Login == nil {
		return nil
	}
	token, err := r.options.Tokens.Token(ctx, *q.Login, q.Namespace)
	if err != nil {
		return fmt.Errorf("logging in as %s: %w", q.Login, err)
	}
	q.Connection = q.Login.Connection(r.provider, token)
	return nil
}

// refusedLogin are the codes with which PostgreSQL, MySQL and Redis turn a user away.
var refusedLogin = regexp.MustCompile(`^(28...|1045|1698|WRONGPASS|NOAUTH)$`)

// checks are what to check where a server does not take a token. Each ends with the rights of the identity.
var checks = map[mapping.Provider]string{
	mapping.Postgres: "that IAM authentication is on for the server, that the user has the role rds_iam (GRANT rds_iam TO ...), and that %s allows rds-db:connect",
	mapping.MySQL: "that IAM authentication is on for the server, that the user is IDENTIFIED WITH AWSAuthenticationPlugin AS 'RDS', and that %s " +
		"allows rds-db:connect",
	mapping.Redis: "that the user is in the user group of the cache, has the authentication mode IAM and its user ID as its name, that cacheName is the ID of " +
		"the replication group, and that %s allows elasticache:Connect on both",
}

// explain says what to check where a server refuses a token, for which it has no more words than for a wrong password.
func (r *Rows) explain(l *mapping.Login, err error) error {
	failure, ok := errors.AsType[*fault.Error](err)
	if l == nil || !ok || !refusedLogin.MatchString(failure.Code) {
		return err
	}
	identity := "the policy of the operator's identity"
	if l.AssumeRoleARN != "" {
		identity = "the policy of the role " + l.AssumeRoleARN
	}
	explained := *failure
	explained.Message = fmt.Sprintf("%s: the server does not accept the IAM token of %s: check the region, "+checks[r.provider], l.Host, l.User, identity)
	return &explained
}

// Package access asks the API server which user sends a request, and whether the user may do so. It does for the
// metrics endpoint what the filter of controller-runtime does, without linking the API server's own libraries, which
// make the operator half as large again.
package access

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	// timeout bounds the two questions to the API server.
	timeout = 10 * time.Second
	// An answer is used this long, so that a revoked token is refused after a minute, and a new role works after seconds.
	allowedFor, refusedFor = time.Minute, 10 * time.Second
	// answers is how many are kept. Clients with wrong tokens can only displace others.
	answers = 1024
)

// Filter only lets requests through whose bearer token the API server knows, and whose user may do this with the path.
// Others get 401 or 403, and 500 if the API server does not answer.
func Filter(config *rest.Config, h *http.Client) (metricsserver.Filter, error) {
	return filter(config, h, clock.RealClock{})
}

func filter(config *rest.Config, h *http.Client, clk cache.Clock) (metricsserver.Filter, error) {
	authentication, err := authenticationclient.NewForConfigAndClient(config, h)
	if err != nil {
		return nil, fmt.Errorf("creating a client for token reviews: %w", err)
	}
	authorization, err := authorizationclient.NewForConfigAndClient(config, h)
	if err != nil {
		return nil, fmt.Errorf("creating a client for access reviews: %w", err)
	}
	g := &guard{tokens: authentication.TokenReviews(), access: authorization.SubjectAccessReviews(), answers: cache.NewLRUExpireCacheWithClock(answers, clk)}
	return func(log logr.Logger, next http.Handler) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			status, err := g.ask(r)
			switch {
			case err != nil:
				log.Error(err, "Checking a request failed", "path", r.URL.Path)
				http.Error(w, "The API server could not be asked whether you may do this.", status)
			case status != http.StatusOK:
				http.Error(w, http.StatusText(status), status)
			default:
				next.ServeHTTP(w, r)
			}
		}), nil
	}, nil
}

type guard struct {
	tokens  authenticationclient.TokenReviewInterface
	access  authorizationclient.SubjectAccessReviewInterface
	answers *cache.LRUExpireCache
}

// question is what a client asks for.
type question struct{ token, verb, path string }

// key is what the answer is kept under: a hash, because a token is a secret, and a path can be long.
func (q question) key() [sha256.Size]byte { return sha256.Sum256(fmt.Appendf(nil, "%q", q)) }

// ask returns the status of a request: 200 if it may pass. Errors are not kept.
func (g *guard) ask(r *http.Request) (int, error) {
	token, found := bearerToken(r)
	if !found {
		return http.StatusUnauthorized, nil
	}
	q := question{token: token, verb: strings.ToLower(r.Method), path: r.URL.Path}
	if known, found := g.answers.Get(q.key()); found {
		if status, ok := known.(int); ok {
			return status, nil
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	status, err := g.review(ctx, q)
	if err != nil {
		return http.StatusInternalServerError, err
	}
	ttl := refusedFor
	if status == http.StatusOK {
		ttl = allowedFor
	}
	g.answers.Add(q.key(), status, ttl)
	return status, nil
}

func bearerToken(r *http.Request) (string, bool) {
	scheme, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	token = strings.TrimSpace(token)
	return token, strings.EqualFold(scheme, "Bearer") && token != ""
}

func (g *guard) review(ctx context.Context, q question) (int, error) {
	who, err := g.tokens.Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: q.token}}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("asking the API server for the user of a token: %w", err)
	}
	if !who.Status.Authenticated {
		return http.StatusUnauthorized, nil
	}
	may, err := g.access.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: specOf(who.Status.User, q)}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("asking the API server whether %s may %s %s: %w", who.Status.User.Username, q.verb, q.path, err)
	}
	if !may.Status.Allowed || may.Status.Denied {
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}

func specOf(user authenticationv1.UserInfo, q question) authorizationv1.SubjectAccessReviewSpec {
	extra := make(map[string]authorizationv1.ExtraValue, len(user.Extra))
	for key, values := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	return authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: q.path, Verb: q.verb},
	}
}

package access_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/access"
)

// apiServer answers reviews. It knows the tokens "scraper" and "stranger", and lets the scraper get /metrics.
type apiServer struct {
	t      *testing.T
	away   bool
	tokens map[string]string
	asked  []string
	spec   authorizationv1.SubjectAccessReviewSpec
}

func (a *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if a.away {
		http.Error(w, "no", http.StatusInternalServerError)
		return
	}
	var answer any
	if strings.HasSuffix(r.URL.Path, "/tokenreviews") {
		answer = a.review(r)
	} else {
		answer = a.allow(r)
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		a.t.Error(err)
	}
}

func (a *apiServer) review(r *http.Request) any {
	var review authenticationv1.TokenReview
	a.decode(r, &review)
	a.asked = append(a.asked, "who is "+review.Spec.Token)
	user, known := a.tokens[review.Spec.Token]
	review.Status = authenticationv1.TokenReviewStatus{Authenticated: known, User: authenticationv1.UserInfo{
		Username: user, UID: "1", Groups: []string{"system:authenticated"}, Extra: map[string]authenticationv1.ExtraValue{"pod": {"prometheus"}},
	}}
	if !known {
		review.Status = authenticationv1.TokenReviewStatus{Error: "invalid bearer token"}
	}
	return review
}

func (a *apiServer) allow(r *http.Request) any {
	var review authorizationv1.SubjectAccessReview
	a.decode(r, &review)
	a.spec = review.Spec
	about := review.Spec.NonResourceAttributes
	a.asked = append(a.asked, "may "+review.Spec.User+" "+about.Verb+" "+about.Path)
	review.Status.Allowed = review.Spec.User == "scraper" && about.Verb == "get" && about.Path == "/metrics"
	return review
}

func (a *apiServer) decode(r *http.Request, into any) {
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		a.t.Error(err)
	}
}

// world is a filter in front of metrics, and the API server that it asks.
type world struct {
	api     *apiServer
	clock   *clocktesting.FakeClock
	metrics http.Handler
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{api: &apiServer{t: t, tokens: map[string]string{"s": "scraper", "x": "stranger"}}, clock: clocktesting.NewFakeClock(time.Unix(0, 0))}
	server := httptest.NewServer(w.api)
	t.Cleanup(server.Close)
	filter, err := access.FilterWithClock(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}, server.Client(), w.clock)
	if err != nil {
		t.Fatal(err)
	}
	w.metrics, err = filter(logr.Discard(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) get(authorization, method, path string) int {
	r := httptest.NewRequestWithContext(context.Background(), method, path, http.NoBody)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	answer := httptest.NewRecorder()
	w.metrics.ServeHTTP(answer, r)
	return answer.Code
}

func TestFilter(t *testing.T) {
	t.Parallel()
	who, may := "who is s", "may scraper get /metrics"
	for what, tt := range map[string]struct {
		authorization, method, path string
		away                        bool
		want                        int
		asked                       []string
	}{
		"a scraper with the right may pass":                {authorization: "Bearer s", want: http.StatusOK, asked: []string{who, may}},
		"the name of the scheme has no case":               {authorization: "bearer  s", want: http.StatusOK, asked: []string{who, may}},
		"without a token the API server is not asked":      {want: http.StatusUnauthorized},
		"an empty token is none":                           {authorization: "Bearer ", want: http.StatusUnauthorized},
		"a password is no token":                           {authorization: "Basic czpz", want: http.StatusUnauthorized},
		"a wrong or expired token has no user":             {authorization: "Bearer old", want: http.StatusUnauthorized, asked: []string{"who is old"}},
		"a user without the right is refused":              {authorization: "Bearer x", want: http.StatusForbidden, asked: []string{"who is x", "may stranger get /metrics"}},
		"the right is for one verb":                        {authorization: "Bearer s", method: http.MethodPost, want: http.StatusForbidden, asked: []string{who, "may scraper post /metrics"}},
		"the right is for one path":                        {authorization: "Bearer s", path: "/debug", want: http.StatusForbidden, asked: []string{who, "may scraper get /debug"}},
		"while the API server is away it is not known who": {authorization: "Bearer s", away: true, want: http.StatusInternalServerError},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.api.away = tt.away
			if got := w.get(tt.authorization, or(tt.method, http.MethodGet), or(tt.path, "/metrics")); got != tt.want {
				t.Errorf("status %d, want %d", got, tt.want)
			}
			if diff := cmp.Diff(tt.asked, w.api.asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}

func or(given, usual string) string {
	if given == "" {
		return usual
	}
	return given
}

// Authorizers decide by all that is known of a user.
func TestAllOfTheUserIsAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.get("Bearer s", http.MethodGet, "/metrics")
	want := authorizationv1.SubjectAccessReviewSpec{
		User: "scraper", UID: "1", Groups: []string{"system:authenticated"}, Extra: map[string]authorizationv1.ExtraValue{"pod": {"prometheus"}},
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"},
	}
	if diff := cmp.Diff(want, w.api.spec); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

// A user who is allowed may scrape for a minute without a question. One who is not can be given the right, and waits for
// ten seconds at most. After a failure the question is asked at once.
func TestAnswersAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	step := func(what string, after time.Duration, token string, want, asked int) {
		t.Helper()
		w.clock.Step(after)
		w.api.asked = nil
		if got := w.get("Bearer "+token, http.MethodGet, "/metrics"); got != want || len(w.api.asked) != asked {
			t.Errorf("%s: status %d after %q, want %d after %d questions", what, got, w.api.asked, want, asked)
		}
	}
	step("the first scrape", 0, "s", http.StatusOK, 2)
	delete(w.api.tokens, "s")
	step("within a minute", 59*time.Second, "s", http.StatusOK, 0)
	step("another token", 0, "x", http.StatusForbidden, 2)
	step("a revoked token after a minute", 2*time.Second, "s", http.StatusUnauthorized, 1)
	w.api.tokens["s"] = "scraper"
	step("a refusal within ten seconds", 9*time.Second, "s", http.StatusUnauthorized, 0)
	w.api.away = true
	step("the API server is away", 2*time.Second, "s", http.StatusInternalServerError, 0)
	w.api.away = false
	step("it is back", 0, "s", http.StatusOK, 2)
}

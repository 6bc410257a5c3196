//go:build linux

package node_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

const (
	audience = "sts.amazonaws.com"
	roleARN  = "arn:aws:iam::111122223333:role/operator"
	// lifetime is that of a session, far below what AWS grants.
	lifetime = 10 * time.Second
)

// webIdentity answers AssumeRoleWithWebIdentity: the API server verifies the token, and the simulated STS opens the session.
type webIdentity struct {
	w    *world
	late atomic.Int64

	mu sync.Mutex
	// ends are the ends of the sessions, by their access keys.
	ends map[string]time.Time
}

// see counts a call with credentials that have expired; clocks are shown in seconds.
func (i *webIdentity) see(authorization string) {
	_, key, _ := strings.Cut(authorization, "Credential=")
	key, _, _ = strings.Cut(key, "/")
	i.mu.Lock()
	defer i.mu.Unlock()
	if end, ok := i.ends[key]; ok && time.Now().After(end.Add(time.Second)) {
		i.late.Add(1)
	}
}

// sessions is how many there were.
func (i *webIdentity) sessions() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.ends)
}

func (i *webIdentity) serve(ctx context.Context, w http.ResponseWriter, form url.Values) {
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: form.Get("WebIdentityToken"), Audiences: []string{audience}}}
	err := i.w.kube.Create(ctx, review)
	if err != nil || review.Status.User.Username != "system:serviceaccount:"+install.Namespace+":"+install.Release {
		http.Error(w, fmt.Sprintf("<ErrorResponse><Error><Code>InvalidIdentityToken</Code><Message>%v %s</Message></Error></ErrorResponse>", err, review.Status.Error), http.StatusBadRequest)
		return
	}
	form.Set("Action", "AssumeRole")
	form.Del("WebIdentityToken")
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(form.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer := httptest.NewRecorder()
	i.w.aws.ServeHTTP(answer, request)
	expires := time.Now().Add(lifetime)
	text := regexp.MustCompile(`AssumeRoleRes`).ReplaceAllString(answer.Body.String(), "AssumeRoleWithWebIdentityRes")
	text = regexp.MustCompile(`<Expiration>[^<]*`).ReplaceAllString(text, "<Expiration>"+expires.UTC().Format(time.RFC3339))
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(answer.Code)
	_, _ = w.Write([]byte(text))
	if found := regexp.MustCompile(`<AccessKeyId>([^<]*)`).FindStringSubmatch(text); found != nil {
		i.mu.Lock()
		i.ends[found[1]] = expires
		i.mu.Unlock()
	}
}

// projectedToken has AWS know the operator by the token that the kubelet projects into its Pods, and nothing else.
func (w *world) projectedToken() {
	identity := &webIdentity{w: w, ends: map[string]time.Time{}}
	w.aws.identity.Store(identity)
	env := []string{
		"AWS_ENDPOINT_URL=http://" + awsAddress, "AWS_ENDPOINT_URL_STS=http://" + awsAddress, "AWS_REGION=us-east-1",
		"AWS_ROLE_ARN=" + roleARN, "AWS_WEB_IDENTITY_TOKEN_FILE=/var/run/secrets/aws/token",
	}
	const source = "extraVolumes[0].projected.sources[0].serviceAccountToken."
	w.helmWith(env, secondTag, "extraVolumes[0].name=aws-token", source+"audience="+audience, source+"path=token",
		"extraVolumeMounts[0].name=aws-token", "extraVolumeMounts[0].mountPath=/var/run/secrets/aws")
	w.twoReady()
	since := w.aws.now()
	w.ready("token", 5)
	first := identity.sessions()
	w.wait(lifetime)
	w.ready("token-renewed", 5)
	if identity.sessions() == first {
		w.t.Errorf("after %d sessions, none was renewed", first)
	}
	strangers := 0
	for _, one := range w.aws.writes(since) {
		if !strings.HasPrefix(one.Caller, "arn:aws:sts::111122223333:assumed-role/operator/") {
			strangers++
		}
	}
	w.add("projected token: sessions", fmt.Sprint(identity.sessions()), "at least 2")
	w.exactly(w.t, "writes with other credentials", strangers, 0)
	w.exactly(w.t, "calls with expired credentials", int(identity.late.Load()), 0)
}

// ready creates tenants, and waits until they are Ready.
func (w *world) ready(name string, size int) {
	w.t.Helper()
	w.namespace(name)
	fleet, err := stack.NewFleet(w.t.Context(), w.kube, name, name+"-", size)
	w.must(err)
	defer fleet.Close()
	w.must(fleet.Create(w.t.Context()))
	w.must(fleet.WaitReady(w.t.Context()))
}

package rights

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
)

const (
	// timeout bounds the check. An API server that refuses or delays the question must not keep an operator from its
	// work.
	timeout = 10 * time.Second
	// atOnce is how many questions are open at a time.
	atOnce = 16
)

// Check fails when the operator could not work, and names all that is missing at once:
// otherwise the first refusal would be found in a log, then the next.
func Check(ctx context.Context, c config.Config, kubeconfig *rest.Config) error {
	kubeconfig = rest.CopyConfig(kubeconfig)
	kubeconfig.QPS = -1 // the few questions are asked once
	kube, err := kubernetes.NewForConfig(kubeconfig)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	required, optional, err := missing(ctx, Needed(c), func(ctx context.Context, a *authorizationv1.ResourceAttributes) (bool, error) {
		review, err := kube.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx,
			&authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: a}}, metav1.CreateOptions{})
		if err != nil {
			return false, err
		}
		return review.Status.Allowed, nil
	})
	log := ctrl.Log.WithName("operator")
	if err != nil {
		log.Error(err, "Could not check whether the operator has all permissions. Continuing as if it had")
	}
	if len(optional) > 0 {
		log.Error(errors.New(lack(Self(ctx, kube), optional)), "The operator is missing optional permissions")
	}
	if len(required) > 0 {
		return errors.New(lack(Self(ctx, kube), required))
	}
	return nil
}

// missing asks for each right whether it is there. A right that could not be asked for is not missing.
//
// A review of all rules (SelfSubjectRulesReview) would be one question per namespace. It
// can't tell a right in all namespaces from one in the namespace asked about, and is
// incomplete by its own word on clusters whose authorizer is a webhook, as on EKS.
func missing(ctx context.Context, rights []Right, allowed func(context.Context, *authorizationv1.ResourceAttributes) (bool, error)) (required, optional []Right, err error) {
	verdicts, errs := make([]bool, len(rights)), make([]error, len(rights))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for n, r := range rights {
		group.Go(func() error {
			verdicts[n], errs[n] = allowed(ctx, r.attributes())
			return nil
		})
	}
	_ = group.Wait() // every answer counts, and is in the lists
	for n, r := range rights {
		switch {
		case errs[n] != nil:
			err = fmt.Errorf("checking the permission to %s: %w", r, errs[n])
		case verdicts[n]:
		case r.Optional:
			optional = append(optional, r)
		default:
			required = append(required, r)
		}
	}
	return required, optional, err
}

// Self is who we are to the API server.
func Self(ctx context.Context, kube kubernetes.Interface) string {
	review, err := kube.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "the operator"
	}
	return review.Status.UserInfo.Username
}

// lack says which rights are missing, what they are for, and how to get them.
func lack(who string, rights []Right) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s is not allowed to:\n", who)
	for _, r := range rights {
		fmt.Fprintf(&text, "- %s, for %s\n", r, r.For)
	}
	text.WriteString("This version's chart grants these permissions: upgrade the release with rbac.create=true. Or grant them manually:")
	for _, place := range places(rights) {
		fmt.Fprintf(&text, "\n%s", place)
	}
	return text.String()
}

// places says for each role that is to be completed which rules it needs.
func places(rights []Right) []string {
	byRole := map[string][]string{}
	var roles []string
	for _, r := range rights {
		role := "in a ClusterRole with a ClusterRoleBinding"
		if r.Namespace != "" {
			role = "in a Role of namespace " + r.Namespace
		}
		if byRole[role] == nil {
			roles = append(roles, role)
		}
		byRole[role] = append(byRole[role], r.rule())
	}
	var out []string
	for _, role := range roles {
		out = append(out, role+":\n"+strings.Join(byRole[role], "\n"))
	}
	return out
}

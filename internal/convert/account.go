package convert

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Recording is what is stored in annotations before something is made or adopted: the annotation, and the AWS account
// unless it is the operator's own. It carries the UID, like AdoptedMark.
func Recording(o metav1.Object, account, annotation, value string) map[string]string {
	out := map[string]string{annotation: value}
	if account != "" {
		out[v1alpha1.AnnotationAccount] = string(o.GetUID()) + "/" + account
	}
	return out
}

// RecordedAccount is the AWS account in which the object has something, by the ARN in its status, or may have by its
// annotation. Empty: none is known.
func RecordedAccount(o metav1.Object, arn string) string {
	if account := resource.AccountOf(arn); account != "" {
		return account
	}
	uid, account, _ := strings.Cut(o.GetAnnotations()[v1alpha1.AnnotationAccount], "/")
	if uid != string(o.GetUID()) {
		return ""
	}
	return account
}

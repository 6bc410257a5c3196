package controlplane

import (
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// crdPatience bounds the wait until the API server serves a new kind. envtest's ten seconds are too few where tests of
// several packages share two processors.
const crdPatience = 5 * time.Minute

// InstallCRDs installs kinds and waits until they are served.
func InstallCRDs(config *rest.Config, o envtest.CRDInstallOptions) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	o.MaxTime = crdPatience
	return envtest.InstallCRDs(config, o)
}

package v1alpha1

// The types of a template have the field names of a DistributionTenant, and differ in what is asked of
// them: nothing is required, nothing has a default, and no rule compares two fields, since a row may
// bring the other. What a default would fill in here would be written over what users set.

// TemplateMetadata is the metadata of every tenant of a source.
//
// +kubebuilder:validation:MinProperties=0
type TemplateMetadata struct {
	// labels are set on the objects, at most 50. Labels of the operator and of Kubernetes are reserved.
	// +kubebuilder:validation:MinProperties=0
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, !k.matches('^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?$') || !self[k].matches('^([a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?)?$'))",messageExpression="'\"' + self.map(k, k).filter(k, !k.matches('^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?$') || !self[k].matches('^([a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?)?$'))[0] + '\" or its value is not valid in a label: use at most 63 letters, digits and inner - _ . and, for a key, an optional prefix of a DNS name and a slash'",message="use valid label keys and values: at most 63 letters, digits and inner - _ . and, for a key, an optional prefix of a DNS name and a slash"
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, k.matches('^([a-z0-9.-]*[.])?(cloudfront-tenant-operator[.]io|kleff[.]io|kubernetes[.]io|k8s[.]io)/'))",messageExpression="'\"' + self.map(k, k).filter(k, k.matches('^([a-z0-9.-]*[.])?(cloudfront-tenant-operator[.]io|kleff[.]io|kubernetes[.]io|k8s[.]io)/'))[0] + '\" has a prefix that is reserved for the operator or for Kubernetes: use another key'",message="prefixes of cloudfront-tenant-operator.io, kleff.io, kubernetes.io and k8s.io are reserved: use another key"
	// +optional
	Labels map[string]TemplateLabelValue `json:"labels,omitempty"`

	// annotations are set on the objects, at most 50. Annotations of the operator and of Kubernetes are reserved.
	// +kubebuilder:validation:MinProperties=0
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, !k.matches('^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?$'))",messageExpression="'\"' + self.map(k, k).filter(k, !k.matches('^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?$'))[0] + '\" is not a valid annotation key: use at most 63 letters, digits and inner - _ . and an optional prefix of a DNS name and a slash'",message="use valid annotation keys: at most 63 letters, digits and inner - _ . with an optional prefix of a DNS name and a slash"
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, k.matches('^([a-z0-9.-]*[.])?(cloudfront-tenant-operator[.]io|kleff[.]io|kubernetes[.]io|k8s[.]io)/'))",messageExpression="'\"' + self.map(k, k).filter(k, k.matches('^([a-z0-9.-]*[.])?(cloudfront-tenant-operator[.]io|kleff[.]io|kubernetes[.]io|k8s[.]io)/'))[0] + '\" has a prefix that is reserved for the operator or for Kubernetes: use another key'",message="prefixes of cloudfront-tenant-operator.io, kleff.io, kubernetes.io and k8s.io are reserved: use another key"
	// +optional
	Annotations map[string]TemplateAnnotationValue `json:"annotations,omitempty"`
}

// TemplateLabelValue is the value of a label.
// +kubebuilder:validation:MinLength=0
// +kubebuilder:validation:MaxLength=63
type TemplateLabelValue string

// TemplateAnnotationValue is the value of an annotation.
// +kubebuilder:validation:MinLength=0
// +kubebuilder:validation:MaxLength=4096
type TemplateAnnotationValue string

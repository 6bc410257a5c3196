package plan

// Floor is what a namespace has that is created while it is not known what its plan gives it. No pod starts in it, and what an
// administrator lets in nevertheless is isolated. The annotation says that the namespace has it, until a plan takes its place.
func Floor() *Plan {
	return &Plan{spec: Spec{
		ResourceQuota:    map[string]any{"hard": map[string]any{"pods": "0"}},
		PodSecurity:      PodSecurity{Enforce: "restricted"},
		NetworkIsolation: IsolationNamespace,
		Annotations:      map[string]string{AnnotationWithoutPlan: "true"},
	}}
}

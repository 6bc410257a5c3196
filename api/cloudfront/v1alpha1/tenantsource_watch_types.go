package v1alpha1

// SourceWatch follows the changes of a table. What a database needs for it is described on its page.
//
// +kubebuilder:validation:MinProperties=0
type SourceWatch struct {
	// channel is the channel of PostgreSQL's LISTEN to which a trigger on the table sends notifications. Only for
	// postgres.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Channel string `json:"channel,omitempty"`

	// query is run every second, such as SELECT id, updated_at FROM customers ORDER BY updated_at DESC LIMIT 100. The
	// table has changed when the result has. It may return up to 1,000 rows. Only for mysql.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16384
	// +optional
	Query string `json:"query,omitempty"`
}

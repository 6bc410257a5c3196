package v1alpha1

// SourceWriteBack is a state table: a table of its own, in the kind of database that the source reads, with a row for each
// tenant. Its definition is printed by kubectl cfdt source ddl. The table that is read is never written.
//
// +kubebuilder:validation:XValidation:rule="self.table.matches('^[A-Za-z0-9_][A-Za-z0-9_./:-]*$')",messageExpression="'\"' + self.table + '\" is not the name of a state table: use letters, digits and _ . / : -'",message="use a name of letters, digits and _ . / : -",fieldPath=".table"
type SourceWriteBack struct {
	// table is the name of the table (with PostgreSQL and MySQL also schema.table), of the collection in
	// spec.mongodb.database, or of the DynamoDB table, or its ARN. With Redis it is the first part of the keys, up to a colon.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +required
	Table string `json:"table,omitempty"`

	// connectionSecretRef names the Secret, in the namespace of this object, whose key connectionString contains the
	// connection string for writing: its user needs rights on the state table alone. The label
	// cloudfront-tenant-operator.io/tenantsource must be the name of this object, or Any. Required without iam, except with
	// DynamoDB.
	// +optional
	ConnectionSecretRef *SecretReference `json:"connectionSecretRef,omitempty"`

	// iam logs in for writing with a token of AWS IAM instead of a password, to RDS, Aurora or ElastiCache: the user needs
	// rights on the state table alone. Not with MongoDB and DynamoDB. Default: connectionSecretRef.
	// +optional
	IAM *IAMLogin `json:"iam,omitempty"`

	// assumeRoleArn is the ARN of an IAM role that the operator assumes to write to DynamoDB, under the conditions of
	// spec.dynamodb.assumeRoleArn. Only with DynamoDB. Default: spec.dynamodb.assumeRoleArn.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=640
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:iam::[0-9]{12}:role/[!-~]+$')",messageExpression="'\"' + self + '\" is not the ARN of an IAM role: use arn:aws:iam::<account>:role/<name>'",message="must be the ARN of an IAM role: arn:aws:iam::<account>:role/<name>"
	// +optional
	AssumeRoleARN string `json:"assumeRoleArn,omitempty"`

	// revisionColumn is a column of the table that is read, such as updated_at or a version. Its value is copied to the
	// column revision of the state table, to show which version of the customer's row the state refers to. Every change of
	// it is a write to the tenant's object. Default: revision is empty.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +optional
	RevisionColumn string `json:"revisionColumn,omitempty"`

	// deleted says what happens to the row of a tenant that was deleted. Keep: it stays, with the state Gone. Remove: it is
	// deleted.
	// +kubebuilder:default=Keep
	// +optional
	Deleted DeletedState `json:"deleted,omitempty"`
}

// DeletedState says what happens to the row of a tenant that was deleted.
// +kubebuilder:validation:Enum=Keep;Remove
type DeletedState string

const (
	// DeletedStateKeep keeps it.
	DeletedStateKeep DeletedState = "Keep"
	// DeletedStateRemove deletes it.
	DeletedStateRemove DeletedState = "Remove"
)

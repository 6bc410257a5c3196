package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TenantSource makes DistributionTenant objects follow a table of customers: a row is a tenant. The table
// is only ever read. A read that fails, or is not complete, changes nothing, and what vanishes from the
// table is deleted under a guard.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=cfts,categories=aws
// +kubebuilder:printcolumn:name="PROVIDER",type=string,JSONPath=`.spec.provider`,description="Kind of database"
// +kubebuilder:printcolumn:name="DISCOVERED",type=integer,JSONPath=`.status.tenantsDiscovered`,description="Tenants that the last complete read found"
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="The table is read, and followed"
// +kubebuilder:printcolumn:name="DRYRUN",type=boolean,JSONPath=`.spec.dryRun`,description="Plans only"
// +kubebuilder:printcolumn:name="LASTPOLL",type=date,JSONPath=`.status.lastPollTime`,description="When the table was last read"
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="REASON",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is ready or not"
// +kubebuilder:printcolumn:name="SYNCED",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Synced")].status`,description="The objects equal the table"
// +kubebuilder:printcolumn:name="REJECTED",type=integer,priority=1,JSONPath=`.status.rejectedRowsTotal`,description="Rows that are no tenant"
// +kubebuilder:printcolumn:name="HELD",type=integer,priority=1,JSONPath=`.status.heldDeletions.count`,description="Deletions that wait for approval"
type TenantSource struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what to read and what to make of it. It belongs to its author: the operator never writes to it.
	// +required
	Spec TenantSourceSpec `json:"spec"`

	// status is what the last poll found and did.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status TenantSourceStatus `json:"status,omitzero"`
}

// TenantSourceList is a list of TenantSource objects.
//
// +kubebuilder:object:root=true
type TenantSourceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// items are the objects.
	Items []TenantSource `json:"items"`
}

// TenantSourceSpec says where the customers are listed and what a row becomes.
//
// +kubebuilder:validation:XValidation:rule="(self.provider == 'dynamodb') == has(self.dynamodb)",messageExpression="'spec.dynamodb and provider dynamodb belong together, and provider is \"' + self.provider + '\": ' + (has(self.dynamodb) ? 'remove spec.dynamodb, or change provider' : 'add spec.dynamodb, or change provider')",message="provider dynamodb needs spec.dynamodb, and no other provider has it: add it, remove it, or change provider",fieldPath=".dynamodb"
// +kubebuilder:validation:XValidation:rule="(self.provider == 'postgres') == has(self.postgres)",messageExpression="'spec.postgres and provider postgres belong together, and provider is \"' + self.provider + '\": ' + (has(self.postgres) ? 'remove spec.postgres, or change provider' : 'add spec.postgres, or change provider')",message="provider postgres needs spec.postgres, and no other provider has it: add it, remove it, or change provider",fieldPath=".postgres"
// +kubebuilder:validation:XValidation:rule="(self.provider == 'mysql') == has(self.mysql)",messageExpression="'spec.mysql and provider mysql belong together, and provider is \"' + self.provider + '\": ' + (has(self.mysql) ? 'remove spec.mysql, or change provider' : 'add spec.mysql, or change provider')",message="provider mysql needs spec.mysql, and no other provider has it: add it, remove it, or change provider",fieldPath=".mysql"
// +kubebuilder:validation:XValidation:rule="(self.provider == 'mongodb') == has(self.mongodb)",messageExpression="'spec.mongodb and provider mongodb belong together, and provider is \"' + self.provider + '\": ' + (has(self.mongodb) ? 'remove spec.mongodb, or change provider' : 'add spec.mongodb, or change provider')",message="provider mongodb needs spec.mongodb, and no other provider has it: add it, remove it, or change provider",fieldPath=".mongodb"
// +kubebuilder:validation:XValidation:rule="(self.provider == 'redis') == has(self.redis)",messageExpression="'spec.redis and provider redis belong together, and provider is \"' + self.provider + '\": ' + (has(self.redis) ? 'remove spec.redis, or change provider' : 'add spec.redis, or change provider')",message="provider redis needs spec.redis, and no other provider has it: add it, remove it, or change provider",fieldPath=".redis"
// +kubebuilder:validation:XValidation:rule="has(self.targetNamespace) == has(oldSelf.targetNamespace) && (!has(self.targetNamespace) || self.targetNamespace == oldSelf.targetNamespace)",messageExpression="'the tenants of a source can not move to another namespace, and targetNamespace was ' + (has(oldSelf.targetNamespace) ? '\"' + oldSelf.targetNamespace + '\"' : 'absent') + ': put that back, or create another source'",message="the tenants of a source can not move to another namespace: put the former value back, or create another source",fieldPath=".targetNamespace"
// +kubebuilder:validation:XValidation:rule="!has(self.mapping) || !has(self.expressions) || self.mapping.all(m, !self.expressions.exists(e, e.field == m.field))",message="a field is filled by a column or by an expression, not by both: remove it from spec.mapping or from spec.expressions",fieldPath=".expressions"
type TenantSourceSpec struct {
	// provider is the kind of database: dynamodb, postgres, mysql (also MariaDB), mongodb or redis. The
	// block of the same name says what to read.
	// +required
	Provider SourceProvider `json:"provider,omitempty"`

	// pollInterval is how often the table is read, 10s to 24h. Absent means 5m.
	// +kubebuilder:default="5m"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(h|m|s|ms))+$') && duration(self) >= duration('10s') && duration(self) <= duration('24h')",messageExpression="'\"' + self + '\" is not a duration of 10s to 24h: write it like 5m or 1h30m'",message="write a duration of 10s to 24h, like 5m or 1h30m"
	// +kubebuilder:validation:Type=string
	// +optional
	PollInterval *metav1.Duration `json:"pollInterval,omitempty"`

	// distributionId is the ID of the multi-tenant distribution of every tenant whose row and template name no
	// other.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Z0-9]+$')",messageExpression="'\"' + self + '\" is not the ID of a distribution, which has capital letters and digits only, like E1A2B3C4D5E6F7: give the ID, not the ARN or the domain name'",message="must be the ID of a distribution: capital letters and digits only"
	// +required
	DistributionID string `json:"distributionId,omitempty"`

	// targetNamespace is where the tenants are. Absent means the namespace of this object; any other has to be
	// granted by the administrator (--tenantsource-target-namespaces). It can't be changed.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",messageExpression="'\"' + self + '\" is not the name of a namespace: use lower-case letters, digits and inner hyphens'",message="must be the name of a namespace: lower-case letters, digits and inner hyphens"
	// +optional
	TargetNamespace string `json:"targetNamespace,omitempty"`

	// dryRun reads the table and writes what would be done into status.pendingChanges, and nothing else.
	// +optional
	DryRun bool `json:"dryRun,omitempty"`

	// suspend stops the reading, and with it every change of the tenants.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// managedCertificateRequest makes every tenant ask for a managed certificate whose row names no certificate of
	// its own and whose template asks for nothing else. Which of the tenant's domains is the primary one is
	// left to AWS.
	// +optional
	ManagedCertificateRequest *SourceCertificateRequest `json:"managedCertificateRequest,omitempty"`

	// dynamodb is a table of Amazon DynamoDB.
	// +optional
	DynamoDB *DynamoDBSource `json:"dynamodb,omitempty"`

	// postgres is a query of a PostgreSQL database.
	// +optional
	Postgres *SQLSource `json:"postgres,omitempty"`

	// mysql is a query of a MySQL or MariaDB database.
	// +optional
	MySQL *SQLSource `json:"mysql,omitempty"`

	// mongodb is a collection of a MongoDB database.
	// +optional
	MongoDB *MongoDBSource `json:"mongodb,omitempty"`

	// redis is a set of keys of a Redis database.
	// +optional
	Redis *RedisSource `json:"redis,omitempty"`

	// template is what every tenant has unless its row says otherwise.
	// +optional
	Template *TenantTemplate `json:"template,omitempty"`

	// mapping fills fields of a tenant from columns, at most 100. Without a mapping or an expression for
	// them, name, domains, enabled and connectionGroupId come from the columns name, domain, enabled and
	// connection_group_id, the last two where they exist; with DynamoDB from the attributes named in
	// spec.dynamodb. A value that is null or empty leaves the field to the template.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=field
	// +optional
	Mapping []FieldMapping `json:"mapping,omitempty"`

	// expressions compute fields of a tenant from the whole row, at most 50. null leaves the field to the template.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=50
	// +listType=map
	// +listMapKey=field
	// +optional
	Expressions []FieldExpression `json:"expressions,omitempty"`

	// deletionPolicy says what becomes of a tenant whose row is gone, or whose TenantSource is deleted. Delete: its
	// object is deleted, and with it what AWS has of it as the object's own deletionPolicy says. Disable: it
	// gets enabled: false and stays. Retain: it stays as it is. Delete and Disable wait for the deletion guard.
	// +kubebuilder:default=Delete
	// +optional
	DeletionPolicy SourceDeletionPolicy `json:"deletionPolicy,omitempty"`

	// deletionGuard says how much may be deleted or disabled without a person's word.
	// +kubebuilder:default={}
	// +optional
	DeletionGuard *DeletionGuard `json:"deletionGuard,omitempty"`
}

// DynamoDBSource is a table of DynamoDB. It is read by scan, to its end.
//
// +kubebuilder:validation:XValidation:rule="has(self.filterExpression) || (!has(self.expressionAttributeNames) && !has(self.expressionAttributeValues))",message="names and values belong to a filter: set filterExpression, or remove expressionAttributeNames and expressionAttributeValues",fieldPath=".filterExpression"
type DynamoDBSource struct {
	// tableName is the name or the ARN of the table.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-zA-Z0-9_.-]{3,255}|arn:aws(-[a-z]+)*:dynamodb:[a-z0-9-]+:[0-9]{12}:table/[a-zA-Z0-9_.-]{3,255})$')",messageExpression="'\"' + self + '\" is neither the name of a table, which has 3 to 255 letters, digits and _ . -, nor the ARN of one'",message="must be the name of a table, 3 to 255 letters, digits and _ . -, or its ARN"
	// +required
	TableName string `json:"tableName,omitempty"`

	// region is the AWS region of the table. Absent means that of the operator.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]{2}(-[a-z]+)+-[0-9]+$')",messageExpression="'\"' + self + '\" is not an AWS region: write it like eu-central-1'",message="must be an AWS region, like eu-central-1"
	// +optional
	Region string `json:"region,omitempty"`

	// nameAttribute is the attribute with the name of the tenant. Absent means name.
	// +kubebuilder:default=name
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +optional
	NameAttribute string `json:"nameAttribute,omitempty"`

	// domainAttribute is the attribute with the domain of the tenant, or its domains: a list, a set, or a
	// comma-separated text. Absent means domain.
	// +kubebuilder:default=domain
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +optional
	DomainAttribute string `json:"domainAttribute,omitempty"`

	// enabledAttribute is the attribute that says whether the tenant answers requests. Absent means that
	// none does.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +optional
	EnabledAttribute string `json:"enabledAttribute,omitempty"`

	// connectionGroupIdAttribute is the attribute with the ID of the tenant's connection group. Absent
	// means that none has it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +optional
	ConnectionGroupIDAttribute string `json:"connectionGroupIdAttribute,omitempty"`

	// certificateArnAttribute is the attribute with the ARN of the tenant's own certificate. Absent means
	// that none has it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +optional
	CertificateARNAttribute string `json:"certificateArnAttribute,omitempty"`

	// filterExpression leaves out the items that it is not true for, in DynamoDB's own language, such as
	// attribute_exists(activated). It may refer to expressionAttributeNames and expressionAttributeValues.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	FilterExpression string `json:"filterExpression,omitempty"`

	// expressionAttributeNames are what the names that start with # in filterExpression stand for.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=50
	// +listType=map
	// +listMapKey=placeholder
	// +optional
	ExpressionAttributeNames []AttributeName `json:"expressionAttributeNames,omitempty"`

	// expressionAttributeValues are what the names that start with : in filterExpression stand for.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=50
	// +listType=map
	// +listMapKey=placeholder
	// +optional
	ExpressionAttributeValues []AttributeValue `json:"expressionAttributeValues,omitempty"`

	// consistentRead asks for the latest data, at twice the price. Without it a row that was just written
	// may be missing. Absent means true.
	// +kubebuilder:default=true
	// +optional
	ConsistentRead *bool `json:"consistentRead,omitempty"`

	// segments is in how many parts the table is read at the same time, 1 to 64. More parts are faster
	// and use the table's read capacity up faster. Absent means 1.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	// +optional
	Segments int32 `json:"segments,omitempty"`

	// assumeRoleArn is the ARN of an IAM role that the operator assumes to read the table. The administrator must
	// have allowed it (--allowed-roles), and the role must trust the operator under the external ID
	// <cluster ID>/<namespace>. Absent means the operator's own identity.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=640
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:iam::[0-9]{12}:role/[!-~]+$')",messageExpression="'\"' + self + '\" is not the ARN of an IAM role: give arn:aws:iam::<account>:role/<name>'",message="must be the ARN of an IAM role: arn:aws:iam::<account>:role/<name>"
	// +optional
	AssumeRoleARN string `json:"assumeRoleArn,omitempty"`
}

// AttributeName gives an attribute a name to be used in a filter.
type AttributeName struct {
	// placeholder is the name in the filter, # and then letters, digits and underscores.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^#[a-zA-Z0-9_]+$')",messageExpression="'\"' + self + '\" is not a placeholder of a name: write # and then letters, digits and underscores'",message="write # and then letters, digits and underscores"
	// +required
	Placeholder string `json:"placeholder,omitempty"`

	// attribute is the attribute of the table that it stands for.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +required
	Attribute string `json:"attribute,omitempty"`
}

// AttributeValue is a value to be used in a filter.
//
// +kubebuilder:validation:XValidation:rule="(has(self.string) ? 1 : 0) + (has(self.number) ? 1 : 0) + (has(self.bool) ? 1 : 0) == 1",message="a value is a string, a number or a bool: set exactly one of them"
type AttributeValue struct {
	// placeholder is the name in the filter, a colon and then letters, digits and underscores.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^:[a-zA-Z0-9_]+$')",messageExpression="'\"' + self + '\" is not a placeholder of a value: write a colon and then letters, digits and underscores'",message="write a colon and then letters, digits and underscores"
	// +required
	Placeholder string `json:"placeholder,omitempty"`

	// string is a text.
	// +kubebuilder:validation:MinLength=0
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	String *string `json:"string,omitempty"`

	// number is a decimal number, written as a text so that it loses nothing.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$')",messageExpression="'\"' + self + '\" is not a decimal number'",message="must be a decimal number"
	// +optional
	Number string `json:"number,omitempty"`

	// bool is true or false.
	// +optional
	Bool *bool `json:"bool,omitempty"`
}

// SQLSource is a query of a SQL database. It runs in a transaction that can only read.
type SQLSource struct {
	// connectionSecretRef names the Secret, in the namespace of this object, whose key connectionString says where the
	// database is and how to log in.
	// +required
	ConnectionSecretRef *SecretReference `json:"connectionSecretRef,omitempty"`

	// query is one statement that returns a row for each tenant, such as SELECT name, domain FROM customers. All of its
	// rows are read: a LIMIT makes the rest look deleted.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16384
	// +required
	Query string `json:"query,omitempty"`
}

// MongoDBSource is a collection of a MongoDB database. Only its primary is read.
type MongoDBSource struct {
	// connectionSecretRef names the Secret, in the namespace of this object, whose key connectionString says where the
	// database is and how to log in.
	// +required
	ConnectionSecretRef *SecretReference `json:"connectionSecretRef,omitempty"`

	// database is the name of the database.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Database string `json:"database,omitempty"`

	// collection is the name of the collection.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +required
	Collection string `json:"collection,omitempty"`

	// filter is a filter document in extended JSON, such as {"active": true}. Absent means all documents.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16384
	// +optional
	Filter string `json:"filter,omitempty"`
}

// RedisSource is a set of keys of a Redis database. Each is a hash, or a text or JSON value with one JSON
// object: a row.
type RedisSource struct {
	// connectionSecretRef names the Secret, in the namespace of this object, whose key connectionString says where the
	// database is and how to log in.
	// +required
	ConnectionSecretRef *SecretReference `json:"connectionSecretRef,omitempty"`

	// keyPattern is which keys are rows, such as customer:*. The signs * ? [ ] are those of SCAN.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +required
	KeyPattern string `json:"keyPattern,omitempty"`
}

// SecretReference names a Secret in the namespace of the object that refers to it.
type SecretReference struct {
	// name is the name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name,omitempty"`
}

// SourceCertificateRequest describes the managed certificates that the tenants of a source ask for.
type SourceCertificateRequest struct {
	// validationTokenHost says who answers the HTTP challenge that proves control of the domains: cloudfront, or
	// self-hosted for the present web server of each domain.
	// +required
	ValidationTokenHost ValidationTokenHost `json:"validationTokenHost,omitempty"`

	// certificateTransparencyLoggingPreference says whether the certificates are recorded in public
	// certificate transparency logs. Absent means that AWS decides, which is enabled.
	// +optional
	CertificateTransparencyLoggingPreference CertificateTransparencyLoggingPreference `json:"certificateTransparencyLoggingPreference,omitempty"`
}

// FieldMapping fills a field from a column.
type FieldMapping struct {
	// column is the column, or attribute, whose value is taken.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +required
	Column string `json:"column,omitempty"`

	// field is what it fills: name, metadata.labels[<key>], metadata.annotations[<key>], or the path of a field
	// of a DistributionTenant's spec such as domains, enabled, parameters[<name>], tags[<key>] or
	// customizations.certificate.arn.
	// +required
	Field FieldPath `json:"field,omitempty"`
}

// FieldExpression computes a field.
type FieldExpression struct {
	// field is what it fills, as in spec.mapping.
	// +required
	Field FieldPath `json:"field,omitempty"`

	// expression is an expression in CEL over the variable row, such as row.slug + ".apps.example.com".
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +required
	Expression string `json:"expression,omitempty"`
}

// FieldPath names a field of a tenant that a row can fill.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=400
// +kubebuilder:validation:XValidation:rule="self.matches('^(name|tenantName|domains|enabled|distributionId|connectionGroupId|driftPolicy|deletionPolicy|adoptionPolicy|parameters[[][a-zA-Z0-9_-]{1,128}[]]|tags[[][\\\\p{L}\\\\p{Z}\\\\p{N}_.:/=+@-]{1,128}[]]|metadata[.](labels|annotations)[[]([a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)*/)?[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?[]]|customizations[.](webAcl[.](action|arn)|certificate[.]arn|geoRestrictions[.](restrictionType|locations))|managedCertificateRequest[.](validationTokenHost|primaryDomainName|certificateTransparencyLoggingPreference|deleteOnTenantDeletion)|dns[.](provider|hostedZoneId|zoneName|recordType|takeover|ttl|assumeRoleArn))$') && !self.matches('^metadata[.][a-z]+[[][^/]{254}')",messageExpression="'\"' + self + '\" is not a field that a row can fill: use name, domains, enabled, parameters[<name>], tags[<key>], metadata.labels[<key>] or another path of a DistributionTenant spec'",message="is not a field that a row can fill: use name, domains, enabled, parameters[<name>], tags[<key>], metadata.labels[<key>] or another path of a DistributionTenant spec"
// +kubebuilder:validation:XValidation:rule="!self.matches('^(tags[[]([aA][wW][sS]:|cloudfront-tenant-operator[.]io/)|metadata[.](labels|annotations)[[]([a-z0-9.-]*[.])?(cloudfront-tenant-operator[.]io|kubernetes[.]io|k8s[.]io)/)')",messageExpression="'\"' + self + '\" has a prefix that is reserved for AWS, Kubernetes or the operator: choose another key'",message="has a prefix that is reserved for AWS, Kubernetes or the operator: choose another key"
type FieldPath string

// DeletionGuard bounds what may be deleted without a person's word. Rows that vanish are believed only after
// some complete reads; when more has vanished than the budget allows, nothing at all is deleted until the
// annotation cloudfront-tenant-operator.io/approve-deletions names the plan in status.heldDeletions.planHash.
//
// +kubebuilder:validation:MinProperties=0
type DeletionGuard struct {
	// confirmPolls is in how many complete reads, each at least one pollInterval after the one before, a row has to be
	// absent, 2 to 100. Absent means 2.
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=100
	// +optional
	ConfirmPolls int32 `json:"confirmPolls,omitempty"`

	// maxDeletes is how many tenants may be deleted in the window, whatever their share; 0 leaves it to
	// maxDeletePercent. The larger of the two is the budget. Absent means 10.
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	MaxDeletes *int32 `json:"maxDeletes,omitempty"`

	// maxDeletePercent is which share of the tenants may be deleted in the window, 0 to 100. Absent means 5.
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	MaxDeletePercent *int32 `json:"maxDeletePercent,omitempty"`

	// window is over which time deletions are counted, 1h to 720h (30 days). Absent means 24h.
	// +kubebuilder:default="24h"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(h|m|s|ms))+$') && duration(self) >= duration('1h') && duration(self) <= duration('720h')",messageExpression="'\"' + self + '\" is not a duration of 1h to 720h: write it like 24h'",message="write a duration of 1h to 720h, like 24h"
	// +kubebuilder:validation:Type=string
	// +optional
	Window *metav1.Duration `json:"window,omitempty"`
}

// SourceProvider names a kind of database.
// +kubebuilder:validation:Enum=dynamodb;postgres;mysql;mongodb;redis
type SourceProvider string

const (
	// SourceProviderDynamoDB is Amazon DynamoDB.
	SourceProviderDynamoDB SourceProvider = "dynamodb"
	// SourceProviderPostgres is PostgreSQL.
	SourceProviderPostgres SourceProvider = "postgres"
	// SourceProviderMySQL is MySQL or MariaDB.
	SourceProviderMySQL SourceProvider = "mysql"
	// SourceProviderMongoDB is MongoDB.
	SourceProviderMongoDB SourceProvider = "mongodb"
	// SourceProviderRedis is Redis, or Valkey.
	SourceProviderRedis SourceProvider = "redis"
)

// SourceDeletionPolicy says what becomes of a tenant whose row is gone.
// +kubebuilder:validation:Enum=Delete;Disable;Retain
type SourceDeletionPolicy string

const (
	// SourceDeletionPolicyDelete deletes its object.
	SourceDeletionPolicyDelete SourceDeletionPolicy = "Delete"
	// SourceDeletionPolicyDisable disables it.
	SourceDeletionPolicyDisable SourceDeletionPolicy = "Disable"
	// SourceDeletionPolicyRetain leaves it as it is.
	SourceDeletionPolicyRetain SourceDeletionPolicy = "Retain"
)

// TenantTemplate is what every tenant of a source has unless its row says otherwise. What neither says is left to
// whoever else sets it.
//
// +kubebuilder:validation:MinProperties=0
type TenantTemplate struct {
	// metadata has labels and annotations.
	// +optional
	Metadata *TemplateMetadata `json:"metadata,omitempty"`

	// spec has fields of a DistributionTenant's spec, under the same names. None is required here.
	// +optional
	Spec *TemplateSpec `json:"spec,omitempty"`
}

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TenantSource creates and updates DistributionTenant objects from a database table with one row per tenant. The table
// is only read. A failed or incomplete read changes nothing, and a deletion guard limits the deletion of tenants whose
// rows no longer exist.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=cfts,categories=aws
// +kubebuilder:printcolumn:name="PROVIDER",type=string,JSONPath=`.spec.provider`,description="Kind of database"
// +kubebuilder:printcolumn:name="DISCOVERED",type=integer,JSONPath=`.status.tenantsDiscovered`,description="Valid rows in the last complete read"
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="The table is read and its rows are applied"
// +kubebuilder:printcolumn:name="DRYRUN",type=boolean,JSONPath=`.spec.dryRun`,description="Changes are planned but not made"
// +kubebuilder:printcolumn:name="LASTPOLL",type=date,JSONPath=`.status.lastPollTime`,description="When the table was last read"
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="REASON",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is ready or not"
// +kubebuilder:printcolumn:name="SYNCED",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Synced")].status`,description="The objects match the table"
// +kubebuilder:printcolumn:name="REJECTED",type=integer,priority=1,JSONPath=`.status.rejectedRowsTotal`,description="Rejected rows"
// +kubebuilder:printcolumn:name="ROLLOUT",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="RolledOut")].reason`,description="Progress of changes of the tenants, with spec.rollout"
// +kubebuilder:printcolumn:name="WATCHING",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Watching")].status`,description="The database reports changes of the table"
// +kubebuilder:printcolumn:name="HELD",type=integer,priority=1,JSONPath=`.status.heldDeletions.count`,description="Deletions that are waiting for approval"
type TenantSource struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec says what to read and how to create tenants from it. The operator never writes to it.
	// +required
	Spec TenantSourceSpec `json:"spec"`

	// status is the result of the last poll.
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

// TenantSourceSpec says which table to read and how a row becomes a tenant.
//
// +kubebuilder:validation:XValidation:rule="has(self.distributionId) || has(self.distributionRef)",message="a source needs a multi-tenant distribution: set distributionRef to a Distribution object in this namespace, or distributionId to an ID in AWS",fieldPath=".distributionId"
// +kubebuilder:validation:XValidation:rule="!has(self.distributionId) || !has(self.distributionRef)",messageExpression="'the distribution is set twice, by distributionId \"' + self.distributionId + '\" and by distributionRef \"' + self.distributionRef.name + '\": remove one of the two'",message="the distribution is set twice: remove distributionId or distributionRef",fieldPath=".distributionRef"
// +kubebuilder:validation:XValidation:rule="(self.provider == 'dynamodb') == has(self.dynamodb)",messageExpression="'spec.dynamodb and provider dynamodb belong together, but provider is \"' + self.provider + '\": ' + (has(self.dynamodb) ? 'remove spec.dynamodb, or change provider' : 'add spec.dynamodb, or change provider')",message="provider dynamodb requires spec.dynamodb, and other providers do not allow it: add it, remove it, or change provider",fieldPath=".dynamodb"
// +kubebuilder:validation:XValidation:rule="(self.provider == 'postgres') == has(self.postgres)",messageExpression="'spec.postgres and provider postgres belong together, but provider is \"' + self.provider + '\": ' + (has(self.postgres) ? 'remove spec.postgres, or change provider' : 'add spec.postgres, or change provider')",message="provider postgres requires spec.postgres, and other providers do not allow it: add it, remove it, or change provider",fieldPath=".postgres"
// +kubebuilder:validation:XValidation:rule="(self.provider == 'mysql') == has(self.mysql)",messageExpression="'spec.mysql and provider mysql belong together, but provider is \"' + self.provider + '\": ' + (has(self.mysql) ? 'remove spec.mysql, or change provider' : 'add spec.mysql, or change provider')",message="provider mysql requires spec.mysql, and other providers do not allow it: add it, remove it, or change provider",fieldPath=".mysql"
// +kubebuilder:validation:XValidation:rule="(self.provider == 'mongodb') == has(self.mongodb)",messageExpression="'spec.mongodb and provider mongodb belong together, but provider is \"' + self.provider + '\": ' + (has(self.mongodb) ? 'remove spec.mongodb, or change provider' : 'add spec.mongodb, or change provider')",message="provider mongodb requires spec.mongodb, and other providers do not allow it: add it, remove it, or change provider",fieldPath=".mongodb"
// +kubebuilder:validation:XValidation:rule="(self.provider == 'redis') == has(self.redis)",messageExpression="'spec.redis and provider redis belong together, but provider is \"' + self.provider + '\": ' + (has(self.redis) ? 'remove spec.redis, or change provider' : 'add spec.redis, or change provider')",message="provider redis requires spec.redis, and other providers do not allow it: add it, remove it, or change provider",fieldPath=".redis"
// +kubebuilder:validation:XValidation:rule="has(self.targetNamespace) == has(oldSelf.targetNamespace) && (!has(self.targetNamespace) || self.targetNamespace == oldSelf.targetNamespace)",messageExpression="'the tenants of a source cannot move to another namespace, and targetNamespace was ' + (has(oldSelf.targetNamespace) ? '\"' + oldSelf.targetNamespace + '\"' : 'absent') + ': restore it, or create a new source'",message="the tenants of a source cannot move to another namespace: restore the previous value, or create a new source",fieldPath=".targetNamespace"
// +kubebuilder:validation:XValidation:rule="!has(self.mapping) || !has(self.expressions) || self.mapping.all(m, !self.expressions.exists(e, e.field == m.field))",message="a field can be set by a column or by an expression, not by both: remove it from spec.mapping or from spec.expressions",fieldPath=".expressions"
// +kubebuilder:validation:XValidation:rule="!has(self.watch) || (self.provider == 'postgres') == has(self.watch.channel)",messageExpression="'channel belongs to provider postgres, and provider is \"' + self.provider + '\": ' + (has(self.watch.channel) ? 'remove spec.watch.channel' : 'set spec.watch.channel to the channel that the trigger of the table notifies')",message="provider postgres requires spec.watch.channel, and other providers do not allow it: add it, or remove it",fieldPath=".watch"
// +kubebuilder:validation:XValidation:rule="!has(self.watch) || (self.provider == 'mysql') == has(self.watch.query)",messageExpression="'query belongs to provider mysql, and provider is \"' + self.provider + '\": ' + (has(self.watch.query) ? 'remove spec.watch.query' : 'set spec.watch.query to a query whose result changes with the table')",message="provider mysql requires spec.watch.query, and other providers do not allow it: add it, or remove it",fieldPath=".watch"
// +kubebuilder:validation:XValidation:rule="!has(self.writeBack) || (has(self.writeBack.connectionSecretRef) ? 1 : 0) + (has(self.writeBack.iam) ? 1 : 0) == (self.provider == 'dynamodb' ? 0 : 1)",messageExpression="'every provider but dynamodb needs one way to log in for writing, and provider is \"' + self.provider + '\": ' + (self.provider == 'dynamodb' ? 'remove spec.writeBack.connectionSecretRef and spec.writeBack.iam' : 'set either spec.writeBack.connectionSecretRef to a Secret with a connection string, or spec.writeBack.iam')",message="every provider but dynamodb requires either spec.writeBack.connectionSecretRef or spec.writeBack.iam: add one of them, or remove them with dynamodb",fieldPath=".writeBack"
// +kubebuilder:validation:XValidation:rule="!has(self.writeBack) || !has(self.writeBack.iam) || self.provider in ['postgres', 'mysql'] && has(self.writeBack.iam.database) || self.provider == 'redis' && has(self.writeBack.iam.cacheName)",messageExpression="'providers postgres and mysql log in to iam.database, redis to iam.cacheName, and mongodb needs a connection string; provider is \"' + self.provider + '\": change spec.writeBack'",message="postgres and mysql require spec.writeBack.iam.database, redis requires iam.cacheName, and mongodb allows connectionSecretRef only",fieldPath=".writeBack"
// +kubebuilder:validation:XValidation:rule="!has(self.writeBack) || !has(self.writeBack.assumeRoleArn) || self.provider == 'dynamodb'",messageExpression="'only provider dynamodb assumes a role, and provider is \"' + self.provider + '\": remove spec.writeBack.assumeRoleArn'",message="only provider dynamodb assumes a role: remove spec.writeBack.assumeRoleArn",fieldPath=".writeBack"
// +kubebuilder:validation:XValidation:rule="!has(self.writeBack) || (!has(self.dynamodb) || self.dynamodb.tableName != self.writeBack.table) && (!has(self.mongodb) || self.mongodb.collection != self.writeBack.table)",messageExpression="'\"' + self.writeBack.table + '\" is the table that is read: set spec.writeBack.table to a table of its own'",message="the state table cannot be the table that is read: set spec.writeBack.table to a table of its own",fieldPath=".writeBack.table"
type TenantSourceSpec struct {
	// provider is the type of database: dynamodb, postgres, mysql (also MariaDB), mongodb or redis. The block with the
	// same name says what to read.
	// +required
	Provider SourceProvider `json:"provider,omitempty"`

	// pollInterval is how often the table is read, 10s to 24h. Default: 5m.
	// +kubebuilder:default="5m"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(h|m|s|ms))+$') && duration(self) >= duration('10s') && duration(self) <= duration('24h')",messageExpression="'\"' + self + '\" is not a duration of 10s to 24h: write it like 5m or 1h30m'",message="use a duration of 10s to 24h, like 5m or 1h30m"
	// +kubebuilder:validation:Type=string
	// +optional
	PollInterval *metav1.Duration `json:"pollInterval,omitempty"`

	// watch reads the table as soon as the database reports a change, at most once a second, in addition to every
	// pollInterval. Deletions are confirmed as without it. While the database reports no changes, the condition Watching
	// is False, and the table is read every pollInterval. Default: only every pollInterval.
	// +optional
	Watch *SourceWatch `json:"watch,omitempty"`

	// writeBack writes what became of each tenant to a state table. Default: nothing is written.
	// +optional
	WriteBack *SourceWriteBack `json:"writeBack,omitempty"`

	// distributionId is the ID of the multi-tenant distribution for tenants whose row and template set no other one.
	// Exactly one of distributionId and distributionRef is required.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Z0-9]+$')",messageExpression="'\"' + self + '\" is not a distribution ID, which has only capital letters and digits, like E1A2B3C4D5E6F7: use the ID, not the ARN or the domain name'",message="must be the ID of a distribution: capital letters and digits only"
	// +optional
	DistributionID string `json:"distributionId,omitempty"`

	// distributionRef names the Distribution object of these tenants, instead of distributionId. Tenants that are created
	// before that distribution exists in AWS wait for it.
	// +optional
	DistributionRef *ObjectReference `json:"distributionRef,omitempty"`

	// targetNamespace is the namespace of the tenants. Default: the namespace of this object. The administrator must
	// allow any other namespace in --tenantsource-target-namespaces. It can't be changed.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",messageExpression="'\"' + self + '\" is not the name of a namespace: use lower-case letters, digits and inner hyphens'",message="must be the name of a namespace: lower-case letters, digits and inner hyphens"
	// +optional
	TargetNamespace string `json:"targetNamespace,omitempty"`

	// dryRun reads the table and only lists the planned changes in status.pendingChanges.
	// +optional
	DryRun bool `json:"dryRun,omitempty"`

	// suspend stops reading the table, and all changes of the tenants.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// managedCertificateRequest requests a managed certificate for every tenant whose row sets no certificate and whose
	// template has no other request. AWS chooses the primary domain.
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

	// template has the values for every tenant that its row does not set.
	// +optional
	Template *TenantTemplate `json:"template,omitempty"`

	// mapping sets fields of a tenant from columns, at most 100. Without a mapping or an expression for them, name,
	// domains, enabled and connectionGroupId come from the columns name, domain, enabled and connection_group_id, the
	// last two if they exist. With DynamoDB they come from the attributes in spec.dynamodb. If a value is null or empty,
	// the value of the template is used.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=field
	// +optional
	Mapping []FieldMapping `json:"mapping,omitempty"`

	// expressions compute fields of a tenant from the whole row, at most 50. If the result is null, the value of the
	// template is used.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=50
	// +listType=map
	// +listMapKey=field
	// +optional
	Expressions []FieldExpression `json:"expressions,omitempty"`

	// rowKey is a column that identifies a row and never changes, like a primary key. With it, a row without a valid name
	// keeps only its own tenant from being deleted. Otherwise such a row could belong to any tenant, and no tenant is
	// deleted as long as it exists. With watch, single rows of a large table are read by it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +optional
	RowKey string `json:"rowKey,omitempty"`

	// deletionPolicy says what happens to a tenant whose row no longer exists, or whose TenantSource is deleted. Delete:
	// its object is deleted, and the tenant in AWS according to the object's own deletionPolicy. Disable: it is kept with
	// enabled: false. Retain: it is kept as it is. The deletion guard applies to Delete and Disable.
	// +kubebuilder:default=Delete
	// +optional
	DeletionPolicy SourceDeletionPolicy `json:"deletionPolicy,omitempty"`

	// deletionGuard limits how many tenants may be deleted, disabled or changed harmfully without approval.
	// +kubebuilder:default={}
	// +optional
	DeletionGuard *DeletionGuard `json:"deletionGuard,omitempty"`

	// rollout says in which steps changes reach the tenants in AWS. Default: the steps of all other tenants.
	// +optional
	Rollout *SourceRollout `json:"rollout,omitempty"`
}

// DynamoDBSource is a DynamoDB table. It is read with a complete scan.
//
// +kubebuilder:validation:XValidation:rule="has(self.filterExpression) || (!has(self.expressionAttributeNames) && !has(self.expressionAttributeValues))",message="attribute names and values are only used in a filter: set filterExpression, or remove expressionAttributeNames and expressionAttributeValues",fieldPath=".filterExpression"
type DynamoDBSource struct {
	// tableName is the name or the ARN of the table.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-zA-Z0-9_.-]{3,255}|arn:aws(-[a-z]+)*:dynamodb:[a-z0-9-]+:[0-9]{12}:table/[a-zA-Z0-9_.-]{3,255})$')",messageExpression="'\"' + self + '\" is neither a table name (3 to 255 letters, digits and _ . -) nor a table ARN'",message="must be a table name (3 to 255 letters, digits and _ . -) or a table ARN"
	// +required
	TableName string `json:"tableName,omitempty"`

	// region is the AWS region of the table. Default: the region of the operator.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]{2}(-[a-z]+)+-[0-9]+$')",messageExpression="'\"' + self + '\" is not an AWS region: write it like eu-central-1'",message="must be an AWS region, like eu-central-1"
	// +optional
	Region string `json:"region,omitempty"`

	// nameAttribute is the attribute with the name of the tenant. Default: name.
	// +kubebuilder:default=name
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +optional
	NameAttribute string `json:"nameAttribute,omitempty"`

	// domainAttribute is the attribute with the domain of the tenant, or its domains: a list, a set, or a comma-separated
	// string. Default: domain.
	// +kubebuilder:default=domain
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +optional
	DomainAttribute string `json:"domainAttribute,omitempty"`

	// enabledAttribute is the attribute that says whether the tenant serves requests. Default: none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +optional
	EnabledAttribute string `json:"enabledAttribute,omitempty"`

	// connectionGroupIdAttribute is the attribute with the ID of the tenant's connection group. Default: none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +optional
	ConnectionGroupIDAttribute string `json:"connectionGroupIdAttribute,omitempty"`

	// certificateArnAttribute is the attribute with the ARN of the certificate of the tenant. Default: none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +optional
	CertificateARNAttribute string `json:"certificateArnAttribute,omitempty"`

	// filterExpression selects items with a DynamoDB filter expression, such as attribute_exists(activated). It may use
	// expressionAttributeNames and expressionAttributeValues.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	FilterExpression string `json:"filterExpression,omitempty"`

	// expressionAttributeNames define the names that start with # in filterExpression.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=50
	// +listType=map
	// +listMapKey=placeholder
	// +optional
	ExpressionAttributeNames []AttributeName `json:"expressionAttributeNames,omitempty"`

	// expressionAttributeValues define the values that start with : in filterExpression.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=50
	// +listType=map
	// +listMapKey=placeholder
	// +optional
	ExpressionAttributeValues []AttributeValue `json:"expressionAttributeValues,omitempty"`

	// consistentRead uses consistent reads, at twice the price. Without it, a row that was just written may be missing.
	// Default: true.
	// +kubebuilder:default=true
	// +optional
	ConsistentRead *bool `json:"consistentRead,omitempty"`

	// segments is the number of parallel scan segments, 1 to 64. More segments are faster and use up the table's read
	// capacity faster. Default: 1.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	// +optional
	Segments int32 `json:"segments,omitempty"`

	// assumeRoleArn is the ARN of an IAM role that the operator assumes to read the table. The administrator must allow
	// it in --allowed-roles, and the role must trust the operator with the external ID <cluster ID>/<namespace>.
	// Default: the operator's own identity.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=640
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:iam::[0-9]{12}:role/[!-~]+$')",messageExpression="'\"' + self + '\" is not the ARN of an IAM role: use arn:aws:iam::<account>:role/<name>'",message="must be the ARN of an IAM role: arn:aws:iam::<account>:role/<name>"
	// +optional
	AssumeRoleARN string `json:"assumeRoleArn,omitempty"`
}

// AttributeName defines a name for use in a filter.
type AttributeName struct {
	// placeholder is the name in the filter: # followed by letters, digits and underscores.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^#[a-zA-Z0-9_]+$')",messageExpression="'\"' + self + '\" is not a name placeholder: use # followed by letters, digits and underscores'",message="use # followed by letters, digits and underscores"
	// +required
	Placeholder string `json:"placeholder,omitempty"`

	// attribute is the attribute of the table.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +required
	Attribute string `json:"attribute,omitempty"`
}

// AttributeValue defines a value for use in a filter.
//
// +kubebuilder:validation:XValidation:rule="(has(self.string) ? 1 : 0) + (has(self.number) ? 1 : 0) + (has(self.bool) ? 1 : 0) == 1",message="set exactly one of string, number and bool"
type AttributeValue struct {
	// placeholder is the name in the filter: a colon followed by letters, digits and underscores.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^:[a-zA-Z0-9_]+$')",messageExpression="'\"' + self + '\" is not a value placeholder: use a colon followed by letters, digits and underscores'",message="use a colon followed by letters, digits and underscores"
	// +required
	Placeholder string `json:"placeholder,omitempty"`

	// string is a string value.
	// +kubebuilder:validation:MinLength=0
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	String *string `json:"string,omitempty"`

	// number is a decimal number, written as a string to keep its precision.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$')",messageExpression="'\"' + self + '\" is not a decimal number'",message="must be a decimal number"
	// +optional
	Number string `json:"number,omitempty"`

	// bool is true or false.
	// +optional
	Bool *bool `json:"bool,omitempty"`
}

// SQLSource is a query of a SQL database. It runs in a read-only transaction.
//
// +kubebuilder:validation:XValidation:rule="has(self.connectionSecretRef) != has(self.iam)",message="set either connectionSecretRef, for a connection string, or iam, for a token of AWS IAM",fieldPath=".connectionSecretRef"
// +kubebuilder:validation:XValidation:rule="!has(self.iam) || has(self.iam.database)",message="a SQL server has databases, and no cache: set iam.database, and remove iam.cacheName",fieldPath=".iam"
type SQLSource struct {
	// connectionSecretRef names the Secret, in the namespace of this object, whose key connectionString contains the
	// connection string of the database. Its label cloudfront-tenant-operator.io/tenantsource must be the name of this
	// object, or Any. Required without iam.
	// +optional
	ConnectionSecretRef *SecretReference `json:"connectionSecretRef,omitempty"`

	// iam logs in to RDS or Aurora with a token of AWS IAM instead of a password. Default: connectionSecretRef.
	// +optional
	IAM *IAMLogin `json:"iam,omitempty"`

	// query is one statement that returns a row for each tenant, such as SELECT name, domain FROM customers. All of its
	// rows are read: with a LIMIT, the other rows would look deleted.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16384
	// +required
	Query string `json:"query,omitempty"`
}

// MongoDBSource is a collection in a MongoDB database. It is read only from the primary.
type MongoDBSource struct {
	// connectionSecretRef names the Secret, in the namespace of this object, whose key connectionString contains the
	// connection string of the database. Its label cloudfront-tenant-operator.io/tenantsource must be the name of this
	// object, or Any.
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

	// filter is a filter document in extended JSON, such as {"active": true}. Default: all documents.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16384
	// +optional
	Filter string `json:"filter,omitempty"`
}

// RedisSource is a set of keys in a Redis database. Each key is a row: a hash, or a string or JSON value with one JSON
// object.
//
// +kubebuilder:validation:XValidation:rule="has(self.connectionSecretRef) != has(self.iam)",message="set either connectionSecretRef, for a connection string, or iam, for a token of AWS IAM",fieldPath=".connectionSecretRef"
// +kubebuilder:validation:XValidation:rule="!has(self.iam) || has(self.iam.cacheName)",message="a Redis server of ElastiCache is a cache: set iam.cacheName, and remove iam.database",fieldPath=".iam"
type RedisSource struct {
	// connectionSecretRef names the Secret, in the namespace of this object, whose key connectionString contains the
	// connection string of the database. Its label cloudfront-tenant-operator.io/tenantsource must be the name of this
	// object, or Any. Required without iam.
	// +optional
	ConnectionSecretRef *SecretReference `json:"connectionSecretRef,omitempty"`

	// iam logs in to ElastiCache with a token of AWS IAM instead of a password. Default: connectionSecretRef.
	// +optional
	IAM *IAMLogin `json:"iam,omitempty"`

	// keyPattern selects the keys that are rows, such as customer:*. The characters * ? [ ] work as in SCAN.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +required
	KeyPattern string `json:"keyPattern,omitempty"`
}

// IAMLogin is a login with a token of AWS IAM instead of a password. The operator makes a token for each read, write and
// watch, and sends it only over TLS to a server whose certificate is valid for the host. An EdgeGrant must allow the login
// in spec.sources.logins: the default grant allows none.
//
// +kubebuilder:validation:XValidation:rule="has(self.database) != has(self.cacheName)",message="set database for PostgreSQL and MySQL, or cacheName for Redis",fieldPath=".database"
type IAMLogin struct {
	// host is the endpoint of the server as AWS shows it, with or without a port: name.id.eu-west-1.rds.amazonaws.com:5432.
	// A name of your own is not accepted by RDS. Default port: 5432 with PostgreSQL, 3306 with MySQL, 6379 with Redis.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=260
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:[1-9][0-9]{0,4})?$')",messageExpression="'\"' + self + '\" is not a host: use name or name:port'",message="must be a host: name or name:port"
	// +required
	Host string `json:"host,omitempty"`

	// user is the user of the database. With Redis, its user name and its user ID in ElastiCache must be the same.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_][A-Za-z0-9_.$-]*$')",messageExpression="'\"' + self + '\" is not the name of a database user: use letters, digits and _ . $ -'",message="use letters, digits and _ . $ -"
	// +required
	User string `json:"user,omitempty"`

	// database is the name of the database. Required with PostgreSQL and MySQL. Redis uses the database 0.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Database string `json:"database,omitempty"`

	// cacheName is the ID of the replication group. Required with Redis, and only for it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z][a-z0-9-]*$')",messageExpression="'\"' + self + '\" is not the ID of a replication group: use lower-case letters, digits and hyphens'",message="use lower-case letters, digits and hyphens"
	// +optional
	CacheName string `json:"cacheName,omitempty"`

	// region is the AWS region of the server. Default: the region of the operator.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]{2}(-[a-z]+)+-[0-9]+$')",messageExpression="'\"' + self + '\" is not an AWS region: write it like eu-central-1'",message="must be an AWS region, like eu-central-1"
	// +optional
	Region string `json:"region,omitempty"`

	// assumeRoleArn is the ARN of an IAM role that the operator assumes to log in, under the conditions of
	// spec.dynamodb.assumeRoleArn. Default: the operator's own identity.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=640
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:iam::[0-9]{12}:role/[!-~]+$')",messageExpression="'\"' + self + '\" is not the ARN of an IAM role: use arn:aws:iam::<account>:role/<name>'",message="must be the ARN of an IAM role: arn:aws:iam::<account>:role/<name>"
	// +optional
	AssumeRoleARN string `json:"assumeRoleArn,omitempty"`
}

// SecretReference names a Secret in the namespace of the object that refers to it.
type SecretReference struct {
	// name is the name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name,omitempty"`
}

// SourceCertificateRequest describes the managed certificates that the tenants of a source request.
type SourceCertificateRequest struct {
	// validationTokenHost says who answers the HTTP challenge that validates the domains: cloudfront, or self-hosted for
	// the current web server of each domain.
	// +required
	ValidationTokenHost ValidationTokenHost `json:"validationTokenHost,omitempty"`

	// certificateTransparencyLoggingPreference says whether the certificates are recorded in public certificate
	// transparency logs. Default: enabled (by AWS).
	// +optional
	CertificateTransparencyLoggingPreference CertificateTransparencyLoggingPreference `json:"certificateTransparencyLoggingPreference,omitempty"`
}

// FieldMapping sets a field from a column.
type FieldMapping struct {
	// column is the column or attribute with the value.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +required
	Column string `json:"column,omitempty"`

	// field is the field to set: name, metadata.labels[<key>], metadata.annotations[<key>], or the path of a field of a
	// DistributionTenant's spec such as domains, enabled, parameters[<name>], tags[<key>] or
	// customizations.certificate.arn.
	// +required
	Field FieldPath `json:"field,omitempty"`
}

// FieldExpression computes a field.
type FieldExpression struct {
	// field is the field to set, as in spec.mapping.
	// +required
	Field FieldPath `json:"field,omitempty"`

	// expression is an expression in CEL over the variable row, such as row.slug + ".apps.example.com".
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +required
	Expression string `json:"expression,omitempty"`
}

// DeletionGuard limits how many tenants may be deleted or changed harmfully without approval. A change is harmful if it
// disables a tenant, removes a domain or the DNS records, moves it to another distribution, connection group or zone,
// or no longer retains it in AWS. A missing row counts only after several complete reads. If there are more of both than
// the budget allows, none of them is made until the annotation cloudfront-tenant-operator.io/approve-deletions is set to
// status.heldDeletions.planHash. The budget is never more than half of more than three tenants.
//
// +kubebuilder:validation:MinProperties=0
type DeletionGuard struct {
	// confirmPolls is the number of complete reads, each at least one pollInterval after the previous one, in which a row
	// must be missing, 2 to 100. Default: 2.
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=100
	// +optional
	ConfirmPolls int32 `json:"confirmPolls,omitempty"`

	// maxDeletes is the number of tenants that may be deleted or changed harmfully in the window. With 0, only
	// maxDeletePercent applies. The
	// larger of the two is the budget. Default: 10.
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	MaxDeletes *int32 `json:"maxDeletes,omitempty"`

	// maxDeletePercent is the percentage of tenants that may be deleted or changed harmfully in the window, 0 to 100.
	// Default: 5.
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	MaxDeletePercent *int32 `json:"maxDeletePercent,omitempty"`

	// grace is how long a tenant whose row no longer exists continues to serve after this is confirmed, 1m to 720h (30 days),
	// or 0s for no grace. It has the annotation cloudfront-tenant-operator.io/source-gone-since meanwhile. If its row exists
	// again, it stays. If another row has one of its domains, there is no grace. Default: 24h with deletionPolicy Delete,
	// otherwise 0s.
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(h|m|s|ms))+$') && (duration(self) == duration('0s') || duration(self) >= duration('1m')) && duration(self) <= duration('720h')",messageExpression="'\"' + self + '\" is not a duration of 1m to 720h: write it like 24h, or 0s for no grace'",message="use a duration of 1m to 720h, like 24h, or 0s for no grace"
	// +kubebuilder:validation:Type=string
	// +optional
	Grace *metav1.Duration `json:"grace,omitempty"`

	// window is the period in which deletions and harmful changes are counted, 1h to 720h (30 days). Default: 24h.
	// +kubebuilder:default="24h"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(h|m|s|ms))+$') && duration(self) >= duration('1h') && duration(self) <= duration('720h')",messageExpression="'\"' + self + '\" is not a duration of 1h to 720h: write it like 24h'",message="use a duration of 1h to 720h, like 24h"
	// +kubebuilder:validation:Type=string
	// +optional
	Window *metav1.Duration `json:"window,omitempty"`
}

// SourceProvider is a type of database.
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

// SourceDeletionPolicy says what happens to a tenant whose row no longer exists.
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

// TenantTemplate has the values for every tenant of a source that its row does not set. Fields that neither sets can
// be set by others.
//
// +kubebuilder:validation:MinProperties=0
type TenantTemplate struct {
	// metadata has the labels and annotations.
	// +optional
	Metadata *TemplateMetadata `json:"metadata,omitempty"`

	// spec has fields of a DistributionTenant's spec, with the same names. None of them is required.
	// +optional
	Spec *TemplateSpec `json:"spec,omitempty"`
}

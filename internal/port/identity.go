package port

import "context"

// Identity tells which account's credentials the calls are made with.
type Identity interface {
	// Account is the id of the AWS account.
	Account(ctx context.Context) (string, error)
	// Caller is the account, and the ARN of the user or role whose credentials these are.
	Caller(ctx context.Context) (account, arn string, err error)
}

package aws

import (
	"fmt"
	"net/http"
)

// apiError is a refusal as AWS words it: an HTTP status, a code that clients
// match on and a message for people.
type apiError struct {
	Status  int
	Code    string
	Message string
}

// Error implements error.
func (e *apiError) Error() string {
	return e.Code + ": " + e.Message
}

func refuse(status int, code, format string, args ...any) error {
	return &apiError{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

func invalidArgument(format string, args ...any) error {
	return refuse(http.StatusBadRequest, "InvalidArgument", format, args...)
}

func invalidTagging(format string, args ...any) error {
	return refuse(http.StatusBadRequest, "InvalidTagging", format, args...)
}

func limitExceeded(format string, args ...any) error {
	return refuse(http.StatusBadRequest, "EntityLimitExceeded", format, args...)
}

func entityNotFound(what, identifier string) error {
	return refuse(http.StatusNotFound, "EntityNotFound", "The specified %s does not exist: %s.", what, identifier)
}

func noSuchDistribution(id string) error {
	return refuse(http.StatusNotFound, "NoSuchDistribution", "The specified distribution does not exist: %s.", id)
}

func illegalUpdate(format string, args ...any) error {
	return refuse(http.StatusBadRequest, "IllegalUpdate", format, args...)
}

func conflict(code, format string, args ...any) error {
	return refuse(http.StatusConflict, code, format, args...)
}

// ownershipUnproven carries the text the real service answers with; clients
// tell it from other invalid arguments by "verify Domain Name ownership".
func ownershipUnproven() error {
	return invalidArgument("The provided Domain Name is not valid. " +
		"Could not verify Domain Name ownership. It may not be pointing to a valid CloudFront resource.")
}

package azuredns

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// refusal is an answer other than success.
type refusal struct {
	status        int
	code, message string
	// detail is the code of the one detail, empty for none.
	detail string
	// provider is true where the DNS service answers and not the Resource Manager before it: its errors are not wrapped.
	provider   bool
	retryAfter time.Duration
	challenge  string
	// oauth is the number of an error of Entra ID, -1 for one of the machine's own endpoint: these have another form.
	oauth int
}

// manager is a refusal by the Resource Manager.
func manager(status int, code, format string, args ...any) *refusal {
	return &refusal{status: status, code: code, message: fmt.Sprintf(format, args...)}
}

// provider is a refusal by the DNS service.
func provider(status int, code, format string, args ...any) *refusal {
	return &refusal{status: status, code: code, message: fmt.Sprintf(format, args...), provider: true}
}

func badRequest(format string, args ...any) *refusal {
	return provider(http.StatusBadRequest, "BadRequest", format, args...)
}

// conflict is a refusal whose code says little and whose detail says what it is about.
func conflict(detail, format string, args ...any) *refusal {
	r := provider(http.StatusConflict, "Conflict", format, args...)
	r.detail = detail
	return r
}

func (r *refusal) write(w http.ResponseWriter) {
	inner := map[string]any{"code": r.code, "message": r.message}
	if r.detail != "" {
		inner["details"] = []map[string]string{{"code": r.detail, "message": r.message}}
	}
	var body any = inner
	switch {
	case r.oauth != 0:
		body = map[string]any{"error": r.code, "error_description": r.message, "error_codes": []int{r.oauth}}
	case !r.provider:
		body = map[string]any{"error": inner}
		// Only the Resource Manager's own answers have it.
		w.Header().Set("x-ms-failure-cause", "gateway")
	}
	if r.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(r.retryAfter.Seconds())))
	}
	if r.challenge != "" {
		w.Header().Set("WWW-Authenticate", r.challenge)
	}
	writeJSON(w, r.status, body)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that went away is no concern of ours
}

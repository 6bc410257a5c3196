package aws

import (
	"net/http"
	"net/url"
	"strings"
)

// sts speaks the Query protocol: a form in, XML out.
type sts struct{}

const (
	stsVersion   = "2011-06-15"
	stsNamespace = "https://sts.amazonaws.com/doc/" + stsVersion + "/"
)

var stsOperations = []*operation{
	{name: "GetCallerIdentity", handle: (*Sim).getCallerIdentity},
	{name: "AssumeRole", handle: (*Sim).assumeRole},
}

func (sts) accepts(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Path == "/" &&
		strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded")
}

func (sts) decode(_ *http.Request, body []byte) (*call, error) {
	c := &call{op: unknownOperation}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return c, refuse(http.StatusBadRequest, "MalformedInput", "The form can't be read: %v.", err)
	}
	c.query = form
	if version := form.Get("Version"); version != stsVersion {
		return c, refuse(http.StatusBadRequest, "NoSuchVersion", "The requested version (%s) is not valid.", version)
	}
	for _, op := range stsOperations {
		if op.name == form.Get("Action") {
			c.op = op
			return c, nil
		}
	}
	return c, refuse(http.StatusBadRequest, "InvalidAction", "The simulated STS knows no operation %s.", form.Get("Action"))
}

func (sts) encode(c *call, out reply) answer {
	body := el(c.op.name+"Response", out.body, el("ResponseMetadata", txt("RequestId", c.requestID)))
	return stsAnswer(out.status, body)
}

func (sts) encodeError(c *call, err error) answer {
	refused := asAPIError(err)
	kind := "Sender"
	if refused.Status >= http.StatusInternalServerError {
		kind = "Receiver"
	}
	return stsAnswer(refused.Status, el("ErrorResponse",
		el("Error", txt("Type", kind), txt("Code", refused.Code), txt("Message", refused.Message)),
		txt("RequestId", c.requestID)))
}

func stsAnswer(status int, body *node) answer {
	return answer{status: status, header: http.Header{"Content-Type": {"text/xml"}}, body: body.document(stsNamespace)}
}

func (sts) codeOf(err error) string { return asAPIError(err).Code }

func (sts) throttleCode() string { return "Throttling" }

// getCallerIdentity answers every caller: the real service requires no permission.
func (s *Sim) getCallerIdentity(c *call) (reply, error) {
	userID := "AIDASIMULATED"
	if c.session != nil {
		userID = c.session.userID()
	}
	return reply{status: http.StatusOK, body: el("GetCallerIdentityResult",
		txt("Arn", c.caller()),
		txt("UserId", userID),
		txt("Account", c.acct.id),
	)}, nil
}

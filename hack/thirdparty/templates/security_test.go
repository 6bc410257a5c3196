package templates_test

import (
	"strings"
	"testing"
)

// calm is the security context of a container that asks for nothing.
const calm = `allowPrivilegeEscalation: false`

// TestPodSecurity judges pods of one container, and of their own settings.
func TestPodSecurity(t *testing.T) {
	for name, tc := range map[string]struct {
		parameters string
		// context is the security context of the container, pod what the pod has in addition.
		context, pod string
		want         []string
	}{
		"a pod that asks for nothing":                           {context: calm},
		"a constraint with empty parameters":                    {parameters: "{}", context: calm},
		"a privileged container":                                {context: "privileged: true", want: []string{"remove securityContext.privileged and windowsOptions.hostProcess of a"}},
		"a privileged container that may be":                    {parameters: "{allowPrivileged: true}", context: "privileged: true"},
		"a container that says that it is not privileged":       {context: calm + ", privileged: false"},
		"a process of a Windows host":                           {context: "windowsOptions: {hostProcess: true}", pod: "os: {name: windows}", want: []string{"hostProcess"}},
		"a pod of processes of a Windows host":                  {pod: "os: {name: windows}, securityContext: {windowsOptions: {hostProcess: true}}", want: []string{"hostProcess"}},
		"a container that does not speak of escalation":         {want: []string{"set securityContext.allowPrivilegeEscalation to false for a"}},
		"a container that may escalate":                         {context: "allowPrivilegeEscalation: true", want: []string{"allowPrivilegeEscalation"}},
		"a container that may escalate where it is allowed":     {parameters: "{allowPrivilegeEscalation: true}", context: "allowPrivilegeEscalation: true"},
		"a container of Windows, which has no escalation":       {pod: "os: {name: windows}"},
		"the network of the node":                               {context: calm, pod: "hostNetwork: true", want: []string{"remove hostNetwork"}},
		"all namespaces of the node":                            {context: calm, pod: "hostNetwork: true, hostPID: true, hostIPC: true", want: []string{"remove hostNetwork, hostPID, hostIPC"}},
		"the namespaces of the node where they are allowed":     {parameters: "{allowHostNamespaces: true}", context: calm, pod: "hostNetwork: true, hostPID: true, hostIPC: true"},
		"a pod that says that it does without":                  {context: calm, pod: "hostNetwork: false"},
		"a folder of the node":                                  {context: calm, pod: "volumes: [{name: v, emptyDir: {}}, {name: w, hostPath: {path: /}}]", want: []string{"another volume than hostPath for w"}},
		"a folder of the node where it is allowed":              {parameters: "{allowHostPaths: true}", context: calm, pod: "volumes: [{name: w, hostPath: {path: /}}]"},
		"a volume without a type":                               {context: calm, pod: "volumes: [{name: v}]"},
		"a capability":                                          {context: calm + ", capabilities: {add: [NET_ADMIN]}", want: []string{"capabilities.add of a except for none"}},
		"a capability that is allowed":                          {parameters: "{allowedCapabilities: [NET_BIND_SERVICE]}", context: calm + ", capabilities: {add: [NET_BIND_SERVICE], drop: [ALL]}"},
		"a capability next to one that is allowed":              {parameters: "{allowedCapabilities: [NET_BIND_SERVICE]}", context: calm + ", capabilities: {add: [NET_BIND_SERVICE, SYS_ADMIN]}", want: []string{"of a except for NET_BIND_SERVICE"}},
		"another spelling of one that is allowed":               {parameters: "{allowedCapabilities: [NET_BIND_SERVICE]}", context: calm + ", capabilities: {add: [ALL]}", want: []string{"capabilities"}},
		"any capability":                                        {parameters: "{allowedCapabilities: ['*']}", context: calm + ", capabilities: {add: [ALL]}"},
		"capabilities that are dropped":                         {context: calm + ", capabilities: {drop: [ALL]}"},
		"root, where nothing forbids it":                        {context: calm + ", runAsUser: 0"},
		"a user that is not said":                               {parameters: "{runAsNonRoot: true}", context: calm, want: []string{"may not run as root here"}},
		"runAsNonRoot of the container":                         {parameters: "{runAsNonRoot: true}", context: calm + ", runAsNonRoot: true"},
		"runAsNonRoot of the pod":                               {parameters: "{runAsNonRoot: true}", context: calm, pod: "securityContext: {runAsNonRoot: true}"},
		"runAsNonRoot of the pod that the container takes back": {parameters: "{runAsNonRoot: true}", context: calm + ", runAsNonRoot: false", pod: "securityContext: {runAsNonRoot: true}", want: []string{"root"}},
		"a user of the container":                               {parameters: "{runAsNonRoot: true}", context: calm + ", runAsUser: 1000"},
		"a user of the pod":                                     {parameters: "{runAsNonRoot: true}", context: calm, pod: "securityContext: {runAsUser: 1000}"},
		"root of the container":                                 {parameters: "{runAsNonRoot: true}", context: calm + ", runAsUser: 0", want: []string{"root"}},
		"root of the pod":                                       {parameters: "{runAsNonRoot: true}", context: calm, pod: "securityContext: {runAsUser: 0}", want: []string{"root"}},
		"root of the container in a pod of another user":        {parameters: "{runAsNonRoot: true}", context: calm + ", runAsUser: 0", pod: "securityContext: {runAsUser: 1000, runAsNonRoot: true}", want: []string{"root"}},
		"another user of the container in a pod of root":        {parameters: "{runAsNonRoot: true}", context: calm + ", runAsUser: 1000", pod: "securityContext: {runAsUser: 0}"},
		"root that says that it is not":                         {parameters: "{runAsNonRoot: true}", context: calm + ", runAsUser: 0, runAsNonRoot: true", want: []string{"root"}},
		"a writable root filesystem, where nothing forbids it":  {parameters: "{readOnlyRootFilesystem: false}", context: calm},
		"a writable root filesystem":                            {parameters: "{readOnlyRootFilesystem: true}", context: calm, want: []string{"readOnlyRootFilesystem to true for a"}},
		"a read-only root filesystem":                           {parameters: "{readOnlyRootFilesystem: true}", context: calm + ", readOnlyRootFilesystem: true"},
		"several of these": {
			parameters: "{runAsNonRoot: true, readOnlyRootFilesystem: true}",
			context:    "capabilities: {add: [SYS_ADMIN]}", pod: "hostPID: true, volumes: [{name: v, hostPath: {path: /}}]",
			want: []string{"gain privileges", "hostPID", "hostPath", "capabilities", "run as root", "read-only root filesystem"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			spec := "{containers: [{name: a, image: x, securityContext: {" + tc.context + "}}]"
			if tc.context == "" {
				spec = "{containers: [{name: a, image: x}]"
			}
			if tc.pod != "" {
				spec += ", " + tc.pod
			}
			judge(t, "KleffPodSecurity", review{parameters: tc.parameters, object: pod(spec + "}"), want: tc.want})
		})
	}
}

// TestEveryContainer shows that containers of each sort are judged, in each kind.
func TestEveryContainer(t *testing.T) {
	const good = "{name: a, image: x, securityContext: {" + calm + "}}"
	for _, field := range []string{"containers", "initContainers", "ephemeralContainers"} {
		spec := "{" + field + ": [{name: bad, image: x, securityContext: {privileged: true}}], containers: [" + good + "]}"
		if field == "containers" {
			spec = "{containers: [" + good + ", {name: bad, image: x, securityContext: {privileged: true}}]}"
		}
		for kind, template := range workloads {
			t.Run(field+"/"+kind, func(t *testing.T) {
				judge(t, "KleffPodSecurity", review{object: strings.Replace(template, "%s", spec, 1), want: []string{"hostProcess of bad"}})
			})
		}
	}
}

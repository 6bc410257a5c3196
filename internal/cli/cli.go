// Package cli is kubectl cfdt: it answers questions about a fleet from its objects and, where a verb needs it, from AWS
// with the user's own credentials. A reader begins with session.go and output.go, which every verb has. Each verb is a
// file of its own, and may use those of others, but none uses one that is built on it.
package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// New makes the command.
func New(o Options) *cobra.Command {
	s := &session{Options: o, cluster: newCluster(o.Kubeconfig)}
	root := &cobra.Command{
		Use:   "kubectl-cfdt",
		Short: "See, explain, import and change a fleet of CloudFront distribution tenants",
		Long: "See, explain, import and change a fleet of CloudFront distribution tenants.\n\n" +
			"Most verbs need the cluster only. diff, import and orphans read AWS with your own credentials, which are found as the\n" +
			"AWS CLI finds them. Nothing is changed in AWS by this command: the operator does that, for the objects that it changes.",
		SilenceUsage: true, SilenceErrors: true,
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl cfdt"},
	}
	root.SetIn(o.Streams.In)
	root.SetOut(o.Streams.Out)
	root.SetErr(o.Streams.ErrOut)
	s.cluster.addFlags(root.PersistentFlags())
	root.AddGroup(
		&cobra.Group{ID: look, Title: "See:"}, &cobra.Group{ID: act, Title: "Act:"}, &cobra.Group{ID: withAWS, Title: "Read AWS with your own credentials:"},
	)
	for _, verb := range verbs {
		root.AddCommand(verb(s))
	}
	sayUsage(root)
	return root
}

// sayUsage has each verb say how it is used if its arguments are wrong.
func sayUsage(c *cobra.Command) {
	for _, verb := range c.Commands() {
		sayUsage(verb)
	}
	if accepts := c.Args; accepts != nil && c.Runnable() {
		c.Args = func(c *cobra.Command, args []string) error {
			if accepts(c, args) == nil {
				return nil
			}
			given := "no arguments"
			if len(args) > 0 {
				given = fmt.Sprintf("the arguments %q", args)
			}
			return fmt.Errorf("%s can't be run with %s. Usage: %s. See %s --help", c.CommandPath(), given, c.UseLine(), c.CommandPath())
		}
	}
}

// verbs make the commands.
var verbs = []func(*session) *cobra.Command{
	checkCommand, statusCommand, explainCommand, domainCommand, whoseCommand, treeCommand, eventsCommand, certsCommand, reportCommand, bundleCommand,
	pauseCommand, resumeCommand, reconcileCommand, invalidateCommand, moveDomainCommand, sourceCommand, deletionsCommand, grantsCommand,
	diffCommand, importCommand, orphansCommand,
	versionCommand,
}

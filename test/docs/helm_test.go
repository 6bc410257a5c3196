package docs

import (
	"regexp"
	"strings"
	"testing"
)

// Without a version, Helm installs the latest release, and an upgrade that changes one value moves to it. With
// --reuse-values alone, a release keeps the defaults of its former chart.
func TestHelmCommandsNameTheirVersion(t *testing.T) {
	t.Parallel()
	uses := regexp.MustCompile(`\bhelm (?:install|upgrade|template)\b.*oci://`)
	count := 0
	for _, p := range pages(t) {
		commands := p.commands()
		for _, command := range commands {
			if strings.Contains(command, " --reuse-values") {
				t.Errorf("%s: write --reset-then-reuse-values in: %s", p.name, command)
			}
			if !uses.MatchString(command) {
				continue
			}
			count++
			if !strings.Contains(command, `--version "$VERSION"`) {
				t.Errorf(`%s: add --version "$VERSION" to: %s`, p.name, command)
			}
			if !regexp.MustCompile(`(?m)^ *VERSION=`).MatchString(strings.Join(commands, "\n")) {
				t.Errorf("%s: no command of the page sets VERSION", p.name)
			}
		}
	}
	if count < 15 {
		t.Errorf("the pages have %d commands of Helm only", count)
	}
}

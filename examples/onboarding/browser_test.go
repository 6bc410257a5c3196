package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// screenshots names the folder in which pictures of the page are kept, to be looked at.
const screenshots = "ONBOARDING_SCREENSHOTS"

// tab is a page in a browser.
type tab struct {
	ctx context.Context //nolint:containedctx // the library knows the tab by it
	mu  sync.Mutex
	// problems are what the console shows.
	problems []string
}

// findBrowser is the path of Chromium.
func findBrowser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no browser is installed: install Debian's package chromium, or run hack/browser.sh")
	return ""
}

// newTab opens a tab in a browser that the test has for itself.
func newTab(t *testing.T) *tab {
	t.Helper()
	path := findBrowser(t)
	//nolint:usetesting // the test's own context ends before the browser, which would then be killed while it writes
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.Headless, chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true))
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits until the browser has ended, before its folder is removed
		cancel()
	})
	b := &tab{ctx: ctx}
	chromedp.ListenTarget(ctx, b.listen)
	b.do(t, log.Enable())
	return b
}

func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
			b.problems = append(b.problems, fmt.Sprint("console: ", len(e.Args), " arguments"))
		}
	case *log.EventEntryAdded:
		b.problems = append(b.problems, e.Entry.Text+" "+e.Entry.URL)
	}
}

// quiet checks that the console is empty.
func (b *tab) quiet(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.problems) > 0 {
		t.Errorf("the console shows:\n%s", strings.Join(b.problems, "\n"))
	}
}

func (b *tab) do(t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// until waits for an expression to be true.
func (b *tab) until(t *testing.T, expression string) {
	t.Helper()
	err := chromedp.Run(b.ctx, chromedp.Poll(expression, nil, chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(20*time.Second)))
	if err != nil {
		text := ""
		_ = chromedp.Run(b.ctx, chromedp.Evaluate("document.body.innerText", &text))
		t.Fatalf("%s: %v\n%s", expression, err, text)
	}
}

// shows waits until the title is that text.
func (b *tab) shows(t *testing.T, title string) {
	t.Helper()
	b.until(t, fmt.Sprintf("document.getElementById('title').textContent === %q", title))
}

func evaluate[V any](t *testing.T, b *tab, expression string) (value V) {
	t.Helper()
	b.do(t, chromedp.Evaluate(expression, &value))
	return value
}

// picture keeps a picture of the whole page where that is wanted.
func (b *tab) picture(t *testing.T, name string) {
	t.Helper()
	folder := os.Getenv(screenshots)
	if folder == "" {
		return
	}
	var png []byte
	b.do(t, chromedp.FullScreenshot(&png, 100))
	if err := os.WriteFile(filepath.Join(folder, name+".png"), png, 0o600); err != nil {
		t.Fatal(err)
	}
}

// operates plays the operator.
func operates(t *testing.T, domain string, state v1alpha1.DomainState, records ...v1alpha1.DomainRecord) {
	t.Helper()
	if err := operate(t.Context(), domain, state, records...); err != nil {
		t.Fatal(err)
	}
}

// A customer adds a domain and follows it until it is live, on a wide screen and on a phone, light and dark.
func TestACustomerAddsADomain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		width, height int64
		scheme        string
		ground        string
	}{
		"light": {1100, 800, "light", "rgb(246, 247, 249)"},
		"dark":  {1100, 800, "dark", "rgb(15, 18, 22)"},
		"phone": {360, 740, "light", "rgb(246, 247, 249)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, url := newTab(t), newServer(t).URL
			domain := name + ".customer-with-a-long-name.example"
			b.do(t, chromedp.EmulateViewport(tt.width, tt.height),
				emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: tt.scheme}}),
				browser.GrantPermissions([]browser.PermissionType{"clipboardReadWrite", "clipboardSanitizedWrite"}).WithOrigin(url),
				chromedp.Navigate(url), chromedp.WaitVisible("#domain"))
			if ground := evaluate[string](t, b, "getComputedStyle(document.body).backgroundColor"); ground != tt.ground {
				t.Errorf("the ground is %s, want %s", ground, tt.ground)
			}
			b.picture(t, name+"-1-empty")
			// Customers paste what is in the address bar.
			b.do(t, chromedp.SendKeys("#domain", "https://"+strings.ToUpper(domain)+"/cart\r"))
			b.shows(t, "Preparing your domain")

			operates(t, domain, v1alpha1.DomainAwaitingDNS, routing(domain, v1alpha1.RecordMissing))
			b.shows(t, "Set your DNS record")
			if code := evaluate[[]string](t, b, "[...document.querySelectorAll('code')].map((c) => c.textContent)"); !slices.Equal(code, []string{domain, target}) {
				t.Errorf("the record is %q", code)
			}
			b.picture(t, name+"-2-missing")
			b.do(t, chromedp.Click("dl div:last-child .copy"))
			b.until(t, "document.querySelector('dl div:last-child .copy').textContent === 'Copied'")
			if got := evaluateAsync[string](t, b, "navigator.clipboard.readText()"); got != target {
				t.Errorf("copied %q", got)
			}

			operates(t, domain, v1alpha1.DomainAwaitingDNS, routing(domain, v1alpha1.RecordWrong, "<img src=x onerror=alert(1)>", "old.example.net"))
			b.until(t, "document.querySelector('.badge').textContent === 'Wrong value'")
			if seen := evaluate[string](t, b, "document.querySelector('.seen').textContent"); seen != "We found: <img src=x onerror=alert(1)>, old.example.net" {
				t.Errorf("seen: %q", seen)
			}
			b.picture(t, name+"-3-wrong")

			operates(t, domain, v1alpha1.DomainValidating, routing(domain, v1alpha1.RecordPresent))
			b.shows(t, "Checking your domain")
			b.until(t, "document.querySelector('.badge').textContent === '✓ Found'")
			operates(t, domain, v1alpha1.DomainIssuing, routing(domain, v1alpha1.RecordPresent))
			b.shows(t, "Issuing your certificate")
			b.picture(t, name+"-4-issuing")
			operates(t, domain, v1alpha1.DomainLive, routing(domain, v1alpha1.RecordPresent))
			b.shows(t, "Your domain is live")
			if link := evaluate[string](t, b, "document.getElementById('link').href"); link != "https://"+domain+"/" {
				t.Errorf("the link is %q", link)
			}
			b.picture(t, name+"-5-live")
			if wide := evaluate[bool](t, b, "document.documentElement.scrollWidth > innerWidth"); wide {
				t.Error("the page is wider than the screen")
			}

			// The address of the page shows the domain again.
			b.do(t, chromedp.Reload())
			b.shows(t, "Your domain is live")
			b.quiet(t)
		})
	}
}

// evaluateAsync is the value of a promise.
func evaluateAsync[V any](t *testing.T, b *tab, expression string) (value V) {
	t.Helper()
	b.do(t, chromedp.Evaluate(expression, &value, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	return value
}

// A customer who types something else is told what to type, and a screen reader says it.
func TestACustomerTypesNoDomain(t *testing.T) {
	t.Parallel()
	b, url := newTab(t), newServer(t).URL
	b.do(t, chromedp.Navigate(url), chromedp.SendKeys("#domain", "my shop\r"))
	b.until(t, "document.getElementById('problem').textContent.startsWith('Enter a domain')")
	if focused := evaluate[string](t, b, "document.activeElement.id + document.activeElement.getAttribute('aria-invalid')"); focused != "domaintrue" {
		t.Errorf("the focus is on %s", focused)
	}
	if hidden := evaluate[bool](t, b, "document.getElementById('progress').hidden"); !hidden {
		t.Error("the page shows a domain")
	}
	operated := "straße.example"
	b.do(t, chromedp.SetValue("#domain", operated), chromedp.SendKeys("#domain", "\r"))
	b.until(t, "document.getElementById('name').textContent === 'xn--strae-oqa.example'")
}

// A domain that can't be used has no steps to wait for.
func TestADomainIsRefused(t *testing.T) {
	t.Parallel()
	b, url := newTab(t), newServer(t).URL
	b.do(t, chromedp.Navigate(url), chromedp.SendKeys("#domain", "taken.example.com\r"))
	b.shows(t, "Preparing your domain")
	operates(t, "taken.example.com", v1alpha1.DomainRefused)
	b.shows(t, "We can't use this domain")
	if shown := evaluate[string](t, b, "getComputedStyle(document.getElementById('steps')).display"); shown != "none" {
		t.Errorf("the steps are %s", shown)
	}
	b.quiet(t)
}

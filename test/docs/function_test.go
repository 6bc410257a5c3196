package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// store stands for the module of CloudFront Functions in Node.js, with the key of one host.
const store = `const cf = { kvs: () => ({ get: async (key, options) => {
  if (key !== 'acme.example.com' || options.format !== 'json') throw new Error('KeyNotFound');
  return JSON.parse('{"customer":"acme","tier":"gold"}');
} }) };
`

// asks calls the function with a host that has a key, and with one that has none.
const asks = `
for (const host of ['acme.example.com', 'other.example.com']) {
  const answer = await handler({ request: { headers: { host: { value: host } } } });
  console.log(answer.statusCode ?? answer.headers['x-customer'].value + ' ' + answer.headers['x-tier'].value);
}
`

// The function on the page of key values does what the page says.
func TestTheFunctionThatReadsKeyValues(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Node.js is not installed")
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "key-values.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```js\n")
	program, _, found := strings.Cut(rest, "```")
	body, imports := strings.CutPrefix(program, "import cf from 'cloudfront';\n")
	if !found || !imports {
		t.Fatal("the page has no function that imports the module cloudfront")
	}
	file := filepath.Join(t.TempDir(), "function.mjs")
	if err := os.WriteFile(file, []byte(store+body+asks), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), node, file).CombinedOutput()
	if got := string(out); err != nil || got != "acme gold\n404\n" {
		t.Errorf("%v: %s", err, got)
	}
}

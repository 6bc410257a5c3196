# The commands of a developer. Each target is a line or two; longer ones are scripts in hack/.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# Tools are pinned in go.tools.mod and built on first use.
TOOL         := go tool -modfile=go.tools.mod
GOLANGCI     := $(TOOL) golangci-lint-kube-api-linter
ACTIONLINT   := go tool -modfile=hack/actionlint/go.mod actionlint -pyflakes=
CONTROLPLANE := go -C hack/controlplane run ./build
CHART        := charts/cloudfront-tenant-operator

# What `make test` runs, and with which flags: make test PKG=./internal/domain/... TESTFLAGS='-run Name -v'
PKG       ?= ./...
TESTFLAGS ?=

##@ Try it

# It is built and then executed, because "go run" ends with status 1 after a Ctrl-C whatever its program does.
# The first compilation is silent and takes minutes, so a message is printed before.
FIRST_BUILD = [ -e bin/playground ] || echo "Compiling the playground, which takes some minutes the first time."

.PHONY: demo
demo: ## Show the whole life of some tenants, with no AWS account and no cluster
	@$(FIRST_BUILD)
	@go build -o bin/ ./cmd/playground && exec bin/playground demo --while-pid $$PPID $(PLAYGROUNDFLAGS)

.PHONY: playground
playground: ## The same world, staying up until Ctrl-C; more tenants with PLAYGROUNDFLAGS='--tenants 300'
	@$(FIRST_BUILD)
	@go build -o bin/ ./cmd/playground && exec bin/playground up --while-pid $$PPID $(PLAYGROUNDFLAGS)

##@ Develop

.PHONY: build
build: ## Compile the binaries into bin/
	go build -trimpath -o bin/ ./cmd/operator ./cmd/awssim ./cmd/kubectl-cfdt

.PHONY: plugin
plugin: ## Compile kubectl cfdt into bin/; put that folder into your PATH to use it
	go build -o bin/ ./cmd/kubectl-cfdt

.PHONY: chart
chart: controlplane ## Package the chart into dist/
	@"$$($(CONTROLPLANE) --print-dir)/helm" package $(CHART) --destination dist

.PHONY: install-manifests
install-manifests: controlplane ## Write install.yaml and crds.yaml into dist/: make install-manifests VERSION=1.2.3 IMAGE=...
	@hack/install-manifests.sh '$(VERSION)' '$(IMAGE)' dist

.PHONY: generate
generate: controlplane manifests docs ## Write everything that is generated
	@hack/install-manifests.sh

.PHONY: manifests
manifests: ## Write deep copies, templates and CRDs from the API types, rights from the code, and the copies of both
	@go run ./hack/genfields
	@$(TOOL) controller-gen object crd paths=./api/... output:crd:dir=config/crd
	@$(TOOL) controller-gen rbac:roleName=unnamed,fileName=rbac.yaml paths=./internal/... output:rbac:dir=$(CHART)/files
	@rm -rf $(CHART)/files/crds && cp -r config/crd $(CHART)/files/crds
	@cp $(CHART)/files/rbac.yaml internal/operator/rights/roles.yaml

.PHONY: docs
docs: ## Write the reference documentation
	@hack/docs.sh

.PHONY: site
site: ## Build the documentation site from docs/ into dist/site; dead links fail it (needs Node.js)
	@hack/site.sh build

.PHONY: site-serve
site-serve: ## Show the documentation site on http://localhost:5173 and follow edits of docs/
	@hack/site.sh serve

.PHONY: fmt
fmt: ## Format the code
	@$(GOLANGCI) fmt

.PHONY: controlplane
controlplane: ## Build kube-apiserver, etcd and friends into the user's cache folder; at once when they are there
	@$(CONTROLPLANE)

##@ Check

.PHONY: test
test: ## Run every test on a real API server, with the race detector where goroutines meet
	@PKG='$(PKG)' hack/test.sh $(TESTFLAGS)

.PHONY: test-unit
test-unit: ## Run the tests that need no API server
	@hack/test-unit.sh $(TESTFLAGS)

.PHONY: test-crash
test-crash: controlplane ## Kill the real operator and spoil its calls, case by case: make test-crash CASES=-1, or CASE=17 for one
	@DNSSERVER_ASSETS="$$(hack/dnsservers.sh)" DATABASE_ASSETS="$$(hack/databases.sh)" go -C test/crash test -count=1 -timeout 0 -run '^(TestCampaign$(if $(CASE),,|TestMutations))$$' -args \
		-crash.cases=$(or $(CASES),600) -crash.parallel=20 $(if $(CASE),-crash.case='$(CASE)') $(CRASHFLAGS)

.PHONY: test-levels
test-levels: controlplane ## Tell which levels of tests notice which deliberate mistakes, resumable; it takes hours
	@mkdir -p dist
	@DNSSERVER_ASSETS="$$(hack/dnsservers.sh)" DATABASE_ASSETS="$$(hack/databases.sh)" go -C test/crash test -count=1 -timeout 0 -v -run '^TestLevels$$' -args \
		-crash.levels='$(CURDIR)/dist/levels.json' $(CRASHFLAGS)

.PHONY: soak
soak: controlplane ## Let faults strike one world for long, and watch what the operator uses: make soak SOAK=1h ACTIVES=2
	@DNSSERVER_ASSETS="$$(hack/dnsservers.sh)" DATABASE_ASSETS="$$(hack/databases.sh)" go -C test/crash test -count=1 -timeout 0 -run '^TestSoak$$' -args \
		-crash.soak=$(or $(SOAK),5m) -crash.actives=$(or $(ACTIVES),1) $(CRASHFLAGS)

.PHONY: test-model
test-model: ## Play random schedules of faults in simulated time, resumable: make test-model SCHEDULES=100000
	@mkdir -p dist
	@go test -count=1 -timeout 0 -run '^Test(Schedules|LossMutations)$$' ./test/model -args -model.schedules=$(or $(SCHEDULES),1000) \
		-model.report='$(CURDIR)/dist/schedules.json' $(MODELFLAGS)

.PHONY: test-databases
test-databases: controlplane ## Spoil real databases in every way and at every time: make test-databases CASE=postgres
	@DATABASE_ASSETS="$$(hack/databases.sh)" go test -count=1 -timeout 0 -run '^TestDatabaseFaults$$$(if $(CASE),/$(CASE))' ./test/sources -args -sources.campaign

.PHONY: test-gatekeeper
test-gatekeeper: ## Have Gatekeeper's real webhook enforce a plan's constraints; builds it first, which takes minutes
	@hack/test-gatekeeper.sh $(TESTFLAGS)

.PHONY: test-matrix
test-matrix: ## Test with every Kubernetes release that the chart claims; the first run builds them: make test-matrix RELEASES=v1.30.14
	@RELEASES='$(RELEASES)' hack/test-matrix.sh $(TESTFLAGS)

.PHONY: test-node
test-node: ## Install the chart on a Kubernetes node that is started here, which needs root on Linux
	@assets="$$(hack/node.sh)" && NODE_ASSETS="$$assets" NODE_OWNER="$$PPID" PATH="$$PATH:/usr/sbin" \
		go test -count=1 -timeout 0 -v -run '^Test(Node|Killed)$$' ./test/node -args -node $(TESTFLAGS)

.PHONY: lint
lint: ## Lint the code, the API types, the workflows and, where ShellCheck is installed, the scripts
	@$(ACTIONLINT)
	@if command -v shellcheck >/dev/null; then shellcheck hack/*.sh .ci/run; fi
	@$(GOLANGCI) run ./...
	@$(GOLANGCI) run -c .golangci-kal.yml ./api/...

.PHONY: verify
verify: ## Generate and lint; fails when something generated was out of date
	@hack/verify.sh

.PHONY: fuzz
fuzz: ## Run each fuzz test for a while: make fuzz FUZZTIME=1m
	@FUZZTIME=$(or $(FUZZTIME),20s) hack/fuzz.sh $(PKG)

.PHONY: bench
bench: controlplane ## Measure a fleet's whole life with the real binaries: make bench N=10000 BENCHFLAGS='--aws-rate 25'
	@go run ./bench/fleet $(if $(N),--tenants $(N)) $(BENCHFLAGS)
	@go test -run '^$$' -bench . -benchmem ./internal/domain/...

.PHONY: bench-source
bench-source: controlplane ## Measure what following a table of customers costs: make bench-source ROWS=100000
	@DATABASE_ASSETS="$$(hack/databases.sh)" go run ./bench/source $(if $(ROWS),--rows $(ROWS)) $(BENCHFLAGS)

.PHONY: bench-tenancy
bench-tenancy: controlplane ## Measure what customers' namespaces cost: make bench-tenancy N=300 BENCHFLAGS='--quiet 1m --edge'
	@hack/thirdparty.sh >/dev/null
	@go run ./bench/tenancy $(if $(N),--tenants $(N)) $(BENCHFLAGS)

.PHONY: vuln
vuln: ## Look for known vulnerabilities in what we use (asks the Go vulnerability database)
	@$(TOOL) govulncheck $(PKG)

.PHONY: presubmit
presubmit: verify test vuln ## What to run before asking for a review

##@ Other

.PHONY: clean
clean: ## Remove what was built here; the control plane stays in the user's cache folder
	rm -rf bin dist

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^##@ / {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' Makefile

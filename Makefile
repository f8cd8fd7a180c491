# `make demo` and `make test` are the two that matter; README.md says what the others are for.
.DEFAULT_GOAL := build
.PHONY: build demo test soak check generate stack unstack

# demo: embedded (directories) or hive (real HDFS and Hive)
STACK ?= embedded

rig := integration/rig

build:
	go build -o bin/ ./cmd/loadctl ./cmd/loadd

demo:
	$(rig)/prepare.sh $(if $(filter hive,$(STACK)),postgres hive,postgres)
	go run ./integration/demo -stack $(STACK)

# Everything, on the real parts. They stay up for the next time, except in CI.
test:
	$(rig)/prepare.sh
	go run ./$(rig)/cmd/stack referees >/dev/null
	go run ./$(rig)/cmd/stack up >/dev/null
	@status=0; go test -race -timeout 40m ./... || status=$$?; \
	if [ -n "$${CI:-}" ]; then go run ./$(rig)/cmd/stack -all down; fi; \
	exit $$status

# Several daemons under kill -9, pauses, restarts of PostgreSQL and cut connections, for so long; prints its figures.
SECONDS ?= 60

soak:
	$(rig)/prepare.sh postgres
	LOADCTL_SOAK_SECONDS=$(SECONDS) go test ./integration -run '^TestSoak$$' -count=1 -v -timeout 24h

# What a reviewer need not look at. Nothing is changed but by generate, and that is found out.
check:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "gofmt these files:" $$unformatted; exit 1; fi
	go vet ./...
	go tool staticcheck ./...
	go mod tidy -diff
	@before=$$(git diff; git status --porcelain); $(MAKE) --no-print-directory generate; \
	if [ "$$before" != "$$(git diff; git status --porcelain)" ]; then \
	  echo "generated files were not up to date: see git diff, and commit them"; exit 1; fi

generate:
	go generate ./...

# The real parts, for a person: prints addresses and a daemon file, and leaves them running.
stack:
	$(rig)/prepare.sh postgres hive
	go run ./$(rig)/cmd/stack up

unstack:
	go run ./$(rig)/cmd/stack -all down

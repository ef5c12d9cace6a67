# hambench: `make help` lists the targets.

GO   ?= go
export GO
OUT  ?= out
FUZZTIME ?= 30s
RESULTS  = docs/results
# The run that the committed results are of.
PUBLISHED = --profile standard --splits 5 --seed-from 3301
# Files that $(RESULTS) leaves to the page, for its size.
ON_THE_PAGE = paths.csv orders.csv svrg-ubu.csv \
	$(foreach s,orders sms-ubu svrg-ubu quicsort energy-error midpoint-budgets,$s.png $s.txt) \
	$(foreach s,efficiency crossing psgld-bias learning-psgld sms-coupled,$s.png)
BIN  := bin/hambench
PYTHON ?= python3
VENV = bin/venv

.DEFAULT_GOAL := help
.PHONY: help build test test-long test-python bench-python wheel elsewhere test-faults test-slurm test-arm64 estimate-arm64 bench bench-kernels bench-table limits peers reproduce figures publish redraw fuzz gate verdicts engines cross lint lines module vuln licences generated clean

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-15s %s\n", $$1, $$2}'

build: ## build bin/hambench
	vcs=auto; git ls-files --error-unmatch go.mod > /dev/null 2>&1 || vcs=false; \
	$(GO) build -buildvcs=$$vcs -o $(BIN) ./cmd/hambench

test: ## run the tests, but those of minutes (test-long)
	$(GO) vet ./...
	$(GO) test ./...
	$(GO) -C examples vet ./...
	$(GO) -C examples test ./...

test-long: ## the tests of minutes that make test skips: documented commands, the committed results drawn again, all claims, the Python package, instruction sets against each other, the simulated power of gate
	HAMBENCH_TEST_LONG=1 $(GO) test -timeout 2h -run '^TestLong|^TestHelpExamplesWork$$' ./...

wheel: ## a wheel of the Python package with the program inside, under bin/wheel (another platform by GOOS and GOARCH)
	$(PYTHON) python/wheel.py bin/wheel

elsewhere: build $(VENV)/installed ## write docs/elsewhere.md: exact orders of other libraries' samplers
	HAMBENCH="$(CURDIR)/$(BIN)" PYTHONPATH="$(CURDIR)/python" $(VENV)/bin/python python/elsewhere.py docs/elsewhere.md

$(VENV)/installed: python/requirements.txt python/requirements-no-deps.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 12))' || { echo "$(PYTHON) is older than Python 3.12, which the versions in $< need: make PYTHON=python3.12 …"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install -q -r python/requirements.txt
	$(VENV)/bin/pip install -q --no-deps -r python/requirements-no-deps.txt
	touch $@

test-python: build $(VENV)/installed ## the Python package with numpy, JAX, PyTorch and four libraries of samplers, and six readers of draws (installs them under bin/venv; wants Python 3.12)
	$(VENV)/bin/mypy --config-file python/mypy.ini python/hambench
	HAMBENCH="$(CURDIR)/$(BIN)" PYTHONPATH="$(CURDIR)/python" $(VENV)/bin/python -m pytest -q python/tests

bench-python: build $(VENV)/installed ## what a call from Python costs beside the program's own start
	HAMBENCH="$(CURDIR)/$(BIN)" PYTHONPATH="$(CURDIR)/python" $(VENV)/bin/python python/bench_calls.py

test-slurm: ## hambench slurm on a cluster of three nodes on this machine, with crashes (as root; installs Slurm if missing; at most 10 minutes)
	cd test/slurm && $(GO) test -tags slurm -count=1 -timeout 9m30s

test-faults: ## break sweeps (kills, full disk, damage, signals …) and count what is lost or wrong; Linux, as root for all of it
	$(GO) run ./test/faults

# Packages whose numbers the kernels make.
NUMERIC = ./internal/kernel ./internal/mlp ./integrators/noise ./integrators ./models
# A test that starts itself, which needs the system to run ARM programs.
NOT_EMULATED = TestFingerprintsAreTheSameUnderEveryInstructionSet

test-arm64: ## kernels, networks, integrators and models on an emulated ARM processor, with NEON and in plain Go; its store merges with this machine's (needs Debian's qemu-user-static)
	@command -v qemu-aarch64-static > /dev/null || { echo "qemu-aarch64-static is missing: apt-get install qemu-user-static"; exit 1; }
	GOARCH=arm64 $(GO) test -exec qemu-aarch64-static -timeout 30m -skip "$(NOT_EMULATED)" $(NUMERIC)
	GOARCH=arm64 HAMBENCH_ISA=generic $(GO) test -exec qemu-aarch64-static -timeout 30m ./internal/mlp ./integrators
	tools/merge-arm64.sh

estimate-arm64: ## estimates of the ARM kernels' inner loops (needs Debian's llvm-19)
	$(GO) -C internal/gen run ./arm64 -estimate

bench: ## sweep integrators and batch sizes as Go benchmarks, one pass
	$(GO) test -run xxx -bench . -benchtime 1x -timeout 60m ./bench

bench-kernels: ## gradients, Hessian-vector products, normals and steps as fractions of the multiply-add peak
	$(GO) test -run xxx -bench . -benchtime 50ms -benchmem ./test/peak ./internal/kernel
	$(GO) test -run xxx -bench 'Gradient|HessianVector' -benchtime 50ms -benchmem ./internal/mlp
	for isa in avx512 avx2 generic; do \
		HAMBENCH_ISA=$$isa $(GO) test -run xxx -bench Step -benchtime 50ms -benchmem ./internal/mlp ./models || exit 1; \
	done
	$(GO) test -run xxx -bench Ratio -benchtime 50ms -benchmem ./internal/mlp

bench-table: ## normals, gradients and leapfrog steps of every instruction set as one table, ARM's estimated (needs Debian's llvm-19 for those)
	@tools/kernels.sh

limits: ## what the ports of amd64 allow the passes with normals, by llvm-mca (needs Debian's llvm-19)
	@tools/limits.sh

peers: ## the sampler step beside PyTorch's, JAX's and blackjax's (bench/peers), at most 8 minutes
	$(PYTHON) bench/peers/run.py

reproduce: ## every figure and table, quick profile, under out/ (OUT=…)
	./reproduce.sh --out '$(OUT)'

figures: build ## draw figures and tables again from what out/ (OUT=…) holds, running nothing
	$(BIN) reproduce --figures-only --out '$(OUT)'

redraw: build ## draw the committed results again under out/committed (OUT=…) from their store, running nothing
	rm -rf '$(OUT)/committed'
	mkdir -p '$(OUT)/committed'
	tar -xzf $(RESULTS)/store.tar.gz -C '$(OUT)/committed'
	$(BIN) reproduce --figures-only $(PUBLISHED) --out '$(OUT)/committed'

publish: build ## make docs/results of what out/ (OUT=…) holds of that run: a store without draws, and what is drawn from it but what the page shows as well
	rm -rf bin/published
	$(BIN) store merge --published --out bin/published '$(OUT)'
	mv bin/published/store/records/*.jsonl bin/published/store/records/results.jsonl # a name without a time: equal results, equal archives
	tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf bin/store.tar -C bin/published store
	$(BIN) reproduce --figures-only $(PUBLISHED) --out bin/published
	rm -f $(RESULTS)/*.csv $(RESULTS)/*.txt $(RESULTS)/*.png $(RESULTS)/claims.*
	gzip -9nc bin/store.tar > $(RESULTS)/store.tar.gz
	cd bin/published && rm $(ON_THE_PAGE) claims.txt *-table.txt && cp index.html claims.md claims.json *.csv *.txt *.png '$(abspath $(RESULTS))'

gate: build ## compare exact orders and constants with the committed baseline; fails if one moved
	$(BIN) certify --json > bin/certify.json
	$(BIN) gate testdata/certify.json bin/certify.json

engines: ## all cases of certify's tests, of which make test does a sample (three minutes)
	$(GO) test ./certify -all -verdicts 25 -v -timeout 30m

verdicts: ## certify 5 000 random problems against arithmetic of 190 digits and 1 000 against predictions, 500 corners and 220 largest stable steps, the spectral engine against lattices, rankings against sampled grids, gate every cell of an export, and simulate 2 100 references and the table of docs/judge.md
	$(GO) test ./certify -run 'TestNoVerdictIsFalse|TestPredictionsAreTheFits|TestNoTrueClaim|TestSpectralResolution|TestTheBestOfARanking|TestEveryStepBelow' -verdicts 5000 -predictions 1000 -corners 500 -stability 220 -lattices 200 -advised 3 -v -timeout 3h
	$(GO) test ./cmd/hambench -run TestExportGatesAgainstItself -every-cell -timeout 1h
	$(GO) test ./oracle -run RightReferences -references 700 -v -timeout 1h
	$(GO) test ./compare -run 'OfTheTable|PowerDoesNotSay' -table -v -timeout 3h

generated: ## the committed assembly is what its generators make
	./internal/gen/check.sh

fuzz: ## run every fuzz target for FUZZTIME (30s) each
	tools/fuzz.sh $(FUZZTIME)

vuln: ## known vulnerabilities in what the program calls (needs the network)
	tools/vuln.sh

licences: ## write docs/licences.md, the licences of all dependencies
	$(GO) -C tools run ./licences

cross: ## build for Linux, macOS and Windows on amd64 and arm64; vet for arm64 and for 32 bits
	for system in linux darwin windows; do for arch in amd64 arm64; do \
		GOOS=$$system GOARCH=$$arch $(GO) build ./... || exit 1; \
	done; done
	GOARCH=arm64 $(GO) vet ./...
	GOARCH=386 $(GO) vet ./...

lint: ## formatting, vet and unreachable functions; all must say nothing
	@files=$$("$$($(GO) env GOROOT)/bin/gofmt" -l .) && test -z "$$files" || { echo "$$files"; echo "run gofmt -w on these files"; exit 1; }
	$(GO) vet ./...
	@dead=$$($(GO) tool -modfile=tools/go.mod deadcode -test ./...) && test -z "$$dead" || { echo "$$dead"; echo "remove these functions: nothing calls them"; exit 1; }

lines: ## count the product's Go lines and their comments, by package
	tools/lines.sh

# PATH on the command line is also the shell's: its own has to be put back.
module: ## change the module's path everywhere: make module PATH=github.com/you/hambench
	@PATH=/usr/bin:/bin:/usr/sbin:/sbin tools/module.sh '$(if $(findstring command line,$(origin PATH)),$(PATH))'

clean: ## remove what the build made; results stay
	rm -rf bin
	$(GO) clean ./...

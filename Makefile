# Two commands for a fresh machine, `make quickstart` and `make test`; a few short ones for every day.
.PHONY: quickstart test test-long test-all verify-shipped setup setup-cuda build checker configure generate docs screenshot format tidy sanitize fuzz bench bench-table install package wheel sdist release gpu-check gpu-bundle clean

# TORCH=2.15.0 builds and tests with another LibTorch than the default, in a folder of its own.
default = $(shell sed -n 's/^set(DDPTRAIN_TORCH_DEFAULT \(.*\))$$/\1/p' cmake/LibTorch.cmake)
torch = $(if $(TORCH),$(filter-out $(default),$(TORCH)))
BUILD ?= build$(addprefix -torch-,$(torch))
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
DEVICE ?= cuda
CTEST = ctest --test-dir $(BUILD) -j $(JOBS) --output-on-failure --timeout 7200  # for what hangs

# CMake refuses the cache of another folder, as in a moved or copied checkout: then configure from scratch.
home = $$(realpath -q "$$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' $(1)/CMakeCache.txt 2>/dev/null)")
fresh = $(shell [ ! -e $(1)/CMakeCache.txt ] || [ "$(home)" = "$$(pwd -P)" ] || echo --fresh)

quickstart: build          ## set up, build, and train on synthetic data with two ranks
	$(BUILD)/ddptrain data make shapes data/shapes
	$(BUILD)/ddptrain run configs/quickstart.yaml

test: configure            ## set up, build and run the tests; not those of label long (CONTRIBUTING.md)
	ninja -C $(BUILD) -j $(JOBS) short_tests
	$(CTEST) --label-exclude long

test-long: configure       ## build and run those of label long
	ninja -C $(BUILD) -j $(JOBS)
	$(CTEST) --label-regex long

test-all: test test-long   ## every test (half an hour)

verify-shipped: build      ## `ddptrain verify` of every shipped recipe on synthetic data (minutes)
	scripts/verify-shipped --program $(BUILD)/ddptrain

setup:                     ## packages and LibTorch; fetches nothing that is there
	@TORCH=$(torch) scripts/setup

setup-cuda:                ## that, and CUDA's libraries for a machine with NVIDIA GPUs (2.2 GB)
	@TORCH=$(torch) scripts/setup --cuda

configure: setup
	@cmake $(call fresh,$(BUILD)) --preset release -B $(BUILD) -DTORCH=$(torch) $(CMAKE_FLAGS) > $(BUILD).log 2>&1 || (cat $(BUILD).log; exit 1)
	@rm -f $(BUILD).log

build: configure           ## the program alone
	ninja -C $(BUILD) -j $(JOBS) ddptrain

checker:                   ## the program without its engine, in build-checker/: it reads recipes, and needs no LibTorch
	@scripts/setup --checker
	@cmake $(call fresh,build-checker) --preset checker > build-checker.log 2>&1 || (cat build-checker.log; exit 1)
	@rm -f build-checker.log
	ninja -C build-checker -j $(JOBS) ddptrain

install: build             ## a tree that may be moved to any machine with this C library
	cmake --install $(BUILD) --prefix $(PREFIX) --strip

package: build             ## that tree as a tarball
	scripts/package $(BUILD)

wheel: setup-cuda build checker    ## the wheels ddptrain and ddptrain-check, in $(BUILD)/wheels
	scripts/wheel $(BUILD) --checker build-checker

sdist:                     ## the source distribution, in build/sdist
	scripts/sdist build/sdist

release: setup-cuda build checker  ## every artifact of a release in $(BUILD)/release: wheels, sdist, tarball, SBOM, SHA256SUMS
	scripts/release $(BUILD) build-checker $(BUILD)/release

gpu-check: configure       ## checks on a machine with an NVIDIA GPU (docs/gpu.md); SLOT=3 runs one slot, DEVICE=simulated needs no GPU
	ninja -C $(BUILD) -j $(JOBS) ddptrain test_gpu
	scripts/gpu-check --device $(DEVICE) --program $(BUILD)/ddptrain --tests $(BUILD)/tests/test_gpu --out $(BUILD) $(if $(SLOT),--slot $(SLOT))

gpu-bundle: configure      ## a folder and a tarball that run gpu-check on another machine with the same torch
	ninja -C $(BUILD) -j $(JOBS) ddptrain test_gpu
	scripts/gpu-bundle $(BUILD)

generate: build            ## the files that are made from the declarations of components, verbs and problems
	$(BUILD)/ddptrain schema --components > schemas/components.json.new && mv schemas/components.json.new schemas/components.json
	ninja -C $(BUILD) ddptrain
	$(BUILD)/ddptrain schema > schemas/recipe.json.new && mv schemas/recipe.json.new schemas/recipe.json
	$(BUILD)/ddptrain schema --reference > docs/reference.md.new && mv docs/reference.md.new docs/reference.md
	$(BUILD)/ddptrain help error --markdown > docs/problems.md.new && mv docs/problems.md.new docs/problems.md
	$(BUILD)/ddptrain help --man > docs/ddptrain.1.new && mv docs/ddptrain.1.new docs/ddptrain.1

docs:                      ## the documentation site, in build-docs/site (needs PyPI)
	scripts/docs

screenshot: build          ## docs/terminal.svg, the image in README.md (needs PyPI)
	scripts/screenshot $(BUILD)

format:                    ## clang-format on every source
	clang-format -i $$(git ls-files '*.cpp' '*.h' '*.cu')

tidy: setup                ## clang-tidy on the torch-free folders
	cmake $(call fresh,build-tidy) --preset tidy > /dev/null
	cmake --build --preset tidy -j $(JOBS) -- -k 0

sanitize: setup            ## the torch-free tests under ASan and UBSan, then under TSan
	for preset in debug tsan; do \
	  cmake --preset $$preset > /dev/null && cmake --build --preset $$preset -j $(JOBS) && ctest --preset $$preset || exit 1; \
	done

fuzz: setup                ## every program of tests/fuzz for a minute
	JOBS=$(JOBS) scripts/fuzz

bench: setup
	cmake --preset release -B $(BUILD) -DTORCH=$(torch) -DDDPTRAIN_BENCH=ON
	ninja -C $(BUILD) -j $(JOBS)

bench-table: bench         ## measure rows for at most 40 minutes and write the table of bench/README.md
	bench/table.py --build $(BUILD) $(if $(DDPTRAIN_DATA),--data $(DDPTRAIN_DATA)/imagenette2-224)

clean:
	rm -rf $(BUILD)

# make [V=1] [BUILD=dir] [SAN=address,undefined|thread] [WERROR=1] [CROSS=s390x] [STATIC=1]
# Programs, tests and benchmarks of blkcast. The caller's CFLAGS, CPPFLAGS and LDFLAGS are kept.
#
#   make              build everything, install nothing
#   make demo         the main job on real I/O, packages included
#   make check        the fast tests, in two to three minutes: style, units, commands
#   make test         all tests (the static agent's: test-static); ends with "N passed, N failed, N skipped".
#                     BLKCAST_JOBS=N: so many at once, for one more than there are processors;
#                     BLKCAST_REQUIRE=bpf,loop,vm: what lacks one of these kinds of tests/support/features.h fails, and
#                     is not skipped; BLKCAST_AGAIN=1: a failed test runs once more, and is named as unsteady
#   make test-vm      the sources in guests: other kernels, s390x; test-vm-asan some of them under the sanitizers
#   make test-s390x   what both byte orders share, cross-built and emulated
#   make bench        the benchmarks' figures, each against its peer of the same run
#   make case-studies dbench, postmark, pgbench and db_bench characterized, mimicked, migrated, consolidated
#   make case-arch    file and mail server on a volume of this machine, measured and predicted
#   make estimates    migrations, consolidations, headroom and scenarios estimated, then really run (as root, 18 minutes)
#   make study-applications  applications predicted by a simulated device, then really run there (as root, an hour;
#                     SHORT=1: twelve minutes)
#   make study-clients      six applications with twice their clients, predicted and really run, after study-applications
#   make study-consolidation  pairs of applications on one storage, and more clients of one, predicted and really run
#                     (as root, 12 minutes)
#   make study-here   models of this machine's disk, interference and capacity, refitted from docs/studies
#                     (DIRECTORY=/mnt/test DEVICE=sdb: measured anew first, 80 minutes, as root)
#   make qpn-study    the storage models on two simulated arrays: errors beside the thesis's
#   make endurance    hours: every crash point, error, crash state and bit; KILLS=10000 random kills; a million
#                     windows; an hour at full load; half an hour under the thread sanitizer; with
#                     SHORT=1 each of these for some seconds
#   make fleet        a cluster of three serves, PostgreSQL and Ceph under faults (as root, two to
#                     three hours; SHORT=1: five minutes); ends with "N acknowledged, 0 lost, 0 doubled"
#   make coverage     branches of spool, account and segment decoder that the tests take
#   make check-asan   the tests under AddressSanitizer and UBSan; check-tsan likewise
#   make fuzz         every fuzz target (or FUZZ="segment http") for FUZZ_SECONDS=60 each, or FUZZ_RUNS=20000000;
#                     FUZZ=hostile: random valid segments with extreme values through the commands
#   make check-valgrind  the tests of the decoders and the fuzz corpora under valgrind
#   make check-msan   the fuzz corpora of the decoders under MemorySanitizer
#   make install      DESTDIR= PREFIX=/usr/local
#   make bundle       a tar of the agent with all its libraries: [CROSS=s390x]
#   make static       the agent as one file that needs nothing else: build/static/blkcast-agent [CROSS=s390x]
#   make test-static  the same for x86-64 and s390x, tested in a folder and in guests
#   make deb          the Debian packages blkcast-agent and blkcast, under build/
#   make test-deb     the packages checked, installed, upgraded and purged in a fresh Debian 12
#   make schemas      docs/*.schema.json anew, from the readers' tables
#   make style        clang-format and the style checks
#   make compile_commands.json   for clangd and clang-tidy

VERSION := 0.1.0
BUILD   ?= build$(if $(CROSS),/$(CROSS))
PREFIX  ?= /usr/local
CC      ?= cc
CLANG   ?= clang
PKG_CONFIG := pkg-config
BPFTOOL ?= $(or $(shell command -v bpftool 2>/dev/null),/usr/sbin/bpftool)
CFLAGS  ?= -O2 -g

PKGS := libpq libbpf libelf libzstd msgpack libxxhash libcurl libmicrohttpd gnutls nettle jansson yaml-0.1 \
	sqlite3 ncursesw libcap libseccomp openblas lapacke gsl libxml-2.0 blkid zlib
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wformat=2
MISSING_HINT := scripts/deps.sh build installs them

# For another architecture: its compiler, and headers, libraries and bpftool out of its packages.
# bpftool writes skeletons for its own byte order only, so that one runs under emulation.
ifneq ($(CROSS),)
SYSROOT := $(shell scripts/sysroot.sh $(CROSS))
EMULATE := qemu-$(CROSS)-static -L $(SYSROOT)
CC      := $(CROSS)-linux-gnu-gcc --sysroot=$(SYSROOT)
AR      := $(CROSS)-linux-gnu-ar
BPFTOOL := $(EMULATE) $(SYSROOT)/usr/sbin/bpftool
PKG_CONFIG := PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) pkg-config
PKG_CONFIG := PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(CROSS)-linux-gnu/pkgconfig:$(SYSROOT)/usr/share/pkgconfig $(PKG_CONFIG)
$(if $(SYSROOT),,$(error no headers and libraries of $(CROSS): scripts/deps.sh vm installs the compiler, scripts/sysroot.sh fetches them))
endif

# The agent as one file (make static): two libraries as scripts/static-libs.sh builds them, the
# archives of Debian's own packages for all others. The linker warns of dlopen(3), which OpenSSL would
# call for engines, and of getaddrinfo(3): agent/main.c says why that loads nothing. On s390x it has a
# fixed place: even an empty program that can be loaded anywhere crashes there before main().
ifneq ($(STATIC),)
STATIC_LIBS := $(shell scripts/static-libs.sh $(or $(CROSS),$(shell dpkg --print-architecture)) $(SYSROOT))
$(if $(STATIC_LIBS),,$(error no static libraries: scripts/deps.sh static installs what scripts/static-libs.sh needs))
override CPPFLAGS += -DBLKCAST_STATIC -I$(STATIC_LIBS)/include
override LDFLAGS  += $(if $(CROSS),-static -no-pie,-static-pie) -s -Wl,--no-warnings -L$(STATIC_LIBS)/lib
LDLIBS := -lbpf -lelf -lzstd -lmsgpackc -lxxhash -lcurl -lssl -lcrypto -lmicrohttpd -lnettle -ljansson -lyaml \
	-lncursesw -ltinfo -lcap -lseccomp -lz -lm
endif

# Targets that do not compile by themselves: packages are looked at by the make they start.
NOBUILD := clean demo endurance static test-static check check-valgrind check-msan test test-vm test-vm-asan test-s390x bench fuzz deps style help
ifneq ($(filter-out $(NOBUILD),$(or $(MAKECMDGOALS),all)),)
missing := $(strip $(foreach p,$(PKGS),$(shell $(PKG_CONFIG) --exists $(p) 2>/dev/null || echo $(p))))
$(if $(missing),$(error missing libraries: $(missing); $(MISSING_HINT)))
endif

override CPPFLAGS += -I. -I$(BUILD)/gen -D_GNU_SOURCE -DBLKCAST_VERSION='"$(VERSION)"' \
	-MMD -MP $(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null)
# Fuzzed code has smaller buffers and tables: their ends are reached, and an input costs no page faults.
# FUZZ_SHIPPED=1 leaves them as they are shipped: a tenth of each target's inputs run so.
override CPPFLAGS += $(if $(FUZZ_SHIPPED),,$(if $(findstring fuzzer,$(SAN)),-DPAIRING_MAX_HELD=64u -DFOREIGN_LINE_MAX=16384u \
	-DFOREIGN_READ_BYTES=4096u))
override CFLAGS   += -std=gnu11 $(WARN) $(if $(WERROR),-Werror) -ffp-contract=off -pthread \
	$(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer)
# Functions of ours must not take the place of those of libraries that have the same name (libkrb5, which libpq
# loads, has profile_release() as well): none of ours is visible to them.
override LDFLAGS  += -Wl,--exclude-libs,libblkcast.a:libanalyzer.a:libagent.a:libslow.a
override LDFLAGS  += -pthread -Wl,--as-needed,-z,relro,-z,now $(if $(SAN),-fsanitize=$(SAN))
LDLIBS += $(if $(STATIC),,$(shell $(PKG_CONFIG) --libs $(PKGS) 2>/dev/null)) -lm

ifeq ($(V),1)
Q   :=
msg :=
else
Q   := @
msg  = @printf '  %-6s %s\n' $(1) $(2);
MAKEFLAGS += --no-print-directory
endif

comma := ,
objs = $(patsubst %.c,$(BUILD)/%.o,$(1))

# What uses MPI is a shared object, which is built where OpenMPI is; blkcast loads it under mpirun and srun.
mpi_src      := analyzer/models/num/ranks_mpi.c
has_mpi      := $(if $(CROSS)$(STATIC),,$(shell $(PKG_CONFIG) --exists ompi-c 2>/dev/null && echo yes))
lib_src      := $(sort $(wildcard base/*.c base/*/*.c formats/*.c formats/*/*.c workload/*.c))
agent_src    := $(sort $(filter-out agent/main.c,$(wildcard agent/*.c agent/*/*.c agent/*/*/*.c)))
analyzer_src := $(sort $(filter-out analyzer/main.c $(mpi_src),$(shell find analyzer -name "*.c")))
slow_src     := $(sort $(wildcard tests/literal/*.c tests/support/*.c)) \
		$(sort $(filter-out %/main.c,$(wildcard tests/system-under-study/*.c)))
vm_tools     := known_load refuse_bpf log_call
bpf_src      := $(sort $(wildcard bpf/*.bpf.c))
unit_src     := $(sort $(wildcard tests/unit/*/test_*.c))
bench_src    := $(sort $(wildcard tests/bench/bench_*.c))
fuzz_src     := $(sort $(wildcard tests/fuzz/fuzz_*.c))
tool_src     := $(sort $(wildcard tests/vm/*.c tests/system/*.c scripts/*.c))

lib      := $(BUILD)/libblkcast.a
agentlib := $(BUILD)/libagent.a
anlib    := $(BUILD)/libanalyzer.a
slowlib  := $(BUILD)/libslow.a
skels    := $(patsubst bpf/%.bpf.c,$(BUILD)/gen/bpf/%.skel.h,$(bpf_src))
programs := $(if $(wildcard agent/main.c),$(BUILD)/blkcast-agent) \
	    $(if $(wildcard analyzer/main.c),$(BUILD)/blkcast) $(if $(has_mpi),$(BUILD)/libblkcast-mpi.so)
unit     := $(patsubst %.c,$(BUILD)/%,$(unit_src))
# The unit tests of these names, in whatever room of tests/unit they are; % stands for the rest of a name.
unit_named = $(foreach u,$(unit),$(if $(filter $(1),$(patsubst test_%,%,$(notdir $(u)))),$(u)))
benches  := $(patsubst %.c,$(BUILD)/%,$(bench_src))
fuzzers  := $(patsubst %.c,$(BUILD)/%,$(fuzz_src))
tool_bin := $(patsubst %.c,$(BUILD)/%,$(tool_src))
tools    := $(tool_bin) $(addprefix $(BUILD)/tests/system-under-study/,first second)

.PHONY: all programs tests benches deps check check-only test test-only test-vm test-vm-asan guests test-s390x test-emulated emulated emulated-small \
	fleet fleet-only bench bench-only case-arch case-studies estimates study-applications study-clients study-consolidation study-here qpn-study demo endurance endurance-only endurance-threads coverage coverage-only \
	check-asan check-tsan check-msan msan-only \
	fuzz fuzz-build fuzz-only check-valgrind \
	static static-only test-static bundle install uninstall deb test-deb schemas style help clean
.DELETE_ON_ERROR:
.SECONDARY:

all: programs

programs: $(programs)

tests: $(programs) $(unit) $(tools)

benches: $(programs) $(benches) $(addprefix $(BUILD)/tests/system/,make_hostile segment_sender)

$(lib): $(call objs,$(lib_src))
$(agentlib): $(call objs,$(agent_src))
$(anlib): $(call objs,$(analyzer_src))
$(slowlib): $(call objs,$(slow_src))

$(BUILD)/%.a:
	$(call msg,AR,$@)
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/%.o: %.c
	$(call msg,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

# Style and script of the report page, taken in by the assembler: make cannot see them otherwise.
$(BUILD)/analyzer/answer/page_assets.o: analyzer/answer/page.css analyzer/answer/page.js

# The files of the live page likewise. A browser fetches two files of joined modules: what the first view needs, and the
# other views.
page_dir  := analyzer/serve/page
page_gen  := $(BUILD)/gen/page
page_join := scripts/join-modules.awk
page_main := $(addprefix $(page_dir)/,words.mjs tools.mjs charts.mjs fleet.mjs main.mjs)
page_rest := $(addprefix $(page_dir)/,access.mjs keep.mjs found.mjs device.mjs objectives.mjs question.mjs saved.mjs)
$(BUILD)/$(page_dir)/page_files.o: $(wildcard $(page_dir)/*.* $(page_dir)/uplot/*) $(page_gen)/main.mjs $(page_gen)/views.mjs
$(BUILD)/$(page_dir)/page_files.o: override CPPFLAGS += -DPAGE_JOINED='"$(page_gen)"'
$(page_gen)/main.mjs: $(page_main) $(page_join)
	$(call msg,JOIN,$@)
	$(Q)mkdir -p $(@D) && awk -v rest=views.mjs -f $(page_join) $(page_main) > $@.part && mv $@.part $@
$(page_gen)/views.mjs: $(page_rest) $(page_join)
	$(call msg,JOIN,$@)
	$(Q)mkdir -p $(@D) && awk -v base=main.mjs -f $(page_join) $(page_rest) > $@.part && mv $@.part $@

$(BUILD)/analyzer/store/engine/cluster_schema.o: docs/cluster.sql

$(BUILD)/analyzer/measure/shell.o: $(wildcard analyzer/measure/shell/*.sh)

# The kernel side: CO-RE objects for the byte order of the target, embedded by a skeleton header.
# clang says x86_64-pc-linux-gnu where Debian's folders are x86_64-linux-gnu.
MULTIARCH  := $(subst -pc-,-,$(shell $(CC) -dumpmachine))
BPF_TARGET := $(if $(findstring s390x,$(shell $(CC) -dumpmachine)),bpfeb,bpfel)
$(BUILD)/gen/bpf/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h)
	$(call msg,BPF,$<)
	$(Q)mkdir -p $(@D) && $(CLANG) -O2 -g -target $(BPF_TARGET) -mcpu=v3 -Wall -Wextra \
		-Wno-unused-parameter $(if $(WERROR),-Werror) -I. -isystem $(SYSROOT)/usr/include/$(MULTIARCH) \
		-c -o $@ $<

$(BUILD)/gen/bpf/%.skel.h: $(BUILD)/gen/bpf/%.bpf.o
	$(call msg,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@

$(call objs,$(agent_src)) $(BUILD)/agent/main.o: | $(skels)

$(BUILD)/blkcast-agent: $(BUILD)/agent/main.o $(agentlib) $(lib)
$(BUILD)/blkcast: $(BUILD)/analyzer/main.o $(anlib) $(lib)
$(BUILD)/blkcast-agent $(BUILD)/blkcast:
	$(call msg,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# Headers of OpenMPI are a system's headers, which our warnings do not concern.
$(call objs,$(mpi_src)): override CPPFLAGS += $(patsubst -I%,-isystem %,$(shell $(PKG_CONFIG) --cflags ompi-c 2>/dev/null))
$(call objs,$(mpi_src)): override CFLAGS += -fPIC
$(BUILD)/libblkcast-mpi.so: $(call objs,$(mpi_src))
	$(call msg,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -shared -o $@ $^ $(shell $(PKG_CONFIG) --libs ompi-c)

# Loops over the rows of a column use the vectors of the processor. No sum changes its order, so
# the results have the same bits as without.
vectors := $(if $(filter -O2,$(CFLAGS)),-O3)
$(call objs,analyzer/models/regression/tree/m5_linear.c analyzer/models/regression/tree/m5_rules.c): override CFLAGS += $(vectors)

# What runs on s390x in make test does without the analyzer, which is half of what there is to compile.
small_units := $(patsubst %,$(BUILD)/tests/unit/%,$(shell sed '/^\#/d' tests/byte-order))
small       := $(small_units) $(BUILD)/tests/system/segment_golden $(vm_tools:%=$(BUILD)/tests/vm/%)
$(small): $(BUILD)/%: $(BUILD)/%.o $(slowlib) $(agentlib) $(lib)
# The agent with another source in place of those in its library.
$(BUILD)/tests/system/synthetic_agent: $(BUILD)/agent/main.o
$(filter-out $(small),$(unit) $(benches) $(tool_bin)): $(BUILD)/%: $(BUILD)/%.o $(slowlib) $(agentlib) $(anlib) $(lib)
$(unit) $(benches) $(tool_bin):
	$(call msg,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# One simulator, two systems: what differs is compiled in.
sus_src := $(wildcard tests/system-under-study/*.c)
$(BUILD)/second/%.o: %.c
	$(call msg,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) -DSUS_SECOND $(CFLAGS) -c -o $@ $<
$(BUILD)/tests/system-under-study/first: $(call objs,$(sus_src)) $(anlib) $(lib)
$(BUILD)/tests/system-under-study/second: $(patsubst %.c,$(BUILD)/second/%.o,$(sus_src)) $(anlib) $(lib)
$(addprefix $(BUILD)/tests/system-under-study/,first second):
	$(call msg,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# Tests in which chosen system calls and allocations of ours fail or kill: tests/support/faulty_calls.h.
FAULTY_CALLS := open openat write writev read fsync syncfs close renameat renameat2 unlinkat mkdir mkdirat fstat fstatat \
	posix_fallocate mmap munmap msync malloc calloc realloc reallocarray strdup \
	account_seal_stream account_seal_capture
faulty := $(call unit_named,spool_faults spool_crash ingest_faults ingest_commit random_kills every_call \
		store_calls retain)
$(faulty): override LDFLAGS += $(addprefix -Wl$(comma)--wrap=,$(FAULTY_CALLS))
# Tests with a clock of their own: tests/support/fast_clock.h.
FAST_CALLS := clock_gettime poll pthread_cond_wait pthread_cond_signal
$(call unit_named,many_windows stall_memory): override LDFLAGS += $(addprefix -Wl$(comma)--wrap=,$(FAST_CALLS))
$(call unit_named,source_blktrace): override LDFLAGS += -Wl,--wrap=clock_gettime -Wl,--wrap=pread

deps:
	$(Q)scripts/deps.sh build test

# What a test of the sources in guests needs besides: QEMU, and the agent for s390x.
vm_wanted := $(filter vm,$(subst $(comma), ,$(BLKCAST_REQUIRE)))
test:
	$(Q)scripts/deps.sh build test $(if $(vm_wanted),vm)
	$(Q)+$(if $(vm_wanted),$(MAKE) CROSS=s390x guests)
	$(Q)+$(MAKE) test-only

test-vm:
	$(Q)scripts/deps.sh build test vm
	$(Q)+$(MAKE) tests
	$(Q)+$(MAKE) CROSS=s390x guests
	$(Q)BLKCAST_REQUIRE=vm BUILD=$(BUILD) scripts/run-tests.sh $(wildcard tests/vm/*.sh)

# The agent runs with AddressSanitizer and UBSan in guests: each source, four kernels, both byte orders, pauses, clocks
# that are set, a disk that goes, what the kernel refuses and what its trace loses. Left out are the guests of static
# programs, which no sanitizer is in, and the slowest ones of s390x.
vm_asan := amd64 amd64-5.10 amd64-6.12 amd64-no-bpf amd64-locked-down amd64-integrity amd64-seccomp amd64-buffered \
	amd64-hot-plug amd64-pauses amd64-time blktrace-losses s390x
test-vm-asan: export UBSAN_OPTIONS ?= print_stacktrace=1:halt_on_error=1:exitcode=99
test-vm-asan: export ASAN_OPTIONS ?= exitcode=99
test-vm-asan:
	$(Q)scripts/deps.sh build test vm
	$(Q)+$(MAKE) BUILD=$(BUILD)/asan SAN=address,undefined programs $(vm_tools:%=$(BUILD)/asan/tests/vm/%) \
		$(BUILD)/asan/tests/system/capture
	$(Q)+$(MAKE) CROSS=s390x BUILD=$(BUILD)/asan/s390x SAN=address,undefined $(BUILD)/asan/s390x/blkcast-agent \
		$(vm_tools:%=$(BUILD)/asan/s390x/tests/vm/%)
	$(Q)BLKCAST_REQUIRE=vm BLKCAST_JOBS=1 BUILD=$(BUILD)/asan scripts/run-tests.sh $(vm_asan:%=tests/vm/%.sh)

# What goes into guests, and what is run by the user-mode emulator.
guests: $(BUILD)/blkcast-agent $(vm_tools:%=$(BUILD)/tests/vm/%) emulated-small

test-only: tests
	$(Q)BUILD=$(BUILD) scripts/run-tests.sh $(TESTS)

check:
	$(Q)scripts/deps.sh build test
	$(Q)+$(MAKE) check-only
check-only: tests
	$(Q)BUILD=$(BUILD) scripts/run-tests.sh --fast

# The tests of what both byte orders share, built for s390x and run by the user-mode emulator; the
# analyzer's own numerics take minutes there and have no byte order. tests/vm/s390x-formats.sh, a part of make
# test, runs those of them that tests/byte-order lists.
emulated     := $(BUILD)/emulated
emulated_src := $(if $(CROSS),$(shell grep -L '"analyzer/' $(unit_src)))
test-s390x:
	$(Q)scripts/deps.sh build test vm
	$(Q)+$(MAKE) CROSS=s390x test-emulated

test-emulated: emulated
	$(Q)BLKCAST_REQUIRE= BLKCAST_EMULATED=1 BUILD=$(emulated) scripts/run-tests.sh \
		$(patsubst %.c,$(emulated)/%,$(emulated_src)) tests/cli/segment-golden.sh

# Each program and test as a script that starts it under the emulator: all, or what s390x-formats.sh runs.
emulated: $(programs) $(patsubst %.c,$(BUILD)/%,$(emulated_src)) $(tools)
emulated-small: $(small)
emulated emulated-small:
	$(Q)for p in $(patsubst $(BUILD)/%,%,$^); do \
		mkdir -p $$(dirname $(emulated)/$$p); \
		printf '#!/bin/sh\nexec %s %s "$$@"\n' "$(EMULATE)" "$(abspath $(BUILD))/$$p" \
			>$(emulated)/$$p && chmod +x $(emulated)/$$p; \
	done

# A cluster under faults, and the proof that its rig finds losses.
fleet:
	$(Q)scripts/deps.sh build test
	$(Q)+$(MAKE) fleet-only
fleet-only: programs $(addprefix $(BUILD)/tests/system/,fleet_sender segment_sender synthetic_agent)
	$(Q)$(if $(SHORT),,BUILD=$(BUILD) tests/cluster/scale.sh)
	$(Q)SHORT=$(SHORT) BUILD=$(BUILD) tests/cluster/fleet.sh docs/studies/fleet/results.md

bench:
	$(Q)scripts/deps.sh build test bench
	$(Q)+$(MAKE) bench-only

case-studies: programs
	$(Q)scripts/deps.sh build case
	$(Q)scripts/case-studies.sh $(BUILD)/case-studies

case-arch: programs $(BUILD)/tests/system/fileops
	$(Q)scripts/case-arch.sh $(BUILD)/case-arch

estimates: programs
	$(Q)scripts/deps.sh case
	$(Q)scripts/estimates.sh $(BUILD)/estimates

study-applications: programs $(BUILD)/tests/system/fileops
	$(Q)scripts/deps.sh case
	$(Q)scripts/study-applications.sh $(BUILD)/study-applications $(APPS)

study-clients: programs $(BUILD)/tests/system/fileops
	$(Q)scripts/study-clients.sh $(BUILD)/study-applications $(APPS)

study-consolidation: programs $(BUILD)/tests/system/fileops
	$(Q)scripts/deps.sh case
	$(Q)scripts/study-consolidation.sh $(BUILD)/study-consolidation $(APPS)
	$(Q)scripts/study-headroom.sh $(BUILD)/study-consolidation

study-here: programs
	$(Q)scripts/studies.sh $(BUILD)/studies $(DIRECTORY) $(DEVICE)

qpn-study: programs $(tools)
	$(Q)BUILD=$(BUILD) tests/system-under-study/run.sh first
	$(Q)BUILD=$(BUILD) tests/system-under-study/run.sh second

bench-only: benches
	$(Q)BUILD=$(BUILD) scripts/bench.sh $(BENCHES)

demo:
	$(Q)scripts/deps.sh build demo
	$(Q)+$(MAKE) programs
	$(Q)BUILD=$(BUILD) scripts/demo.sh

# Every point where the tests proper visit a sample, and random kills of either side. SHORT=1: whether all
# parts of it run.
ifdef SHORT
KILLS ?= 15
every_point    :=
endure_seconds := 15
tsan_seconds   := 10
else
KILLS ?= 10000
every_point    := BLKCAST_ENDURANCE=1
endure_seconds := 3600
tsan_seconds   := 1800
endurance-only endurance-threads: export BLKCAST_TEST_LIMIT := 86400
endif
endurance:
	$(Q)scripts/deps.sh build test
	$(Q)+$(MAKE) endurance-only
endurance-only: tests
	$(Q)$(every_point) KILLS=$(KILLS) BUILD=$(BUILD) scripts/run-tests.sh \
		$(faulty) $(call unit_named,spool_backlog many_windows)
	$(Q)KILLS=$(KILLS) PAUSE_MS=60 SPREAD_MS=60 BUILD=$(BUILD) scripts/run-tests.sh \
		tests/system/serve-kill.sh tests/system/agent-spool-kill.sh
	$(Q)KILL_LOADS=30 KILLS=15 BUILD=$(BUILD) scripts/run-tests.sh tests/system/agent-spool-kill.sh
	$(Q)ENDURE_SECONDS=$(endure_seconds) ENDURE_IOPS=20000 BUILD=$(BUILD) scripts/run-tests.sh tests/system/agent-endure.sh
	$(Q)+$(MAKE) BUILD=$(BUILD)/tsan SAN=thread endurance-threads

# Half an hour of agent and serve, with all their threads, under the thread sanitizer.
endurance-threads: programs $(addprefix $(BUILD)/tests/system/,capture segment_sum)
	$(Q)ENDURE_SECONDS=$(tsan_seconds) BUILD=$(BUILD) scripts/run-tests.sh tests/system/agent-endure.sh

coverage:
	$(Q)+$(MAKE) BUILD=$(BUILD)/coverage CFLAGS="-O0 -g --coverage -DBLKCAST_COVERAGE" LDFLAGS="$(LDFLAGS) --coverage" coverage-only
coverage-only: $(faulty) $(call unit_named,spool account account_bounds account_half segment \
		segment_header column sink_http store store_journal golden fuzz_corpus)
	$(Q)BUILD=$(BUILD) scripts/coverage.sh $^

# UBSan by itself prints and goes on, and what a program prints fails no test. A report ends a program with 99, because
# by itself it ends with 1, which tests expect of many commands.
check-asan: export UBSAN_OPTIONS ?= print_stacktrace=1:halt_on_error=1:exitcode=99
check-asan: export ASAN_OPTIONS ?= exitcode=99:allocator_may_return_null=1
check-asan:
	$(Q)+$(MAKE) BUILD=$(BUILD)/asan SAN=address,undefined test-only
# Memcheck sees reads of what was never set, which neither sanitizer does.
valgrind_units := $(call unit_named,segment% profile% foreign% formats% fuzz_corpus%)
check-valgrind:
	$(Q)scripts/deps.sh build fuzz
	$(Q)+$(MAKE) $(valgrind_units)
	$(Q)BUILD=$(BUILD) scripts/fuzz.sh --valgrind $(valgrind_units)
check-tsan:
	$(Q)+$(MAKE) BUILD=$(BUILD)/tsan SAN=thread test-only

# MemorySanitizer finds branches on memory that was never set, also in decoders for which valgrind would take hours. A
# library that is not built with it would cause false reports, so tests/fuzz/memory_borders.c stands in for the calls in
# memory_calls and marks what they return as set. The targets need no other such library.
# The decoders of YAML and XML call libyaml and libxml2 all the time, and are left out here: check-valgrind runs the
# inputs of all targets (test_fuzz_corpus, test_fuzz_corpus_files), those of YAML and XML among them.
memory_targets := account blktrace import profile segment spool summary trace_format trace_page
memory_calls := ZSTD_compress ZSTD_compress2 ZSTD_decompressDCtx ZSTD_decompressStream inflate msgpack_unpack_next \
	json_loadb json_dump_callback XXH3_64bits XXH128_canonicalFromHash
check-msan:
	$(Q)scripts/deps.sh build fuzz
	$(Q)+$(MAKE) BUILD=$(BUILD)/msan CC=$(CLANG) SAN=fuzzer-no-link$(comma)memory FUZZ_SHIPPED=1 msan-only
msan-only: $(memory_targets:%=$(BUILD)/tests/fuzz/fuzz_%)
	$(Q)BUILD=$(BUILD) scripts/fuzz.sh --memory $(memory_targets)

# libFuzzer targets: found inputs stay in build/fuzz/corpus, those committed are read beside them.
FUZZ_SECONDS ?= 60
fuzz_san := fuzzer-no-link$(comma)address$(comma)undefined
ifeq ($(FUZZ),hostile)
# Random valid segments through the commands: the programs, built with the sanitizers but not for libFuzzer.
fuzz:
	$(Q)scripts/deps.sh build
	$(Q)+$(MAKE) BUILD=$(BUILD)/asan SAN=address,undefined programs $(BUILD)/asan/tests/system/make_hostile
	$(Q)BUILD=$(BUILD)/asan HOSTILE_SECONDS=$(FUZZ_SECONDS) scripts/fuzz.sh --hostile
else
fuzz:
	$(Q)scripts/deps.sh build fuzz
	$(Q)+$(MAKE) BUILD=$(BUILD)/fuzz/shipped FUZZ_SHIPPED=1 CC=$(CLANG) SAN=$(fuzz_san) fuzz-build
	$(Q)+$(MAKE) BUILD=$(BUILD)/fuzz CC=$(CLANG) SAN=$(fuzz_san) fuzz-only

endif

$(fuzzers:=.o): override CPPFLAGS += -DLLVMFuzzerTestOneInput=fuzz_one_input
$(BUILD)/tests/fuzz/watch.o $(BUILD)/tests/fuzz/memory_borders.o: override CFLAGS += \
	-fno-sanitize=fuzzer-no-link,address,undefined,memory -O2 -fomit-frame-pointer
# These of libFuzzer are called by way of watch.c.
comparisons := cmp1 cmp2 cmp4 cmp8 const_cmp1 const_cmp2 const_cmp4 const_cmp8
fuzz_wrapped := $(comparisons:%=__sanitizer_cov_trace_%) $(if $(findstring memory,$(SAN)),$(memory_calls))
$(fuzzers): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/tests/fuzz/watch.o \
		$(if $(findstring memory,$(SAN)),$(BUILD)/tests/fuzz/memory_borders.o $(agentlib),$(agentlib) $(anlib)) $(lib)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -fsanitize=fuzzer $(fuzz_wrapped:%=-Wl,--wrap=%) -o $@ $^ $(LDLIBS)

fuzz-build: $(if $(FUZZ),$(patsubst %,$(BUILD)/tests/fuzz/fuzz_%,$(FUZZ)),$(fuzzers))
fuzz-only: fuzz-build
	$(Q)BUILD=$(BUILD) FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz.sh $(FUZZ)

static:
	$(Q)scripts/deps.sh build static $(if $(CROSS),vm)
	$(Q)+$(MAKE) BUILD=$(BUILD)/static STATIC=1 static-only
static-only: $(BUILD)/blkcast-agent

test-static: static
	$(Q)scripts/deps.sh test vm
	$(Q)+$(MAKE) tests
	$(Q)+$(MAKE) CROSS=s390x static
	$(Q)+$(MAKE) CROSS=s390x guests
	$(Q)BLKCAST_REQUIRE=static,bpf,loop,vm,certificates,python3 BUILD=$(BUILD) scripts/run-tests.sh $(wildcard tests/*/*static*.sh)

# The agent with all its libraries, for a machine that has none of them.
bundle := $(BUILD)/blkcast-agent-$(VERSION)-$(or $(CROSS),$(shell uname -m)).tar.gz
bundle: $(bundle)
$(bundle): $(BUILD)/blkcast-agent scripts/bundle.sh scripts/elf-libs.sh
	$(call msg,BUNDLE,$@)
	$(Q)scripts/bundle.sh $< "$(SYSROOT)" $@

# What --help and the man pages name lies under share/blkcast by the same relative path as in the sources;
# tests/cli/install-paths.sh holds the texts against what is installed.
shared_files = $(filter-out %/README.md,$(wildcard docs/*.schema.json formats/*.md formats/*/*.md)) formats/request.h analyzer/measure/store.md \
	$(addprefix docs/,architecture.md methods.md qpn-tables.md security.md api.md openapi.yaml cluster.sql) \
	$(shell find docs/examples docs/guide -type f)
install: programs
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/sbin \
		$(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man8
	install -m 755 $(BUILD)/blkcast $(DESTDIR)$(PREFIX)/bin/
	install -m 755 $(BUILD)/blkcast-agent $(DESTDIR)$(PREFIX)/sbin/
	if [ -e $(BUILD)/libblkcast-mpi.so ]; then \
		install -D -m 644 $(BUILD)/libblkcast-mpi.so $(DESTDIR)$(PREFIX)/lib/blkcast/libblkcast-mpi.so; fi
	install -m 644 docs/*.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 644 docs/*.8 $(DESTDIR)$(PREFIX)/share/man/man8/
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/blkcast/monitoring
	for c in blkcast blkcast-agent; do install -m 644 scripts/package/completion/blkcast \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/$$c || exit 1; done
	install -m 644 scripts/package/monitoring/* $(DESTDIR)$(PREFIX)/share/blkcast/monitoring/
	for f in $(shared_files); do \
		if [ -x "$$f" ]; then mode=755; else mode=644; fi; \
		install -D -m $$mode "$$f" "$(DESTDIR)$(PREFIX)/share/blkcast/$$f" || exit 1; done
	install -D -m 755 scripts/certs.sh $(DESTDIR)$(PREFIX)/share/blkcast/scripts/certs.sh

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/blkcast $(DESTDIR)$(PREFIX)/sbin/blkcast-agent \
		$(DESTDIR)$(PREFIX)/lib/blkcast/libblkcast-mpi.so
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/share/man/man1/,$(notdir $(wildcard docs/*.1)))
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/share/man/man8/,$(notdir $(wildcard docs/*.8)))
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/share/bash-completion/completions/,blkcast blkcast-agent)
	rm -rf $(addprefix $(DESTDIR)$(PREFIX)/share/blkcast/,analyzer docs formats scripts monitoring)

deb: programs
	$(Q)scripts/deps.sh deb
	$(Q)BUILD=$(BUILD) VERSION=$(VERSION) scripts/mkdeb.sh

test-deb: deb
	$(Q)scripts/deps.sh deb test-deb
	$(Q)BUILD=$(BUILD) VERSION=$(VERSION) scripts/test-deb.sh

# The schemas of the files that people write, from the tables of their readers.
schemas: $(BUILD)/scripts/write_schema
	$(Q)for name in $$($<); do $< $$name >docs/$$name.schema.json || exit 1; done

style:
	$(Q)scripts/check-borders.sh && scripts/check-style.sh

help:
	@sed -n '2,/^$$/s/^# \{0,1\}//p' Makefile

# What clangd and clang-tidy read: the command of every C file, from make's own words.
compile_commands.json:
	$(Q)$(MAKE) -Bn V=1 programs 2>/dev/null | scripts/compile-commands.sh > $@

clean:
	$(Q)rm -rf $(BUILD)

-include $(patsubst %.o,%.d,$(call objs,$(lib_src) $(agent_src) agent/main.c $(analyzer_src) \
	analyzer/main.c $(slow_src))) $(addsuffix .d,$(unit) $(benches) $(tool_bin) $(fuzzers)) \
	$(patsubst %.c,$(BUILD)/second/%.d,$(sus_src)) $(BUILD)/tests/system-under-study/main.d

#!/usr/bin/env bash
# The borders between folders; speaks TAP.
#
# `layers` is the one list of folders, in the order in which data flows and knowledge grows. A file may
# include headers of its own folder and of every folder above it in the list, and of no other. The
# exceptions that the list cannot say stand below it as patterns of their own.
cd "$(dirname "$0")/.." || exit 2

layers="
base/memory base/text base/system base/data
bpf
formats formats/profile formats/segment formats/account formats/summary formats/foreign formats/hide
workload
agent/guest agent/confine agent/show agent/spool agent/send
agent/source agent/source/bpf agent/source/blktrace agent/source/tracefs agent/capture agent
analyzer/answer
analyzer/models/num
analyzer/models/regression/table analyzer/models/regression/form analyzer/models/regression
analyzer/models/regression/curve analyzer/models/regression/tree analyzer/models/regression/choice
analyzer/models/regression/use
analyzer/models/net analyzer/models/sim analyzer/models/solve
analyzer/models/storage/fit analyzer/models/storage/net analyzer/models/storage/calibration
analyzer/models/storage/device
analyzer/models/arch analyzer/models/arch/pcm analyzer/models/arch/ask
analyzer/store/index analyzer/store/engine analyzer/store analyzer/store/folder
analyzer/store/intake analyzer/store/cluster analyzer/store/scan analyzer/store/ask
analyzer/store/check
analyzer/characterize analyzer/exchange analyzer/keep analyzer/measure
analyzer/replay
analyzer/whatif/predict analyzer/whatif/study analyzer/whatif/simulate analyzer/whatif/headroom
analyzer/whatif/capacity analyzer/whatif/mix analyzer/whatif/cache analyzer/whatif/scenario
analyzer/report/draw analyzer/report/picture analyzer/report/curve analyzer/report/collect
analyzer/report/fleet analyzer/report/page
analyzer/learn analyzer/question
analyzer/serve/access analyzer/serve/http analyzer/serve/period analyzer/serve/fleet
analyzer/serve/question analyzer/serve/page
analyzer/cmd/cli analyzer/cmd/traces analyzer/cmd/profiles analyzer/cmd/models
analyzer/cmd/questions
analyzer
"

n=0 bad=0
# report NAME FINDINGS: one line of TAP; findings are the lines that break the rule.
report() {
	n=$((n + 1))
	if [ -z "$2" ]; then echo "ok $n - $1"; else
		bad=1
		echo "not ok $n - $1"
		printf '%s\n' "$2" | head -n 20 | sed 's/^/# /'
	fi
}
# without NAME FOLDERS PERL-REGEX: no line of the C files in FOLDERS may match
without() {
	# shellcheck disable=SC2086
	report "$1" "$(grep -rnP --include='*.[ch]' -- "$3" $2 2>/dev/null || true)"
}

report "every folder is in the list of layers" \
	"$(find base bpf formats workload agent analyzer -name '*.[ch]' -printf '%h\n' | sort -u |
		grep -vxF -f <(printf '%s\n' $layers))"

# Skeleton headers are made from bpf/*.bpf.c at build time and count as files of bpf/.
report "a folder includes only itself and the folders above it in the list" \
	"$(grep -rnoE --include='*.[ch]' '^\s*#\s*include\s*"[^"]+"' base bpf formats workload agent analyzer |
		awk -v layers="$layers" '
			BEGIN { nr = split(layers, name, /[ \n]+/); for (i = 1; i <= nr; i++) rank[name[i]] = i }
			{
				file = $0; sub(/:.*/, "", file)
				header = $0; sub(/^[^"]*"/, "", header); sub(/".*/, "", header)
				from = file; sub(/\/[^\/]*$/, "", from)
				to = header; sub(/\/[^\/]*$/, "", to)
				if (!(to in rank) || rank[to] > rank[from]) print
			}')"

inc='^\s*#\s*include\s*'
without "the analyzer never includes the agent or bpf" analyzer "$inc\"(agent|bpf)/"
without "bpf includes only bpf" bpf "$inc\"(?!bpf/)"
without "of bpf, the agent takes event.h and the skeletons only" agent "$inc\"bpf/(?!event\.h|[a-z]+\.skel\.h)"
without "the storages' and nets' models know no trace" analyzer/models \
	"$inc\"(workload|formats/(segment|summary|foreign|account)|analyzer/(store|characterize))/"
without "workload includes of formats only request.h, histogram.h and the profile" workload \
	"$inc\"formats/(?!request\.h|histogram\.h|profile/profile\.h)"
without "workload does no I/O, reads no clock, starts no thread" workload \
	"$inc<(unistd|time|fcntl|stdio|pthread|syslog|sys/.*)\.h>|\b(printf|fprintf|fopen|clock_gettime|gettimeofday)\("
without "there are no mutable globals in base, formats and workload" "base formats workload" \
	'^(static\s+)?(?!const|extern|typedef|return|static const|static inline)(unsigned |signed |struct \w+ |enum \w+ |int |double |char |bool |size_t |u?int\d+_t )\*?\w+(\[[^]]*\])*( = .*)?;$'
echo "1..$n"
exit $bad

#!/usr/bin/env bash
# The borders of docs/style.md 4, checked by grep; speaks TAP.
cd "$(dirname "$0")/.." || exit 2
n=0 bad=0
# without NAME FOLDERS PERL-REGEX: no line of the C files in FOLDERS may match
without() {
	local hits
	n=$((n + 1))
	# shellcheck disable=SC2086
	hits=$(grep -rnP --include='*.[ch]' -- "$3" $2 2>/dev/null || true)
	if [ -z "$hits" ]; then echo "ok $n - $1"; else
		bad=1
		echo "not ok $n - $1"
		printf '%s\n' "$hits" | head -n 20 | sed 's/^/# /'
	fi
}
inc='^\s*#\s*include\s*'
without "the agent never includes the analyzer" agent "$inc\"analyzer/"
without "the analyzer never includes the agent or bpf" analyzer "$inc\"(agent|bpf)/"
without "the agent takes nothing of bpf but event.h and the skeletons" agent \
	"$inc\"bpf/(?!event\.h|[a-z]+\.skel\.h)"
without "formats includes only formats and base" formats "$inc\"(?!formats/|base/)"
without "bpf includes only bpf" bpf "$inc\"(?!bpf/)"
without "workload includes only itself and request.h, histogram.h, profile.h" workload \
	"$inc\"(?!workload/|formats/(request|histogram|profile)\.h)"
without "workload does no I/O, reads no clock, starts no thread" workload \
	"$inc<(unistd|time|fcntl|stdio|pthread|syslog|sys/.*)\.h>|\b(printf|fprintf|fopen|clock_gettime|gettimeofday)\("
without "no mutable globals in formats and workload" "formats workload" \
	'^(static\s+)?(?!const|extern|typedef|return|static const|static inline)(unsigned |signed |struct \w+ |enum \w+ |int |double |char |bool |size_t |u?int\d+_t )\*?\w+(\[[^]]*\])*( = .*)?;$'
echo "1..$n"
exit $bad

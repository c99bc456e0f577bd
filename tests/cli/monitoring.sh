#!/usr/bin/env bash
# The shipped rules and dashboard: promtool takes them, the rules answer as their tests say, and every metric
# and label they name is one that the agent has.
. tests/support/tap.sh
need promtool "promtool is not installed" command -v promtool
need jq "jq is not installed" command -v jq

dir=scripts/package/monitoring
exits 0 "promtool takes the rules" promtool check rules $dir/blkcast.rules.yaml
exits 0 "the rules answer as they should" promtool test rules $dir/blkcast.rules.test.yaml
jq -r '.. | .expr? // empty' $dir/blkcast.dashboard.json >"$T/expressions"
jq -r '.templating.list[].definition? // empty' $dir/blkcast.dashboard.json >>"$T/expressions"
number "$(wc -l <"$T/expressions") >= 10" "the dashboard asks for something"

# Metrics as formats/metrics.md has them; what its own test holds against the agent.
known=$(sed -n 's/^| `\(blkcast_[a-z_]*\)` | \([a-z]*\) .*/\1 \2/p' formats/metrics.md |
	awk '{ print $1 } $2 == "histogram" { print $1 "_bucket"; print $1 "_sum"; print $1 "_count" }' | sort -u)
named() { grep -oE '\bblkcast_[a-z_]+[a-z]' "$@" | sort -u; }
sed '/record:/d; s/[a-z_]*:blkcast_[a-z_]*:[a-z0-9_]*//g' $dir/blkcast.rules.yaml >"$T/rules"
is "$(comm -23 <(cat "$T/expressions" "$T/rules" | named) <(printf '%s\n' "$known"))" "" \
	"every metric that they name is documented"
for m in $(cat "$T/expressions" "$T/rules" | named | sed 's/_bucket$//; s/_sum$//; s/_count$//; s/_total$//; s/_info$//' | sort -u); do
	grep -q "\"$m" agent/show/metrics.c || fail "the agent has $m"
done
# Each expression, with Grafana's own words replaced, is one that Prometheus can read.
{
	printf 'groups:\n- name: dashboard\n  rules:\n'
	jq -r '.. | .expr? // empty' $dir/blkcast.dashboard.json |
		sed 's/\$__rate_interval/5m/g; s/\$[a-z]*/.*/g; s/'"'"'/'"''"'/g' |
		awk '{ printf "  - record: dashboard:expression_%d\n    expr: '"'"'%s'"'"'\n", NR, $0 }'
} >"$T/dashboard.yaml"
exits 0 "Prometheus can read every expression of the dashboard" promtool check rules "$T/dashboard.yaml"
is "$(jq -r '[.panels[].id] | length == (unique | length)' $dir/blkcast.dashboard.json)" true \
	"panels have ids of their own"
done_testing

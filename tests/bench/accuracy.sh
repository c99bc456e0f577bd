#!/usr/bin/env bash
# What blkcast measures beside what fio was told and counted. Needs root, BPF and a loop device.
. tests/support/tap.sh
. tests/loop.sh
need_loop
need_bpf
figure() { printf 'figure\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$5"; }
loop_new 4G

measure() { # fio options; the profile is then in $T/profile.json
	rm -rf "$T/store"
	"$BUILD/blkcast-agent" --device "$loop_name" --sink "file:$T/store" 2>"$T/agent.err" &
	local agent=$!
	sleep 1
	fio_run "$@"
	sleep 0.3
	kill -INT $agent
	wait $agent
	"$BUILD/blkcast" dump --store "$T/store" --format csv -q >"$T/dump.csv"
	# From the first request to the last: the time before and after is not the load's.
	local begin end
	begin=$(sed -n 2p "$T/dump.csv" | cut -d, -f1)
	end=$(tail -n 1 "$T/dump.csv" | cut -d, -f1)
	"$BUILD/blkcast" characterize --store "$T/store" --json -q >"$T/profile.json"
	"$BUILD/blkcast" characterize --store "$T/store" --json -q \
		--begin "@$(awk "BEGIN { printf \"%.3f\", $begin + 0.5 }")" \
		--end "@$(awk "BEGIN { printf \"%.3f\", $end - 0.5 }")" >"$T/inner.json"
}
p() { jq -r ".[0] | $1" "$T/profile.json"; }
inner() { jq -r ".[0] | $1" "$T/inner.json"; }
minus() { awk "BEGIN { d = $1 - $2; printf \"%.0f\", d < 0 ? -d : d }"; }
ratio_error() { awk "BEGIN { d = $1 / $2 - 1; printf \"%.4f\n\", d < 0 ? -d : d }"; }

measure --rw=randrw --rwmixread=70 --bs=4k --iodepth=32 --numjobs=2 --norandommap --runtime=6 --time_based
figure "reads beside fio's, full speed" "$(minus "$(p .requests.read)" "$(fio_get '.jobs[0].read.total_ios')")" \
	difference "<= 0" "$(p .requests.read) reads at $(fio_get '.jobs[0].read.iops + .jobs[0].write.iops | floor') IOPS"
figure "writes beside fio's, full speed" "$(minus "$(p .requests.write)" "$(fio_get '.jobs[0].write.total_ios')")" \
	difference "<= 0" "$(p .requests.write) writes"
figure "bytes beside fio's, full speed" \
	"$(minus "$(p '.bytes.read + .bytes.write')" "$(fio_get '.jobs[0].read.io_bytes + .jobs[0].write.io_bytes')")" \
	difference "<= 0" ""
figure "requests lost, full speed" "$(p .lost)" requests "<= 0" ""
figure "mix 70/30, read share" "$(p '.request_mix.read - 0.7 | if . < 0 then -. else . end')" error "<= 0.005" ""
figure "sequential ratio, uniformly random reads" "$(p .access_pattern.read.sequential_ratio)" ratio "<= 0.02" \
	"4 GiB, fio without its random map (which ends in runs)"
figure "in flight, exact integral beside Little's law" \
	"$(ratio_error "$(inner .intensity.closed.in_flight_mean)" \
		"$(inner '.intensity.open.rate_per_s * ((.response_time.read.total.mean_s * .response_time.read.total.count + .response_time.write.total.mean_s * .response_time.write.total.count) / (.response_time.read.total.count + .response_time.write.total.count))')")" \
	error "<= 0.02" "$(inner .intensity.closed.in_flight_mean) in flight"
figure "bytes of trace per request, random 4 KiB" \
	"$(awk "BEGIN { printf \"%.2f\", $(du -sb "$T/store/segments" | cut -f1) / $(p '.requests.read + .requests.write') }")" \
	bytes "<= 8" "whole store, profiles included"

measure --rw=read --bs=64k --iodepth=4 --numjobs=8 --size=512m --offset_increment=512m --runtime=6 --time_based
figure "sequential ratio, 8 interleaved sequential readers" "$(p .access_pattern.read.sequential_ratio)" ratio ">= 0.97" ""
figure "bytes of trace per request, sequential" \
	"$(awk "BEGIN { printf \"%.2f\", $(du -sb "$T/store/segments" | cut -f1) / $(p '.requests.read + .requests.write') }")" \
	bytes "<= 4" "whole store, profiles included, $(p '.requests.read') requests"

measure --rw=randread:8 --bs=4k --ioengine=psync --norandommap --runtime=4 --time_based
figure "continuing ratio, randread:8, beside 7/8" \
	"$(p '.access_pattern.read.continuing_ratio - 0.875 | if . < 0 then -. else . end')" error "<= 0.02" \
	"$(p .access_pattern.read.continuing_ratio); Algorithm 1 pairs all of a run of 8: $(p .access_pattern.read.sequential_ratio)"

measure --rw=randread --bs=4k --iodepth=8 --norandommap --random_distribution=zoned:60/10:30/20:8/30:2/40 \
	--runtime=4 --time_based
figure "zoned 60/10, share of the busiest tenth" "$(p '.locality.distribution.top_10_ratio - 0.6 | if . < 0 then -. else . end')" \
	error "<= 0.02" "$(p .locality.distribution.top_10_ratio)"
figure "zoned 30/20, share of the busiest fifth" "$(p '.locality.distribution.top_20_ratio - 0.75 | if . < 0 then -. else . end')" \
	error "<= 0.02" "60 + half of 30: $(p .locality.distribution.top_20_ratio)"

measure --rw=randread --bs=4k --iodepth=8 --norandommap --random_distribution=zipf:1.1 --runtime=4 --time_based
figure "zipf, chosen distribution" "$(p .locality.distribution.kind)" "" "" "exponent $(p .locality.distribution.exponent)"

measure --rw=randread --bs=4k --iodepth=64 --norandommap --rate_iops=2000 \
	--rate_process=poisson --runtime=12 --time_based
for w in 0.01 0.1; do
	figure "index of dispersion, Poisson arrivals, at $w s" \
		"$(inner ".intensity.open.idc | map(select(.[0] == $w))[0][1]")" "" "0.9..1.3" "rate $(inner .intensity.open.rate_per_s)"
done

# Response times. fio's clock starts in the process and stops when it runs again: a device whose times
# are longer than that detour, a file on disk without the page cache, shows whether both agree.
disk_file=$(mktemp "${BENCH_DISK:-$PWD/$BUILD}/blkcast-disk.XXXXXX")
dd if=/dev/zero of="$disk_file" bs=1M count=256 conv=fsync status=none
loop_dev=$(losetup --show -f --direct-io=on "$disk_file")
loop_name=${loop_dev#/dev/}
loops="$loops $loop_dev:$disk_file"
for _ in 1 2 3 4 5; do
	measure --rw=randread --bs=64k --ioengine=psync --norandommap --runtime=4 --time_based
	ratio_error "$(p .response_time.read.total.mean_s)" "$(fio_get '.jobs[0].read.clat_ns.mean / 1e9')" >>"$T/mean"
	ratio_error "$(p .response_time.read.total.p99_s)" \
		"$(fio_get '.jobs[0].read.clat_ns.percentile["99.000000"] / 1e9')" >>"$T/p99"
done
figure "mean response time beside fio's clat, one synchronous job" "$(sort -g "$T/mean" | sed -n 3p)" error "<= 0.05" \
	"last: blkcast $(p '.response_time.read.total.mean_s * 1e6 | round') us, fio $(fio_get '.jobs[0].read.clat_ns.mean / 1000 | round') us; median of 5"
figure "p99 response time beside fio's clat, one synchronous job" "$(sort -g "$T/p99" | sed -n 3p)" error "<= 0.10" \
	"last: blkcast $(p '.response_time.read.total.p99_s * 1e6 | round') us, fio $(fio_get '.jobs[0].read.clat_ns.percentile["99.000000"] / 1000 | round') us"

# Mean relative errors of predicted response times, in percent: one row of the thesis's tables 7.5 or
# 7.11. Input: a table of `blkcast qpn predict` with measured response times; -v name=SCENARIO,
# -v scale=SUS_SCALE. File sets of the virtual machines of a configuration add up, for its columns of
# cached data.
BEGIN { FS = "," }
NR == 1 {
	for (i = 1; i <= NF; i++)
		at[$i] = i
	next
}
{
	id = $(at["configuration"])
	files[id] += $(at["file_set_bytes"])
	n++
	of[n] = id
	e = $(at["predicted"]) / $(at["response_time_s"]) - 1
	error[n] = e < 0 ? -e : e
	write[n] = $(at["type"]) == "write"
	sequential[n] = $(at["pattern"]) == "sequential"
}
function add(k, e) {
	sum[k] += e
	nr[k]++
}
function mean(k) {
	return nr[k] ? sprintf("%.2f", 100 * sum[k] / nr[k]) : "-"
}
END {
	gb = 1073741824 * scale
	for (i = 1; i <= n; i++) {
		big = files[of[i]] > (write[i] ? 5 : 60) * gb
		add(write[i] "/" sequential[i] "/" (sequential[i] ? 0 : big), error[i])
		add(write[i] ? "write" : "read", error[i])
	}
	if (name ~ /^scheduling/) {
		printf "%s\t%s\t%s\t%.2f\n", name, mean("read"), mean("write"),
			(mean("read") + mean("write")) / 2
		exit
	}
	split("0/0/0 0/0/1 0/1/0 1/0/0 1/0/1 1/1/0", column, " ")
	printf "%s", name
	for (c = 1; c <= 6; c++) {
		printf "\t%s", mean(column[c])
		if (nr[column[c]])
			all += 100 * sum[column[c]] / nr[column[c]] / 6
	}
	printf "\t%.2f\n", all
}

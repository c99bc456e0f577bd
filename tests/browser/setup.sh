# setup.sh: what the browser tests need; source it after tap.sh.
#
#	need_browser		skips without a browser, node, or the packages of package-lock.json; sets $browser
#	judge_found FILE	makes TAP of a test's lines: "ok NAME", "not ok NAME", and "# REMARK"
#
# The packages are installed into the build folder once, by npm's own client, exactly as the lock names them.
browser_packages() {
	local at=$BUILD/browser
	command -v node && command -v npm || return 1
	mkdir -p "$at"
	cmp -s tests/browser/package-lock.json "$at/node_modules/.lock" && return
	cp tests/browser/package.json tests/browser/package-lock.json "$at/" &&
		timeout 120 npm ci --prefix "$at" --ignore-scripts --no-audit --no-fund &&
		cp tests/browser/package-lock.json "$at/node_modules/.lock"
}
need_browser() {
	browser=${BLKCAST_BROWSER:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}
	need browser "no chromium to look at the page with" test -n "$browser"
	need playwright "no node, or npm cannot install the packages of tests/browser" browser_packages
}
judge_found() {
	local line
	while IFS= read -r line; do
		case $line in
		"ok "*) pass "${line#ok }" ;;
		"not ok "*) fail "${line#not ok }" ;;
		*) note "${line#\# }" ;;
		esac
	done <"$1"
}

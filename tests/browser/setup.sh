# setup.sh: what the browser tests need; source it after tap.sh.
#
#	need_browser		skips without a browser, node, or the packages of package-lock.json; sets $browser
#	judge_found FILE	makes TAP of a test's lines: "ok NAME", "not ok NAME", and "# REMARK"
#
# The packages are installed into the build folder once, by npm's own client, exactly as the lock names them. Tests run
# beside each other, and npm first removes what another one has just installed, so that they take turns.
browser_packages() {
	local at=$BUILD/browser
	command -v node && command -v npm || return 1
	mkdir -p "$at"
	(
		flock 9 || exit 1
		cmp -s tests/browser/package-lock.json "$at/node_modules/.lock" && exit
		cp tests/browser/package.json tests/browser/package-lock.json "$at/" &&
			timeout 120 npm ci --prefix "$at" --ignore-scripts --no-audit --no-fund 9>&- &&
			cp tests/browser/package-lock.json "$at/node_modules/.lock"
	) 9>"$at/turn"
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

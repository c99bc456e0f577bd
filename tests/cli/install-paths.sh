#!/usr/bin/env bash
# make install: every file that the man pages and --help name is there, and uninstall takes it all away.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh

# The programs are built already: -o programs takes them as they are.
installs() { env -u MAKEFLAGS -u MAKELEVEL make -s -o programs BUILD="$BUILD" DESTDIR="$T/root" PREFIX=/usr "$1"; }
exits 0 "make install" installs install
share=$T/root/usr/share/blkcast
blkcast=$T/root/usr/bin/blkcast
is "$("$blkcast" --version)" "$("$BUILD/blkcast" --version)" "the program is there"

# names FILE...: relative paths into the sources that texts name, and absolute ones of what is installed
names() {
	sed 's/\\-/-/g; s/\\f[BIPR]//g; s/\\|//g; s/\\[&]//g' "$@" | grep -oE '(^|[^A-Za-z0-9_./-])(analyzer|docs|formats|scripts)/[A-Za-z0-9_./-]*[A-Za-z0-9_]' |
		grep -oE '(analyzer|docs|formats|scripts)/.*' | sort -u
}
names "$T"/root/usr/share/man/man*/blkcast* >"$T/man"
number "$(wc -l <"$T/man") >= 12" "the man pages name files"
commands=$("$blkcast" | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
for c in $commands; do
	"$blkcast" "$c" --help
	# The words in front of a form of use are verbs, which have helps of their own.
	for verb in $("$blkcast" "$c" --help | sed -n "s/^ *\(usage: \)\{0,1\}blkcast $c \([a-z]*\) .*/\2/p" | sort -u); do
		"$blkcast" "$c" "$verb" --help
	done
done >"$T/help" 2>"$T/err"
"$blkcast" >>"$T/help"
"$T/root/usr/sbin/blkcast-agent" --help >>"$T/help"
names "$T/help" >"$T/helps"
number "$(wc -l <"$T/helps") >= 8" "--help names files"
missing=""
while read -r f; do
	[ "$f" = "${f%/}" ] && [ -e "$share/$f" ] || missing="$missing $f"
done < <(sort -u "$T/man" "$T/helps")
is "$missing" "" "each of them is installed"
missing=""
for f in $(sed 's/\\-/-/g; s/\\f[BIPR]//g' "$T"/root/usr/share/man/man*/* "$T/help" | grep -oE '/usr/share/blkcast[A-Za-z0-9_./-]*' | sed 's/[.]$//' | sort -u); do
	[ -e "$T/root$f" ] || missing="$missing $f"
done
is "$missing" "" "so is each path below /usr/share/blkcast"
holds "certs.sh can be run" test -x "$share/scripts/certs.sh"
# What is named by several examples: it works from there.
exits 0 "an example works there" env -C "$share" "$blkcast" arch check docs/examples/shop.yaml
exits 0 "a plan as well" env -C "$share" "$blkcast" measure docs/examples/plans/small.yaml --dry-run

# The packages take from there; what they list exists, and what they recommend is what programs start.
missing=""
for f in $(sed -n 's|^\(usr/[^ ]*\).*|\1|p' scripts/package/debian/*.install); do
	compgen -G "$T/root/$f" >/dev/null || missing="$missing $f"
done
is "$missing" "" "the packages' files are installed"
recommends=$(sed -n '/^Package: blkcast$/,/^$/s/^Recommends: //p' scripts/package/debian/control)
is "$recommends" "fio, graphviz, openssl, postgresql-client" \
	"the programs that are started are recommended: fio, dot, openssl and psql"
exits 0 "make uninstall" installs uninstall
is "$(find "$T/root" -type f)" "" "leaves no file"
done_testing

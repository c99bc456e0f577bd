#!/usr/bin/env bash
# scripts/debs.sh [--closure|--source] ARCH PACKAGE...
# Fetches packages of Debian's archive for any architecture without touching this system's own
# package lists: an apt of its own keeps lists and packages in the cache, $BLKCAST_CACHE (else
# ${XDG_CACHE_HOME:-~/.cache}/blkcast). Prints the file of each package, one a line.
#
#	--closure	with everything that they depend on
#	--source	their source packages: the .dsc of each, with the files that it names beside it
#
# linux-image-VERSION (6.1, 5.10) is the newest kernel of that version. Needs no root. The suites are
# bookworm, its security updates and, for older kernels of amd64, bullseye, from $BLKCAST_DEBIAN
# (http://deb.debian.org).
set -euo pipefail

closure="" source=""
case "${1:-}" in
--closure) closure=1 && shift ;;
--source) source=1 && shift ;;
esac
if [ $# -lt 2 ]; then
	echo "debs.sh: no package named: scripts/debs.sh [--closure|--source] ARCH PACKAGE..." >&2
	exit 2
fi
arch=$1
shift

cache=${BLKCAST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/blkcast}
mirror=${BLKCAST_DEBIAN:-http://deb.debian.org}
apt=$cache/apt-$arch${source:+-source}
key="[arch=$arch signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$cache/debs"
exec 9>"$apt/lock"
flock 9

[ -e "$apt/status" ] || : >"$apt/status"
{
	echo "deb${source:+-src} $key $mirror/debian bookworm main"
	echo "deb${source:+-src} $key $mirror/debian-security bookworm-security main"
	if [ "$arch" = amd64 ] && [ -z "$source" ]; then
		echo "deb $key $mirror/debian bullseye main"
		echo "deb $key $mirror/debian-security bullseye-security main"
	fi
} >"$apt/sources.list.new"
cat >"$apt/conf" <<CONF
APT::Architecture "$arch";
APT::Architectures { "$arch"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "3";
Dir::State "$apt";
Dir::State::status "$apt/status";
Dir::State::lists "$apt/lists";
Dir::Cache "$apt";
Dir::Cache::archives "$apt/archives";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
CONF
export APT_CONFIG=$apt/conf

update() {
	apt-get update -qq >&2 || echo "debs.sh: the package lists could not be renewed" >&2
	touch "$apt/updated"
}
# Lists of a week are new enough: what they name is in the cache, or still in the archive.
cmp -s "$apt/sources.list.new" "$apt/sources.list" && [ -e "$apt/updated" ] || rm -f "$apt/updated"
mv "$apt/sources.list.new" "$apt/sources.list"
[ -n "$(find "$apt/updated" -mtime -7 2>/dev/null)" ] || update
# An answer that was found in these lists before needs no apt.
answer="$apt/answer-${closure:+closure-}$(printf '%s\n' "$@" | sha256sum | cut -c 1-16)"
if [ "$answer" -nt "$apt/updated" ] && xargs -d '\n' ls >/dev/null 2>&1 <"$answer"; then
	cat "$answer"
	exit 0
fi

# wanted PACKAGE...: "URI FILE" of each, with its dependencies where asked for
wanted() {
	if [ -n "$closure" ]; then
		apt-get install -y --print-uris "$@"
	elif [ -n "$source" ]; then
		apt-get source --print-uris "$@"
	else
		apt-get download --print-uris "$@"
	fi | awk -F"[' ]+" '/^\047/ { print $2, $3 }'
}
# newest PACKAGE: of a kernel named by its version alone (linux-image-6.12) the newest, else itself
newest() {
	case "$1" in
	linux-image-*)
		apt-cache search --names-only "^$1[.-].*[0-9]-$arch\$" | cut -d' ' -f1 |
			sort -V | tail -n 1
		;;
	*) echo "$1" ;;
	esac
}

get() {
	local packages=() p list uri file
	for p in "$@"; do packages+=("$(newest "$p")"); done
	list=$(wanted "${packages[@]}") && [ -n "$list" ] || return 1
	while read -r uri file; do
		if [ ! -e "$cache/debs/$file" ]; then
			if [ -n "$closure" ]; then
				apt-get install -y -qq --download-only "${packages[@]}" >&2 || return 1
				mv "$apt"/archives/*.deb "$cache/debs/"
			elif [ -n "$source" ]; then
				# Held against the hashes of the signed list, as binary packages are.
				echo "fetching the sources of ${packages[*]}" >&2
				(cd "$cache/debs" && apt-get source -qq --download-only "${packages[@]}" >&2) || return 1
			else
				echo "fetching $uri" >&2
				(cd "$apt/archives" && apt-get download -qq "${packages[@]}" >&2) || return 1
				mv "$apt"/archives/*.deb "$cache/debs/"
			fi
		fi
		[ -e "$cache/debs/$file" ] || return 1
	done <<<"$list"
	while read -r uri file; do
		[[ -n $source && $file != *.dsc ]] || echo "$cache/debs/$file"
	done <<<"$list"
}

# An archive drops a package when a newer one comes: new lists, and once more.
for try in lists new-lists; do
	[ $try = lists ] || update
	if get "$@" >"$answer.new"; then
		mv "$answer.new" "$answer"
		cat "$answer"
		exit 0
	fi
done
rm -f "$answer.new"
echo "debs.sh: not to be had from $mirror for $arch: $*" >&2
exit 1

#!/usr/bin/env bash
# scripts/vm.sh --arch s390x|amd64 [OPTION]... --run SCRIPT [ARG...]
# Boots one of Debian's stock kernels under QEMU's software emulation, runs SCRIPT in it by busybox'
# shell as root, and ends with SCRIPT's exit status. SCRIPT's standard output and error are this
# script's own.
#
#	--kernel 6.1		the newest of Debian's kernels of this version (6.1, 6.12; amd64: 5.10)
#	--add FILE[:PATH]	put a file into the guest, at PATH (/bin/<name>); a program brings its
#				shared libraries along; may be given again
#	--libs DIR		a root (usr/lib/...) to find the shared libraries of a foreign
#				architecture in
#	--disk SIZE|FILE	a virtio disk (/dev/vda, then vdb, ...) of zeroes, or a raw image
#	--disk SIZE:TIME	one that takes TIME (5ms, 200us) for every request and keeps nothing
#	--out DIR		what SCRIPT leaves in the guest's /out comes here
#	--smp N --memory SIZE	processors (1), memory (512M)
#	--module NAME		load this module too (null_blk, dm-mod, ...)
#	--clock instructions	the guest's clock counts its instructions, a nanosecond each: what it times does
#				not depend on the host
#	--append ARGS		words for the kernel's command line (lockdown=integrity)
#	--time SECONDS		give up after (60): exit status 124
#	--console FILE		keep the kernel's messages here
#	--monitor SOCKET	QEMU's monitor listens here; disks can then be part of its snapshots
#	--migrate FILE		where QEMU ends and has left the guest in FILE (by "migrate exec:cat>FILE" and
#				quit), another one goes on with it; once
#
# Example, counting sectors:
#	echo 'cat /sys/block/vda/size; uname -rm' >/tmp/s
#	scripts/vm.sh --arch s390x --disk 64M --run /tmp/s
#
# In the guest /proc, /sys, /dev and /tmp are mounted; debugfs, tracefs and the cgroups are not.
# The host's 127.0.0.1:PORT is 10.0.2.2:PORT in the guest. The script needs the packages of "scripts/deps.sh vm" and no
# root; kernels are fetched once, see scripts/debs.sh.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${BLKCAST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/blkcast}

die() {
	echo "vm.sh: $*" >&2
	exit 2
}

arch="" kernel=6.1 libs="" out="" smp=1 memory=512M append="" limit=60 console="" monitor="" migrate="" script="" clock=""
adds=() disks=() modules=()
while [ $# -gt 0 ]; do
	[ $# -gt 1 ] || die "$1 needs a value"
	case "$1" in
	--arch) arch=$2 ;;
	--kernel) kernel=$2 ;;
	--add) adds+=("$2") ;;
	--libs) libs=$2 ;;
	--disk) disks+=("$2") ;;
	--out) out=$2 ;;
	--smp) smp=$2 ;;
	--memory) memory=$2 ;;
	--module) modules+=("$2") ;;
	--clock) clock=$2 ;;
	--append) append=$2 ;;
	--time) limit=$2 ;;
	--console) console=$2 ;;
	--monitor) monitor=$2 ;;
	--migrate) migrate=$2 ;;
	--run)
		script=$2
		shift 2
		break
		;;
	*) die "unknown option '$1': see the head of scripts/vm.sh" ;;
	esac
	shift 2
done
case "$clock" in
'') accel=(-accel "tcg,thread=multi") ;;
instructions) accel=(-accel "tcg,thread=single" -icount "shift=0,sleep=off") ;;
*) die "--clock '$clock': expected instructions" ;;
esac
[ -r "$script" ] || die "--run: no readable script '$script'"
case "$arch" in
amd64)
	qemu=qemu-system-x86_64 triplet=x86_64-linux-gnu loader=lib64/ld-linux-x86-64.so.2 bus=pci
	machine=(-machine pc -cpu "max,la57=off" -serial)
	append="console=ttyS0 tsc=reliable no_timer_check mitigations=off $append"
	;;
s390x)
	qemu=qemu-system-s390x triplet=s390x-linux-gnu loader=lib/ld64.so.1 bus=ccw
	machine=(-machine s390-ccw-virtio -cpu max -serial)
	append="console=ttysclp0 $append"
	;;
*) die "--arch '$arch': expected amd64 or s390x" ;;
esac
command -v $qemu cpio depmod xz >/dev/null || die "$qemu, cpio, depmod or xz is missing: scripts/deps.sh vm installs them"

work=$(mktemp -d "${TMPDIR:-/tmp}/blkcast-vm.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# uncompressed BZIMAGE FILE: the kernel within it, which QEMU boots straight (PVH): decompressing it
# in an emulated machine takes longer than the boot. Offsets: Documentation/arch/x86/boot.rst.
uncompressed() {
	local start length
	start=$((($(od -An -tu1 -j 497 -N 1 "$1") + 1) * 512 + $(od -An -tu4 -j 584 -N 4 "$1")))
	length=$(od -An -tu4 -j 588 -N 4 "$1")
	tail -c +$((start + 1)) "$1" | head -c $((length - 4)) >"$work/payload" || true
	xz -dc --single-stream <"$work/payload" >"$2" 2>/dev/null ||
		zstd -qdc <"$work/payload" >"$2" 2>/dev/null || cp "$1" "$2"
}

# unpacked: the folder of the kernel's package with its module dependencies; unpacked once
unpacked() {
	local deb dir
	deb=$("$here/debs.sh" "$arch" "linux-image-$kernel") || exit 1
	dir=$cache/kernel-$(basename "$deb" .deb)
	if [ ! -e "$dir/done" ]; then
		mkdir -p "$work/kernel"
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$work/kernel" --wildcards ./boot/vmlinuz-* \
			'./lib/modules/*/modules.*' './lib/modules/*/kernel/drivers/block' \
			'./lib/modules/*/kernel/drivers/virtio' './lib/modules/*/kernel/drivers/md' \
			'./lib/modules/*/kernel/drivers/net/*.ko*' './lib/modules/*/kernel/drivers/char' \
			'./lib/modules/*/kernel/drivers/scsi/*.ko*' './lib/modules/*/kernel/net/core' \
			'./lib/modules/*/kernel/lib'
		find "$work/kernel/lib/modules" -name '*.ko.xz' -exec xz -d {} +
		if [ "$arch" = amd64 ]; then
			uncompressed "$work"/kernel/boot/vmlinuz-* "$work/kernel/vmlinux"
		else
			mv "$work"/kernel/boot/vmlinuz-* "$work/kernel/vmlinux"
		fi
		rm -rf "$work/kernel/boot"
		/sbin/depmod -b "$work/kernel" "$(ls "$work/kernel/lib/modules")" 2>/dev/null
		touch "$work/kernel/done"
		mkdir -p "$cache"
		mv -T "$work/kernel" "$dir" 2>/dev/null || [ -e "$dir/done" ]
	fi
	echo "$dir"
}

# modules_of DIR NAME...: the files of these modules, each after those that it needs
modules_of() {
	local dir=$1 m
	shift
	for m in "$@"; do
		awk -v m="/$m.ko:" 'index($0, m) { sub(":", ""); for (i = NF; i > 0; i--) print $i }' \
			"$dir"/lib/modules/*/modules.dep
	done | awk '!seen[$0]++'
}

# libraries FILE: the shared libraries it needs, as "FILE PATH-IN-GUEST"
libraries() {
	local f
	"$here/elf-libs.sh" "$triplet" "$libs" "$1" | while read -r f; do
		if [ "${f##*/}" = "${loader##*/}" ]; then echo "$f $loader"; else echo "$f lib/$triplet/${f##*/}"; fi
	done
}

kdir=$(unpacked)
busybox=$("$here/debs.sh" "$arch" busybox-static)
root=$work/root
mkdir -p "$root"/{bin,proc,sys,dev,tmp,out,vm,lib64,lib/"$triplet"}
dpkg-deb --fsys-tarfile "$busybox" | tar -xO ./bin/busybox >"$root/bin/busybox"
chmod 755 "$root/bin/busybox"
cp "$script" "$root/vm/script"
printf '%s\n' "$@" >"$root/vm/args"
n=0
mapfile -t files < <(modules_of "$kdir" virtio_$bus virtio_blk virtio_net virtio_console virtio-rng "${modules[@]}")
for f in "${files[@]}"; do
	n=$((n + 1))
	cp "$kdir"/lib/modules/*/"$f" "$root/vm/$(printf %02d $n)-$(basename "$f")"
done
for a in "${adds[@]}"; do
	file=${a%%:*} path=${a#*:}
	[ "$path" != "$a" ] || path=/bin/$(basename "$file")
	[ -r "$file" ] || die "--add: no readable file '$file'"
	mkdir -p "$root$(dirname "$path")"
	cp -L "$file" "$root$path"
	libraries "$file" >"$work/needed"
	while read -r from to; do cp -L "$from" "$root/$to"; done <"$work/needed"
done

cat >"$root/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/ LC_ALL=C TZ=UTC
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
echo "vm: up" >/dev/console
mount -t tmpfs tmp /tmp
ln -sf /proc/self/fd /dev/fd
for m in /vm/*.ko; do insmod "$m" || echo "vm: $m does not load" >/dev/console; done
ifconfig lo 127.0.0.1 up
ifconfig eth0 10.0.2.15 netmask 255.255.255.0 up && route add default gw 10.0.2.2
port() {
	for p in /sys/class/virtio-ports/*; do
		[ "$(cat "$p/name" 2>/dev/null)" = "$1" ] && echo "/dev/${p##*/}" && return
	done
	echo /dev/console
}
# Ports and disks appear a moment after their drivers.
disks=$(sed -n 's/.*vm_disks=\([0-9]*\).*/\1/p' /proc/cmdline)
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	[ "$(port result)" != /dev/console ] && [ "$(ls -d /sys/block/vd* 2>/dev/null | wc -l)" = "$disks" ] && break
	usleep 50000
done
set --
while IFS= read -r a; do [ -z "$a" ] || set -- "$@" "$a"; done </vm/args
cd /
setsid sh /vm/script "$@" </dev/null >"$(port stdout)" 2>"$(port stderr)"
echo $? >/vm/status
tar -c -C / -f "$(port result)" vm/status out
poweroff -f
INIT
chmod 755 "$root/init"
(cd "$root" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --quiet) >"$work/initrd"

args=(-nodefaults -no-user-config -display none -no-reboot "${accel[@]}" -smp "$smp" -m "$memory"
	"${machine[@]}" chardev:console -chardev "file,id=console,path=${console:=$work/console},append=on"
	-kernel "$kdir/vmlinux" -initrd "$work/initrd"
	-append "quiet panic=-1 random.trust_cpu=on vm_disks=${#disks[@]} $append"
	-netdev user,id=net -device virtio-net-$bus,netdev=net
	-device virtio-rng-$bus -device virtio-serial-$bus)
[ $bus = ccw ] || args+=(-global virtio-net-pci.romfile=)
for p in stdout stderr result; do
	args+=(-chardev "file,id=$p,path=$work/$p,append=on" -device "virtserialport,chardev=$p,name=$p")
done
n=0
for d in "${disks[@]}"; do
	device=virtio-blk-$bus,drive=disk$n
	if [[ $d =~ ^([0-9]+[KMG]):([0-9]+)(us|ms)$ ]]; then
		ns=$((BASH_REMATCH[2] * 1000))
		[ "${BASH_REMATCH[3]}" = us ] || ns=$((ns * 1000))
		args+=(-blockdev "driver=null-co,node-name=disk$n,read-zeroes=on,latency-ns=$ns,size=$(numfmt --from=iec "${BASH_REMATCH[1]}")"
			-device "$device")
		n=$((n + 1))
		continue
	fi
	if [ ! -e "$d" ]; then
		truncate -s "$d" "$work/disk$n" 2>/dev/null || die "--disk '$d': neither a size nor a file"
		d=$work/disk$n
	fi
	args+=(-drive "file=$d,format=raw,if=none,id=disk$n,cache=unsafe${monitor:+,snapshot=on}" -device "$device")
	n=$((n + 1))
done

[ -z "$monitor" ] || args+=(-monitor "unix:$monitor,server,nowait")

# A kernel that panics before init is up (emulated timers, on a busy host) is booted again.
for try in 1 2 3; do
	: >"$work/stdout"
	: >"$work/stderr"
	: >"$work/result"
	: >"$console"
	status=0
	timeout -k 5 "$limit" $qemu "${args[@]}" >"$work/qemu" 2>&1 </dev/null || status=$?
	[ -z "$migrate" ] || [ ! -s "$migrate" ] ||
		timeout -k 5 "$limit" $qemu "${args[@]}" -incoming "exec:cat '$migrate'" >>"$work/qemu" 2>&1 </dev/null || status=$?
	grep -q "vm: up" "$console" 2>/dev/null || ! grep -q "Kernel panic" "$console" 2>/dev/null || [ $try = 3 ] || {
		echo "vm.sh: the kernel panicked before its init: tried again" >&2
		continue
	}
	break
done
cat "$work/stdout"
cat "$work/stderr" >&2
if [ -n "$out" ]; then mkdir -p "$out"; fi
if tar -x -C "$work" -f "$work/result" 2>/dev/null && [ -e "$work/vm/status" ]; then
	[ -z "$out" ] || cp -a "$work/out/." "$out/"
	exit "$(cat "$work/vm/status")"
fi
{
	[ $status = 124 ] && echo "vm.sh: the guest ran longer than $limit s" ||
		echo "vm.sh: the guest ended without a result (QEMU's exit status $status)"
	tail -n 5 "$work/qemu"
	tail -n 15 "$console" 2>/dev/null | tr -d '\r'
} >&2
[ $status = 124 ] && exit 124
exit 125

# Runs in the guest: static.sh PORT SOURCE
# The static agent streams over TLS to the analyzer at the host's PORT, in a system that has busybox and
# no library. Leaves agent.log and libraries, a list of what could be loaded, in /out.
port=$1 source=$2
mount -t debugfs debugfs /sys/kernel/debug
mkdir -p /etc/ssl && mv /etc/certs /etc/ssl/certs
echo "10.0.2.2 analyzer.test" >/etc/hosts
find / -xdev -name '*.so*' >/out/libraries
blkcast-agent --device vda --source "$source" --host web1 --sink "https://analyzer.test:$port" --tls-cert /etc/web1.crt \
	--tls-key /etc/web1.key --spool /tmp/spool --listen 127.0.0.1:9740 --window 100ms --segment-interval 1s \
	--verbose 2>/out/agent.log &
agent=$!
for _ in $(seq 600); do
	grep -q ' phase=run ' /out/agent.log && break
	usleep 100000
done
dd if=/dev/vda of=/dev/null bs=4096 count=300 iflag=direct 2>/dev/null
sleep 2
wget -q -O /out/metrics http://127.0.0.1:9740/metrics
kill -INT $agent
wait $agent

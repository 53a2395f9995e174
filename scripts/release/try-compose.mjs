/**
 * `node scripts/release/try-compose.mjs FOLDER`: builds the image by deploy/container/Containerfile and starts
 * deploy/compose/ with a bucket under Podman, without a registry: base images are made of Debian packages, kept in FOLDER.
 * As root, with packages podman, podman-compose, runc and debootstrap, and ports 7070, 8080 and 8090 free.
 */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');
const work = resolve(process.argv[2] ?? '');
if (process.argv[2] === undefined) throw new Error('Name a folder for the images.');
const context = join(work, 'context');
mkdirSync(context, { recursive: true });
const write = (name, text) => writeFileSync(join(context, name), text, { mode: 0o755 });

// Without the right to raise limits, Podman's own are refused.
write(
  'containers.conf',
  `[containers]
default_ulimits = ["nofile=16384:16384", "nproc=16384:16384"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
`,
);
write(
  'storage.conf',
  `[storage]
driver = "overlay"
graphroot = "${work}/images"
runroot = "${work}/running"
`,
);
const env = {
  ...process.env,
  CONTAINERS_CONF: join(context, 'containers.conf'),
  CONTAINERS_STORAGE_CONF: join(context, 'storage.conf'),
  DATABASE_PASSWORD: 'dbsecret',
  OBJECTS_SECRET: 'objectsecret',
};
const run = (program, ...args) =>
  execFileSync(program, args, { env, cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
const podman = (...args) => run('podman', ...args);
const has = (image) => spawnSync('podman', ['image', 'exists', image], { env }).status === 0;
const build = (tag, file, from, ...more) =>
  podman(
    'build',
    '--isolation',
    'chroot',
    '--network',
    'host',
    '--pull-never',
    '-t',
    tag,
    ...more,
    '-f',
    file,
    from,
  );

/** Debian with the Node of this machine, its package sources and its certificates. */
function makeBase() {
  const root = join(work, 'root');
  if (!existsSync(join(root, 'usr')))
    run('debootstrap', '--variant=minbase', '--include=ca-certificates,libstdc++6', 'bookworm', root);
  for (const path of ['/etc/apt/sources.list.d', '/etc/apt/apt.conf.d', '/usr/include/node'])
    if (existsSync(path)) cpSync(path, join(root, path), { recursive: true });
  copyFileSync('/etc/ssl/certs/ca-certificates.crt', join(root, 'etc/ssl/certs/ca-certificates.crt'));
  copyFileSync(process.execPath, join(root, 'usr/local/bin/node'));
  const npm = dirname(dirname(realpathSync(run('which', 'npm').trim())));
  cpSync(npm, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true });
  for (const name of ['npm', 'npx'])
    if (!existsSync(join(root, 'usr/local/bin', name)))
      symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(root, 'usr/local/bin', name));
  run('tar', 'cf', join(work, 'root.tar'), '-C', root, '.');
  podman('import', join(work, 'root.tar'), 'localhost/base');
}

/** Does what the database's image does for the variables of compose.yaml. */
const DATABASE = `#!/bin/sh
set -e
export PATH="$(echo /usr/lib/postgresql/*/bin):$PATH" PGDATA=/var/lib/postgresql/data
if [ "$(id -u)" = 0 ]; then
  chown postgres "$PGDATA"; chmod 700 "$PGDATA"
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi
if [ ! -e "$PGDATA/PG_VERSION" ]; then
  echo "$POSTGRES_PASSWORD" > /tmp/password
  initdb -U "$POSTGRES_USER" --pwfile=/tmp/password --auth=scram-sha-256 --auth-local=trust >/dev/null
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  pg_ctl -w -o "-c listen_addresses=" start >/dev/null
  createdb -U "$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl -w -m fast stop >/dev/null
fi
exec "$@" -c listen_addresses='*'
`;

/** Another server of the S3 protocol, with data in memory, for the same user and buckets. */
const OBJECTS = `#!/bin/sh
set -e
export LC_ALL=C; D=/run/objects; rm -rf $D; mkdir -p $D/mon $D/osd $D/rgw
uuid() { cat /proc/sys/kernel/random/uuid; }
F=$(uuid); MON='[v2:127.0.0.1:3300,v1:127.0.0.1:6789]'
cat > $D/c.conf <<C
[global]
fsid = $F
mon host = $MON
public network = 127.0.0.0/8
keyring = $D/keyring
run dir = $D
admin socket = $D/\\$name.asok
log file = $D/\\$name.log
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
mon allow pool size one = true
osd crush chooseleaf type = 0
paxos propose interval = 0.1
paxos min wait = 0.02
[mon]
mon data = $D/mon
[osd]
osd data = $D/osd
osd objectstore = memstore
memstore device bytes = 1073741824
osd crush update on start = false
[client]
rgw frontends = beast endpoint=0.0.0.0:7070
rgw data = $D/rgw
C
c="-c $D/c.conf"
ceph-authtool --create-keyring $D/keyring --gen-key -n mon. --cap mon 'allow *'
for n in client.admin client.rgw osd.0; do ceph-authtool $D/keyring --gen-key -n $n --cap mon 'allow *' --cap osd 'allow *'; done
monmaptool --create --fsid $F --addv a $MON $D/map
ceph-mon $c --mkfs -i a --monmap $D/map --keyring $D/keyring
ceph-mon $c -i a -f &
until timeout 5 ceph $c --connect-timeout 2 -s >/dev/null 2>&1; do sleep .1; done
U=$(uuid); ceph $c osd new $U; ceph-osd $c -i 0 --mkfs --osd-uuid $U
ceph-osd $c -i 0 -f &
ceph $c osd crush add osd.0 1 root=default host=h
radosgw $c -n client.rgw -f &
radosgw-admin $c user create --uid root --display-name root --access-key "$ROOT_ACCESS_KEY" --secret-key "$ROOT_SECRET_KEY" >/dev/null
until curl -so /dev/null 127.0.0.1:7070; do sleep .1; done
nothing=$(printf '' | sha256sum | cut -d' ' -f1)
for bucket in $(ls /data); do curl -fsS -X PUT -H "x-amz-content-sha256: $nothing" --aws-sigv4 aws:amz:us-east-1:s3 -u "$ROOT_ACCESS_KEY:$ROOT_SECRET_KEY" "http://127.0.0.1:7070/$bucket"; done
wait
`;

const INSTALL = 'FROM localhost/base\nRUN apt-get update && apt-get install -y --no-install-recommends';
const IMAGES = {
  'docker.io/library/node:22-bookworm-slim': `FROM localhost/base
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt npm_config_nodedir=/usr
`,
  'docker.io/library/postgres:17-bookworm': `${INSTALL} postgresql
COPY --chmod=755 database /entry
VOLUME /var/lib/postgresql/data
ENTRYPOINT ["/entry"]
`,
  'docker.io/library/haproxy:3.0-bookworm': `${INSTALL} haproxy
USER haproxy
CMD ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]
`,
  'docker.io/versity/versitygw:v1.8.0': `${INSTALL} radosgw ceph-mon ceph-osd curl
COPY --chmod=755 objects /entry
ENTRYPOINT ["/entry"]
`,
};

const compose = (...words) => {
  const files = ['compose.yaml', 'compose.objects.yaml'].flatMap((name) => ['-f', `deploy/compose/${name}`]);
  return run('podman-compose', '-p', 'sealwright-try', ...files, ...words);
};
const inNode = (number, ...command) => podman('exec', `sealwright-try_node-${number}_1`, ...command);

async function until(what, ask) {
  for (let tries = 0; tries < 120; tries += 1) {
    if (await Promise.resolve(ask()).catch(() => false)) return;
    await sleep(1000);
  }
  throw new Error(`Waited two minutes for ${what}.`);
}

function demand(is, what) {
  if (!is) throw new Error(`Not so: ${what}`);
  console.log(`ok  ${what}`);
}

async function tryServices() {
  await until('both nodes', async () => {
    const [first, second] = [1, 2].map((number) => podman('logs', `sealwright-try_node-${number}_1`));
    return first.includes('[INF] Ready') && second.includes('[INF] Ready');
  });
  await until('the balancer', async () => (await fetch('http://127.0.0.1:8080/api/ready')).ok);
  const key = inNode(1, 'cat', '/var/lib/sealwright/keys/api-key').trim();
  const ask = (path, init = {}) =>
    fetch(`http://127.0.0.1:8080${path}`, { ...init, headers: { 'X-API-Key': key, Connection: 'close' } });
  const send = (text) => {
    const body = new FormData();
    body.set('file', new Blob([text]), 'hello.txt');
    return ask('/api/files', { method: 'POST', body });
  };
  const completed = async (count) =>
    (await (await ask('/api/jobs?pageSize=1&status=Completed')).json()).totalCount === count;
  demand((await send('Hello')).status === 202, 'an upload is accepted');
  await until('the signed upload', () => completed(1));
  for (const number of [1, 2]) {
    demand(inNode(number, 'id', '-u').trim() === '10001', `node ${number} runs as user 10001`);
    const write = 'touch /opt/sealwright/x 2>/dev/null && echo written || echo refused';
    demand(inNode(number, 'sh', '-c', write).trim() === 'refused', `the root of node ${number} is read-only`);
    const rights = inNode(number, 'grep', 'CapEff', '/proc/1/status');
    demand(/\b0{16}$/.test(rights.trim()), `node ${number} has no capabilities`);
  }
  const answers = [];
  let isSending = true;
  const senders = [1, 2, 3, 4].map(async (number) => {
    for (let at = 0; isSending; at += 1) {
      answers.push(await send(`text ${number} ${at}`).then(({ status }) => status, String));
      await sleep(50);
    }
  });
  await until('uploads', async () => answers.length >= 8);
  const before = answers.length;
  // Not `podman`, which would hold the senders.
  await promisify(execFile)('podman', ['stop', '-t', '45', 'sealwright-try_node-1_1'], { env, cwd: ROOT });
  const during = answers.slice(before).filter((answer) => answer === 202).length;
  isSending = false;
  await Promise.all(senders);
  const unanswered = answers.filter((answer) => typeof answer !== 'number');
  demand(unanswered.length === 0, `every upload gets an answer during the stop ${unanswered.join(' ')}`);
  demand(during > 0, `${during} uploads are accepted during the stop`);
  const code = podman('inspect', 'sealwright-try_node-1_1', '--format', '{{.State.ExitCode}}').trim();
  demand(code === '0', 'a stopped node drains, and ends with 0');
  const accepted = answers.filter((answer) => answer === 202).length;
  await until('what was accepted meanwhile', () => completed(1 + accepted));
  demand(true, `the other node completes all ${accepted} uploads that were accepted meanwhile`);
}

if (!has('localhost/base')) makeBase();
write('database', DATABASE);
write('objects', OBJECTS);
for (const [tag, text] of Object.entries(IMAGES)) {
  write('Containerfile', text);
  if (!has(tag)) build(tag, join(context, 'Containerfile'), context);
}
build(
  'localhost/sealwright',
  'deploy/container/Containerfile',
  '.',
  '--build-arg',
  'PACKAGES=@aws-sdk/client-s3@3.1175.0',
);
try {
  compose('up', '-d', '--no-build');
  await tryServices();
} finally {
  compose('down', '-v');
}

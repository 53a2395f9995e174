/** Runs independent programs that verify signatures. */
import { execFile, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdtempSync, readdirSync, rmdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { ExecutionContext } from 'ava';

export interface ToolRun {
  /** Exit code; -1 when the tool was killed by the time limit. */
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Time limit in milliseconds; long, because a stopped tool gives no result. */
const TIME_LIMIT = 90_000;

/** Debian package of each tool, or of a part that others start, for the message when it is missing. */
const PACKAGES = {
  openssl: 'openssl',
  'softhsm2-util': 'softhsm2, with the optional npm package pkcs11js',
  pk12util: 'libnss3-tools',
  keytool: 'default-jre-headless',
  pdfsig: 'poppler-utils',
  pdftoppm: 'poppler-utils',
  pdftotext: 'poppler-utils',
  certutil: 'libnss3-tools',
  mutool: 'mupdf-tools',
  qpdf: 'qpdf',
  xmlsec1: 'xmlsec1',
  xmllint: 'libxml2-utils',
  chromium: 'chromium',
  'firefox-esr': 'firefox-esr',
  WebKitWebDriver: 'webkit2gtk-driver',
  Xvfb: 'xvfb',
  unzip: 'unzip',
  promtool: 'prometheus',
  python3: 'python3',
  gs: 'ghostscript',
  soffice: 'libreoffice-writer',
  strace: 'strace',
  zbarimg: 'zbar-tools',
  script: 'bsdutils',
  bash: 'bash',
  zsh: 'zsh',
  php: 'php-cli, php-xml and simplesamlphp',
  glewlwyd: 'glewlwyd',
  sqlite3: 'sqlite3',
  postgres: 'postgresql, 15 or newer',
  pgbouncer: 'pgbouncer',
  radosgw: 'radosgw, ceph-mon and ceph-osd',
  bindfs: 'bindfs',
  tmpfs: 'mount, as root on Linux',
  device: 'none: a second device at /dev/shm',
  haproxy: 'haproxy',
  'systemd-analyze': 'systemd',
  unshare: 'util-linux, where users may make namespaces',
  java: 'default-jdk-headless',
  go: 'golang-go',
  mcs: 'mono-mcs',
} as const;

export type ToolName = keyof typeof PACKAGES;

/**
 * Packages that only provide more samples, and rights that a container may not have: where they are missing, tests are skipped
 * also when tools are required.
 */
const OPTIONAL: ReadonlySet<ToolName> = new Set([
  'gs',
  'soffice',
  'keytool',
  'zbarimg',
  'zsh',
  'haproxy',
  'systemd-analyze',
  'tmpfs',
  'device',
  'unshare',
]);

const IS_REQUIRED = process.env['SEALWRIGHT_REQUIRE_TOOLS'] === '1';

/**
 * Declares tests that need tools: `const test = withTools(ava, 'qpdf')`. Where one is missing, ava counts them as skipped;
 * with SEALWRIGHT_REQUIRE_TOOLS=1 they fail.
 */
export function withTools<Declare extends object>(declare: Declare, ...tools: readonly ToolName[]): Declare {
  const missing = tools.filter((tool) => !isPresent(tool));
  if (missing.length === 0) return declare;
  const text = missing.map((tool) => `${tool} (package ${PACKAGES[tool]})`).join(', ');
  return without(declare, text, IS_REQUIRED && !missing.every((tool) => OPTIONAL.has(tool)));
}

/** Declares tests that can't run for want of something that is no program. */
export function without<Declare extends object>(
  declare: Declare,
  missing: string,
  fails = IS_REQUIRED,
): Declare {
  const { skip } = declare as Declare & { readonly skip: (...args: unknown[]) => void };
  return new Proxy(declare, {
    apply: (_, __, [title, ...rest]) => {
      if (!fails) return skip(title, ...rest);
      return Reflect.apply(declare as never, undefined, [
        title,
        (t: ExecutionContext) => t.fail(`Missing: ${missing}.`),
      ]);
    },
    get: (_, name) => {
      const member: unknown = Reflect.get(declare, name);
      return name === 'serial' ? without(member as object, missing, fails) : member;
    },
  });
}

const present = new Map<ToolName, boolean>();

/** True when the tool can be started. */
export function isPresent(tool: ToolName): boolean {
  let found = present.get(tool);
  if (found === undefined) {
    found = CHECKS[tool]?.() ?? isInstalled(tool);
    present.set(tool, found);
  }
  return found;
}

/** Of those that are more than a program in the PATH. */
const CHECKS: { readonly [tool in ToolName]?: () => boolean } = {
  bindfs: () => isInstalled('bindfs') && canMount('bindfs', tmpdir()),
  tmpfs: () => canMount('mount', '-t', 'tmpfs', 'tmpfs'),
  device: () => {
    const device = statSync(IN_MEMORY, { throwIfNoEntry: false })?.dev;
    return device !== undefined && device !== statSync(tmpdir()).dev;
  },
  unshare: () => spawnSync('unshare', ['--user', '--map-root-user', 'true']).status === 0,
  haproxy: () => isInstalled('haproxy') || existsSync('/usr/sbin/haproxy'),
  chromium: () => CHROMIUM.some(isInstalled),
  pgbouncer: () => existsSync(POOLER),
  postgres: () => postgresPrograms() !== undefined,
  radosgw: () =>
    ['radosgw', 'radosgw-admin', 'ceph-mon', 'ceph-osd', 'ceph-authtool', 'monmaptool', 'ceph'].every(
      isInstalled,
    ),
  'softhsm2-util': () => isInstalled('softhsm2-util') && tokenModule() !== undefined,
  strace: () => spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0,
};

function isInstalled(program: string): boolean {
  return pathOf(program) !== undefined;
}

/** Path of a program that is installed. */
export function pathOf(program: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders
    .map((folder) => join(folder, program))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** The shell without windows takes a third less processor time than the whole browser; not everybody has it. */
export const CHROMIUM = ['chromium-headless-shell', 'chromium'];

/** Held in memory on Linux, and so on another device than any disk. */
export const IN_MEMORY = '/dev/shm';

export const POOLER = '/usr/sbin/pgbouncer';

/** Oldest supported version of PostgreSQL. */
const OLDEST = 15;

/** Folder of the newest installed server programs that are new enough. */
export function postgresPrograms(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root)
    ? readdirSync(root)
        .map(Number)
        .filter((version) => version >= OLDEST)
    : [];
  const newest = versions.sort((left, right) => right - left)[0];
  return newest === undefined ? undefined : join(root, String(newest), 'bin');
}

const MODULES = [
  '/usr/lib/softhsm/libsofthsm2.so',
  '/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so',
  '/usr/lib/aarch64-linux-gnu/softhsm/libsofthsm2.so',
  '/usr/lib64/pkcs11/libsofthsm2.so',
  '/usr/lib64/softhsm/libsofthsm2.so',
  '/opt/homebrew/lib/softhsm/libsofthsm2.so',
  '/usr/local/lib/softhsm/libsofthsm2.so',
];

/** The module of tokens in software; undefined also where the optional package that loads it was not built. */
export function tokenModule(): string | undefined {
  try {
    createRequire(import.meta.url)('pkcs11js');
    return MODULES.find(existsSync);
  } catch {
    return undefined;
  }
}

/** False where nobody may mount file systems, as in most containers. */
function canMount(command: string, ...args: readonly string[]): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-mount-'));
  try {
    return (
      spawnSync(command, [...args, folder]).status === 0 && spawnSync('umount', ['-l', folder]).status === 0
    );
  } finally {
    rmdirSync(folder);
  }
}

/** Tools that run at once. The tests of a process begin together; more would only make each other late. */
const AT_ONCE = 4;
let running = 0;
const waiting: (() => void)[] = [];

/** Runs one tool for at most 90 seconds. Rejects when it can't be started, or was stopped. */
export async function runTool(
  tool: ToolName,
  args: readonly string[],
  options: { readonly cwd?: string } = {},
): Promise<ToolRun> {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    return await run(tool, args, options);
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}

function run(tool: ToolName, args: readonly string[], options: { readonly cwd?: string }): Promise<ToolRun> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      tool,
      [...args],
      { ...options, maxBuffer: 64 << 20, env: { ...process.env, LC_ALL: 'C' } },
      (error, stdout, stderr) => {
        clearTimeout(limit);
        const code = error === null ? 0 : error.code;
        if (typeof code === 'number') resolve({ exit: code, stdout, stderr });
        else reject(new Error(`${tool} did not end by itself: ${error?.signal ?? code}`, { cause: error }));
      },
    );
    // After a pause of the whole machine, a tool that has ended meanwhile keeps its output: it is read before this looks again.
    const limit = setTimeout(() => setImmediate(() => child.exitCode === null && child.kill()), TIME_LIMIT);
  });
}

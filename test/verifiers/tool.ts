/** Runs independent programs that verify signatures. */
import { execFile, spawnSync } from 'node:child_process';
import type { ExecutionContext } from 'ava';

export interface ToolRun {
  /** Exit code; -1 when the tool was killed by the time limit. */
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Time limit in milliseconds; long, because a stopped tool gives no result. */
const TIME_LIMIT = 90_000;

/** Debian package of each tool, for the message when it is missing. */
const PACKAGES = {
  openssl: 'openssl',
  'softhsm2-util': 'softhsm2',
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
} as const;

export type ToolName = keyof typeof PACKAGES;

/** Large packages that only provide more samples: when missing, they are skipped with a line in the log. */
const OPTIONAL: ReadonlySet<ToolName> = new Set(['gs', 'soffice', 'keytool', 'zbarimg', 'zsh']);

const present = new Map<ToolName, boolean>();

/**
 * True when the tools are installed. Otherwise the test must return: it passes with a line in its log, or has failed
 * when SEALWRIGHT_REQUIRE_TOOLS=1.
 */
export function requireTool(t: ExecutionContext, ...tools: readonly ToolName[]): boolean {
  const missing = tools.filter((tool) => !isPresent(tool));
  if (missing.length === 0) return true;
  const text = missing.map((tool) => `${tool} (package ${PACKAGES[tool]})`).join(', ');
  if (process.env['SEALWRIGHT_REQUIRE_TOOLS'] === '1' && !missing.every((tool) => OPTIONAL.has(tool))) {
    t.fail(`Missing: ${text}.`);
  } else {
    t.log(`SKIPPED, missing: ${text}.`);
    t.pass();
  }
  return false;
}

/** True when the tool can be started. */
export function isPresent(tool: ToolName): boolean {
  let found = present.get(tool);
  if (found === undefined) {
    found =
      (spawnSync(tool, ['--help'], { timeout: TIME_LIMIT }).error as NodeJS.ErrnoException | undefined)
        ?.code !== 'ENOENT';
    present.set(tool, found);
  }
  return found;
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
    execFile(
      tool,
      [...args],
      { ...options, timeout: TIME_LIMIT, maxBuffer: 64 << 20, env: { ...process.env, LC_ALL: 'C' } },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code;
        if (typeof code === 'number') resolve({ exit: code, stdout, stderr });
        else reject(new Error(`${tool} did not end by itself: ${error?.signal ?? code}`, { cause: error }));
      },
    );
  });
}

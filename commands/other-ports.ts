/** Help for a start that failed because its ports are taken. */
import { createServer } from 'node:net';
import { relative } from 'node:path';
import type { Settings } from '../settings.ts';

/** Ports that are tried above a taken one. */
const MAX_PROBES = 50;

/** Lines with the command that starts the service on ports that are free now; the reason alone when there is none. */
export async function otherPorts({ batch, portal }: Settings): Promise<string> {
  const options: string[] = [];
  const chosen = new Set<number>();
  for (const [key, { enabled, url }] of Object.entries({ 'Batch:Url': batch, 'Portal:Url': portal })) {
    if (!enabled || (await isFree(url.host, url.port))) continue;
    const port = await freePort(url.host, url.port, chosen);
    if (port === undefined) continue;
    chosen.add(port);
    const address = new URL(url.href);
    address.port = String(port);
    options.push(`--${key}=${address.origin}`);
  }
  if (options.length === 0) return ' Batch:Url and Portal:Url say where the service listens.';
  return `\nThis command starts it on other ports:\n\n    ${startCommand()} ${options.join(' ')}\n`;
}

/** The command line that leads to this process. */
function startCommand(): string {
  if (process.env['npm_lifecycle_event'] === 'start') return 'npm start --';
  return `node ${relative(process.cwd(), process.argv[1] ?? 'dist/main.js')} serve`;
}

async function freePort(host: string, taken: number, not: ReadonlySet<number>): Promise<number | undefined> {
  for (let port = taken + 1; port <= Math.min(taken + MAX_PROBES, 65_535); port += 1) {
    if (!not.has(port) && (await isFree(host, port))) return port;
  }
  return undefined;
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/** Party that may read files that hold secrets. */
import { readdirSync, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { LoadedSettings, Settings } from '../../settings.ts';
import { bad, type Finding, good } from './finding.ts';

/** Form of masked values in `LoadedSettings.resolved`. */
const MASKED = '***';

/** The service refuses to start with keys others can read, so those are failures; the rest is for the operator. */
export function checkSecrets(
  settings: Settings,
  resolved: LoadedSettings['resolved'],
  keyFolder: string,
  cwd: string,
): readonly Finding[] {
  const findings: Finding[] = [];
  const look = (path: string, tolerated: number, verdict: 'warning' | 'failed', mend: string) => {
    const mode = modeOf(path);
    if (mode === undefined || (mode & 0o077 & ~tolerated) === 0) return;
    findings.push(
      bad(verdict, 'secrets', {
        says: `${path} can be read by other users (mode ${mode.toString(8)}).`,
        cause: 'It holds a secret, and its mode gives more than the owner a right to it.',
        remedy: `${mend} '${path}'`,
      }),
    );
  };
  look(keyFolder, 0, 'failed', 'chmod 700');
  for (const name of namesIn(keyFolder)) look(join(keyFolder, name), 0, 'failed', 'chmod 600');
  // The group of the service is usual for these: an administrator writes them, the service reads them.
  const origins = resolved.filter(({ value, origin }) => value === MASKED && origin?.endsWith('.json'));
  for (const file of new Set(origins.map(({ origin }) => origin ?? '')))
    look(isAbsolute(file) ? file : resolve(cwd, file), 0o040, 'warning', 'chmod 640');
  for (const file of keyFiles(settings)) look(file, 0o040, 'warning', 'chmod 640');
  return findings.length > 0
    ? findings
    : [good('secrets', 'Other users cannot read the files with secrets.')];
}

function keyFiles({ signing, hosting }: Settings): readonly string[] {
  const certificates = [signing.certificate, ...signing.profiles.map(({ certificate }) => certificate)];
  const paths = certificates.flatMap(({ pfx, pem }) => [pfx.path, pem.keyPath]);
  return [...new Set([...paths, hosting.tls.keyPath])].filter((path) => path !== undefined);
}

function modeOf(path: string): number | undefined {
  try {
    return statSync(path).mode & 0o777;
  } catch {
    return undefined;
  }
}

/** Skips unreadable folders: the checks of folders report them. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

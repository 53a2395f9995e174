/**
 * `sealwright doctor`: checks what a start needs and prints what is wrong, why, and what to do. Changes
 * nothing: what it writes to try a folder it removes again.
 *
 * Source: docs/operations.md.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describeFailure, type Ids } from '@sealwright/runtime';
import { assertSound, folderOwner } from '@sealwright/runtime/lmdb';
import { hostsWithoutTls } from '@sealwright/runtime/postgres-parts';
import { licenseCheck, listsCheck, storageLayout } from '../actors/index.ts';
import { unavailableUws } from '../http/index.ts';
import { escapeControls } from '../logging.ts';
import { openKeyFolder } from '../service/key-folder.ts';
import { openReader } from '../service/open-store.ts';
import { portalNotices } from '../service/portal-notices.ts';
import { readServiceFile } from '../service/service-file.ts';
import { readTrust } from '../service/signing-trust.ts';
import type { LoadedSettings, Settings } from '../settings.ts';
import { printProblems } from './check-config.ts';
import { checkAuthorityClock, checkPorts, checkPublicUrl, checkSmtp } from './doctor/addresses.ts';
import { checkSigningKeys, checkTlsCertificate } from './doctor/certificates.ts';
import { bad, type Finding, good } from './doctor/finding.ts';
import { checkFolder, checkRoom, type FolderToCheck } from './doctor/folders.ts';
import { checkInputBuckets } from './doctor/input-buckets.ts';
import { checkHistory, checkRunningService, mergeFindings } from './doctor/running-service.ts';
import { checkSecrets } from './doctor/secrets.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { isTooOld, OLDEST_NODE } from './oldest-node.ts';
import { type CommandContext, painter, type Terminal } from './terminal.ts';

/** 0 when nothing has failed (warnings are allowed), 1 when something has, 2 when the configuration is refused. */
export async function doctor(
  loaded: LoadedSettings,
  options: { readonly json: boolean },
  context: CommandContext,
): Promise<ExitCode> {
  if (!loaded.ok) {
    if (options.json)
      context.terminal.out(`${JSON.stringify({ ok: false, faults: loaded.faults }, null, 2)}\n`);
    else printProblems(loaded, context.terminal);
    return EXIT.refused;
  }
  const findings = await examine(loaded.settings, loaded.resolved, context);
  const ok = findings.every(({ verdict }) => verdict !== 'failed');
  if (options.json) context.terminal.out(`${JSON.stringify({ ok, checks: findings }, null, 2)}\n`);
  else printFinding(findings, context.terminal);
  return ok ? EXIT.good : EXIT.failed;
}

async function examine(
  settings: Settings,
  resolved: LoadedSettings['resolved'],
  context: CommandContext,
): Promise<readonly Finding[]> {
  const layout = storageLayout(settings.storage.root);
  const owner = folderOwner(layout.db) ?? readServiceFile(settings)?.process.pid;
  const stamped = settings.signing.profiles.flatMap(({ name, timestamp }) =>
    timestamp.url === undefined ? [] : [{ name, url: timestamp.url }],
  );
  const own = [
    checkNode(process.versions.node),
    checkNative(),
    ...foldersOf(settings).flatMap((folder) => checkFolder(folder, context)),
    ...(await checkInputBuckets(settings, context)),
    checkRoom('room', layout.root),
    ...checkLists(settings, context.clock.now()),
    await checkStore(settings, owner),
    checkLicense(settings),
    await checkHistory(settings),
    ...(await checkPorts(settings)),
    ...checkSecrets(settings, resolved, settings.storage.keysPath, process.cwd()),
    ...(await checkSigningKeys(
      settings,
      {
        path: settings.storage.keysPath,
        read: (name) => readStored(settings.storage.keysPath, name, context.ids),
      },
      context,
    )),
    ...(await checkSmtp(settings)),
    ...(await checkPublicUrl(settings)),
    ...portalNotices(settings).map(({ name, ...words }) => bad('warning', name, words)),
    ...checkTlsCertificate(settings, context.clock.now()),
    ...(await Promise.all(stamped.map(({ name, url }) => checkAuthorityClock(name, url, context.clock)))),
  ];
  if (owner === undefined || !settings.batch.enabled) return own;
  return mergeFindings(own, await checkRunningService(settings));
}

/** @param owner process that holds the embedded store */
async function checkStore(settings: Settings, owner: number | undefined): Promise<Finding> {
  const { db } = storageLayout(settings.storage.root);
  if (settings.runtime.store === 'lmdb') {
    try {
      assertSound(db, 'all');
    } catch (error) {
      return bad('failed', 'database', {
        says: describeFailure(error).message,
        cause: 'The disk was full or failed, or another program wrote into the file.',
        remedy: 'Restore the last backup; docs/operations.md has the steps.',
      });
    }
    return owner === undefined
      ? good('database', `${db} is held by no process.`)
      : good('database', `${db} is held by process ${owner}: the service is running.`);
  }
  try {
    const reader = await openReader(settings);
    await reader.close();
    const hosts = hostsWithoutTls(settings.runtime.postgres.url ?? '').join(', ');
    if (hosts !== '')
      return bad('warning', 'database', {
        says: `The connection to the database on ${hosts} has no TLS.`,
        cause: 'Whoever is between can read its password and all data.',
        remedy:
          'Add ?sslmode=verify-full to Runtime:Postgres:Url, and &sslrootcert=<file> for an authority of your own.',
      });
    return good('database', 'PostgreSQL answers, and the schema is there.');
  } catch (error) {
    return bad('failed', 'database', {
      says: describeFailure(error).message,
      cause: 'The database does not answer, refuses the user, or was never used by this program.',
      remedy:
        'Check Runtime:Postgres:Url and that the server runs; the first start of the service makes the schema.',
    });
  }
}

/** The trusted lists that the service has kept. */
function checkLists(settings: Settings, now: number): readonly Finding[] {
  const { lists } = readTrust(settings);
  if (lists === undefined) return [];
  const { name, status, detail } = listsCheck(lists, now);
  if (status === 'Healthy') return [good(name, detail ?? '')];
  return [
    bad('warning', name, {
      says: detail ?? status,
      cause: 'A list cannot be fetched, is not authentic, is older than one before, or ended.',
      remedy:
        'Check the network, or renew the folder of Signing:Trust:Lists:Folder. Where the journal is newer than the configured one, set Lists:Anchors and Lists:Journal.',
    }),
  ];
}

function checkLicense({ signing }: Settings): Finding {
  const { name, status, detail } = licenseCheck(signing.license);
  if (status === 'Healthy') return good(name, detail ?? '');
  return bad('failed', name, {
    says: detail ?? status,
    cause: 'The value was copied incompletely, or is not a license.',
    remedy: 'Correct or remove Signing:License; no license is required.',
  });
}

function checkNode(version: string): Finding {
  if (!isTooOld(version)) return good('node', `Node ${version}.`);
  return bad('failed', 'node', {
    says: `Node ${version} is too old.`,
    cause: `This program needs Node ${OLDEST_NODE} or newer.`,
    remedy: 'Install a current Node and run "npm ci" with it.',
  });
}

function checkNative(): Finding {
  const unavailable = unavailableUws();
  if (unavailable === undefined) return good('native', 'The binaries of the HTTP server and the store load.');
  return bad('warning', 'native', {
    says: `node:http serves requests, at a part of the usual speed: ${unavailable}`,
    cause: 'No uWebSockets binary was installed for this Node, processor and C library, or there is none.',
    remedy:
      'Run "npm ci" with the Node and on the system that run the service. With Node 24 and newer uWebSockets needs glibc 2.38, with Node 20 and 22 glibc 2.31.',
  });
}

function foldersOf({ storage, logging }: Settings): readonly FolderToCheck[] {
  const layout = storageLayout(storage.root);
  const work = (['root', 'processing', 'output', 'error', 'db', 'keys'] as const).map((name) => ({
    name: `folder:${name}`,
    path: layout[name],
    made: true,
  }));
  const inputs = storage.inputs
    .filter(({ kind }) => kind === 'FileSystem')
    .map(({ name, path }) => ({
      name: `input-folder:${name}`,
      path,
      made: path.startsWith(`${layout.root}/`),
    }));
  const logs = logging.file.enabled
    ? [{ name: 'folder:logs', path: join(logging.file.path, '..'), made: true }]
    : [];
  return [...work, ...inputs, ...logs];
}

/** A missing folder is not made for the sake of looking into it. */
function readStored(folder: string, name: string, ids: Ids): string | undefined {
  return existsSync(folder) ? openKeyFolder(folder, ids).read(name) : undefined;
}

function printFinding(findings: readonly Finding[], terminal: Terminal): void {
  const { green, yellow, red, dim } = painter(terminal);
  const mark = { good: green('good   '), warning: yellow('warning'), failed: red('failed ') };
  for (const { name, verdict, says, cause, remedy } of findings) {
    terminal.out(`${mark[verdict]}  ${name}: ${escapeControls(says)}\n`);
    if (cause !== null) terminal.out(`         ${dim('why')}   ${escapeControls(cause)}\n`);
    if (remedy !== null) terminal.out(`         ${dim('mend')}  ${escapeControls(remedy)}\n`);
  }
  const count = (wanted: Finding['verdict']) => findings.filter(({ verdict }) => verdict === wanted).length;
  terminal.out(`\n${count('good')} good, ${count('warning')} with a warning, ${count('failed')} failed.\n`);
}

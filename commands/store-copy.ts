/**
 * `sealwright store copy --from … --to …`: moves an installation between LMDB and PostgreSQL while it is stopped.
 *
 * Source: docs/operations.md.
 */
import { resolve } from 'node:path';
import { type Clock, describeFailure, Fatal } from '@sealwright/runtime';
import { type CopyReport, type CopySide, copyStore } from '@sealwright/runtime/copy';
import { openLmdbCopy } from '@sealwright/runtime/lmdb';
import { openPostgresCopy } from '@sealwright/runtime/postgres-parts';
import { Progress } from '../logging/progress.ts';
import { escapeControls } from '../logging.ts';
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.ts';
import type { CommandContext } from './terminal.ts';
import { table } from './terminal.ts';

export interface CopyOptions {
  /** Folder of an LMDB store, or `postgres://…`. */
  readonly from: string;
  readonly to: string;
  /** Schema in PostgreSQL. */
  readonly schema: string;
  readonly json: boolean;
}

const RESULTS: { readonly [result in CopyReport['result']]: string } = {
  copied: 'Everything was copied.',
  resumed: 'An earlier copy was completed.',
  unchanged: 'The target holds everything already; nothing was written.',
};

/** Copies; exit code 1 if source and target differ afterwards, 2 for unusable options, 3 for a store in use. */
export async function copyCommand(
  { from, to, schema, json }: CopyOptions,
  { clock, terminal, live }: CommandContext,
): Promise<ExitCode> {
  const sides: CopySide[] = [];
  const progress = new Progress('store copy:', { err: (text) => terminal.err(text), live }, clock);
  try {
    for (const text of [from, to]) if (isUrl(text)) assertUrl(text);
    if (sameStore(from, to)) throw new Fatal('settings.same-store', '--from and --to name the same store.');
    const source = await open(from, schema, 'source', clock);
    sides.push(source);
    const target = await open(to, schema, 'target', clock);
    sides.push(target);
    terminal.err(`From ${escapeControls(source.location)}\nto   ${escapeControls(target.location)}\n`);
    const report = await copyStore(source, target, (phase, done, of) => progress.show(phase, done, of));
    progress.end();
    if (json) terminal.out(`${JSON.stringify(report)}\n`);
    else {
      const rows = report.tables.map((found) => [found.table, String(found.records), found.sha256]);
      terminal.out(table(['table', 'records', 'SHA-256, the same in both'], rows));
      terminal.out(`${RESULTS[report.result]}\n`);
    }
    return EXIT.good;
  } catch (error) {
    progress.end();
    const { code, message } = describeFailure(error);
    terminal.err(`sealwright store copy: ${escapeControls(message)}\n`);
    return code === 'copy.differs' ? EXIT.failed : exitCodeOf(error);
  } finally {
    for (const side of sides.reverse()) await side.close().catch(() => {});
  }
}

async function open(
  text: string,
  schema: string,
  role: 'source' | 'target',
  clock: Clock,
): Promise<CopySide> {
  if (!isUrl(text)) return openLmdbCopy(resolve(text), role);
  return openPostgresCopy({ url: text, schema }, role, clock);
}

/** True for every text that could be meant as an address, so that none with a password is taken for a folder. */
function isUrl(text: string): boolean {
  return /^[\s'"]*[a-z][a-z0-9+.-]+:/i.test(text);
}

/** Throws `settings.store-url`, without the text: it may hold a password. */
function assertUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^postgres(ql)?:$/.test(url.protocol) && url.host !== '') return;
  throw new Fatal(
    'settings.store-url',
    'A store is the folder of an LMDB store or postgres://user@host:port/database. Write ./ before a relative folder whose name has a colon.',
  );
}

function sameStore(from: string, to: string): boolean {
  if (!isUrl(from) || !isUrl(to)) return resolve(from) === resolve(to);
  if (!URL.canParse(from) || !URL.canParse(to)) return false;
  const left = new URL(from);
  const right = new URL(to);
  return left.host === right.host && left.pathname === right.pathname;
}

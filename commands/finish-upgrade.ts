/** `sealwright store finish-upgrade`: the point of no return of an upgrade. Source: docs/several-nodes.md. */
import { describeFailure } from '@sealwright/runtime';
import { finishUpgrade } from '@sealwright/runtime/postgres-parts';
import { escapeControls } from '../logging.ts';
import type { Settings } from '../settings.ts';
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/** 0: recorded, 2: not for this store, 3: a node of another version runs, or the store is not available. */
export async function finishUpgradeCommand(
  { runtime }: Settings,
  words: { readonly version: string; readonly backup: string },
  terminal: Pick<Terminal, 'out' | 'err'>,
): Promise<ExitCode> {
  const { url = '', schema } = runtime.postgres;
  if (runtime.store !== 'postgres') {
    terminal.err('sealwright store finish-upgrade: a store on LMDB is upgraded by the first start alone.\n');
    return EXIT.refused;
  }
  try {
    await finishUpgrade({ url, schema, ...words });
    terminal.out(`Nodes of versions before ${words.version} do not start any more.\n`);
    return EXIT.good;
  } catch (error) {
    terminal.err(`sealwright store finish-upgrade: ${escapeControls(describeFailure(error).message)}\n`);
    return exitCodeOf(error);
  }
}

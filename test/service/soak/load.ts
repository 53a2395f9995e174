/** Files of every format, dropped into the input folder and uploaded in turn, each with content of its own. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { samplePdf } from '../../../bench/samples.ts';
import type { Service } from '../service.ts';
import { sha256 } from '../signing/evidence.ts';

/** Everything that was handed over: all of it must be accounted for, whatever happens to the service. */
export interface Load {
  /** Ids of uploads that were answered 202. */
  readonly accepted: string[];
  /** Digests of the files dropped. */
  readonly dropped: string[];
}

/**
 * Gives `count` files; an upload that is not answered counts for nothing.
 * @param round part of every name and content, so that no two rounds give the same
 */
export async function give(service: Service, load: Load, round: string, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const name = `${round}-${index}`;
    const [extension, content] = fileOf(index % 3, name);
    if (index % 2 === 0) {
      await writeFile(join(service.root, 'input', `${name}${extension}`), content);
      load.dropped.push(sha256(content));
    } else {
      const answer = await service.upload(`${name}${extension}`, content).catch(() => undefined);
      if (answer) load.accepted.push(answer.jobId);
    }
  }
}

function fileOf(kind: number, name: string): readonly [extension: string, content: Uint8Array | string] {
  if (kind === 0) return ['.pdf', samplePdf(3000, name)];
  if (kind === 1) return ['.xml', `<?xml version="1.0"?><order id="${name}"><line>one</line></order>`];
  return ['.txt', `text of ${name}`];
}

/** Shares whose client answers from memory. */
import {
  appendFileSync,
  ftruncateSync,
  openSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { systemClock } from '#runtime/model/clock.js';
import { createFileReader } from '../../../../actors/batch/watched-folder/file-reader.ts';
import { createKnownFiles } from '../../../../actors/batch/watched-folder/known-files.ts';
import { Pickup } from '../../../../actors/batch/watched-folder/pickup.ts';
import { fileDigest } from '../../../../actors/shared/files/digest.ts';
import { hasChanged, stateOfOriginal } from '../../../../actors/shared/files/stage.ts';
import { folderFor } from '../../../runtime/folder.ts';
import { mountShare, type Share } from './bindfs.ts';
import { createHarness } from './harness.ts';

/** Seconds for which the mount remembers; the folder waits for longer. */
const REMEMBERED = 0.3;
const RULES = {
  intervalMs: 400,
  requiredSamples: 3,
  timeoutMs: 60_000,
  quietMs: 800,
  quietWithHolesMs: 2_400,
};
const PARTS = 4;
const PART = 65_536;

/** Resolves with the parts that the file has at its offer. Its writer goes on with one part before each sample. */
function offeredParts(t: ExecutionContext, { mount }: Share, write: (part: number) => void): Promise<number> {
  return new Promise((resolve) => {
    let written = 0;
    const disk = createFileReader(mount, { limit: 1, clock: systemClock });
    const nothing = () => {};
    const pickup = new Pickup({
      options: {
        name: 'inbox',
        path: mount,
        clock: systemClock,
        onState: nothing,
        log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
        async offer() {
          resolve(written);
          return 'enqueued';
        },
        settings: {
          stability: RULES,
          concurrency: 1,
          sweepIntervalMs: 60_000,
          ignoredExtensions: [],
          ignoredPrefixes: [],
          ignoredNames: [],
        },
      },
      fileReader: {
        ...disk,
        sample(name) {
          if (written < PARTS) {
            write(written);
            written += 1;
          }
          return disk.sample(name);
        },
      },
      rules: () => RULES,
      folder: mount,
      memory: createKnownFiles(),
      onDirectory: nothing,
      onChange: nothing,
    });
    t.teardown(() => pickup.stop());
    pickup.observe('a.bin', 'sweep');
  });
}

test('a file that grows on a share is offered when it is whole', async (t) => {
  const share = mountShare(t, REMEMBERED);
  if (share === undefined) return;
  const path = join(share.server, 'a.bin');
  t.is(await offeredParts(t, share, () => appendFileSync(path, Buffer.alloc(PART, 1))), PARTS);
});

test('a file that has its final size first, on a share, is offered when its writer has ended', async (t) => {
  const share = mountShare(t, REMEMBERED);
  if (share === undefined) return;
  const path = join(share.server, 'a.bin');
  const file = openSync(path, 'w');
  ftruncateSync(file, PARTS * PART);
  const write = (part: number) => {
    writeSync(file, Buffer.alloc(PART, 1), 0, PART, part * PART);
    utimesSync(path, 1_000, 1_000);
  };
  t.is(await offeredParts(t, share, write), PARTS);
});

/** Events of an original between its staging and the publication of what was made of it, and whether it counts. */
const CHANGES: { readonly [what: string]: readonly [happens: (path: string) => void, isChanged: boolean] } = {
  'nothing happened to': [() => {}, false],
  'that was read again': [(path) => fileDigest(path), false],
  'that grew': [(path) => appendFileSync(path, 'more'), true],
  'that was cut off': [(path) => writeFileSync(path, 'con'), true],
  'of other content with the same size': [(path) => writeFileSync(path, 'CONTENT'), true],
  'of other content with the same size and time': [
    (path) => {
      const { mtime } = statSync(path);
      writeFileSync(path, 'CONTENT');
      utimesSync(path, mtime, mtime);
    },
    true,
  ],
};

for (const [what, [happens, isChanged]] of Object.entries(CHANGES))
  test(`an original ${what} since it was staged ${isChanged ? 'has changed' : 'is the same'}, also where a share remembers it`, (t) => {
    // Longer than the test: attributes of the mount are old, and content alone tells.
    const share = mountShare(t, 600);
    if (share === undefined) return;
    for (const folder of what.includes('content') || !isChanged
      ? [share.server, share.mount]
      : [share.server]) {
      const seen = join(folder, 'a.txt');
      const written = join(share.server, 'a.txt');
      writeFileSync(written, 'content');
      const state = stateOfOriginal(seen);
      const signed = { sha256: fileDigest(seen), length: 7 };
      happens(written);
      t.is(hasChanged(seen, state, signed), isChanged);
    }
  });

test('an original whose blocks are counted anew when they are written to the disk is the same, one with another time of change is not', (t) => {
  // As zfs does within five seconds, and file systems that compress.
  const path = join(folderFor(t), 'a.txt');
  writeFileSync(path, 'content');
  const signed = { sha256: fileDigest(path), length: 7 };
  const { blocks, ctimeNs } = statSync(path, { bigint: true });
  const state = stateOfOriginal(path);
  t.false(hasChanged(path, Object.assign({}, state, { blocks: blocks + 8n }), signed));
  t.true(hasChanged(path, Object.assign({}, state, { ctimeNs: ctimeNs + 8n }), signed));
});

test('a burst of events is followed by a listing, which finds a file whose event was lost', async (t) => {
  const share = mountShare(t, 0);
  if (share === undefined) return;
  const stability = { ...RULES, quietMs: 0, intervalMs: 50 };
  const h = createHarness({ path: share.mount, settings: { stability, sweepIntervalMs: 600_000 } });
  t.teardown(h.close);
  h.watched.start();
  await h.watched.ready;
  // The system reports no events of what others write to a share. After the first of both the folder has the watch of busy
  // ones, which asks for no listing itself.
  for (const [at, fileName] of ['busy.pdf', 'lost.pdf'].entries()) {
    writeFileSync(join(share.server, fileName), 'content');
    for (let event = 0; event < 1_100; event += 1) h.put(`${event % 100}.tmp`, 'x');
    await h.until(() => h.offers.length === at + 1);
    t.like(h.offers[at], { fileName, seen: 'sweep' });
  }
});

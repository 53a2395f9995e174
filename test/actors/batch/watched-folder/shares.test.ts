/** Shares whose client answers from memory. */
import {
  appendFileSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
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
import { reached } from '../../../project/waiting.ts';
import { folderFor } from '../../../runtime/folder.ts';
import { Service, temporaryRoot } from '../../../service/service.ts';
import { withTools } from '../../../verifiers/tool.ts';
import { mountShare, type Share } from './bindfs.ts';
import { createHarness } from './harness.ts';

const toolTest = withTools(test, 'bindfs');

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

toolTest('a file that grows on a share is offered when it is whole', async (t) => {
  const share = mountShare(t, REMEMBERED);
  const path = join(share.server, 'a.bin');
  t.is(await offeredParts(t, share, () => appendFileSync(path, Buffer.alloc(PART, 1))), PARTS);
});

toolTest(
  'a file that has its final size first, on a share, is offered when its writer has ended',
  async (t) => {
    const share = mountShare(t, REMEMBERED);
    const path = join(share.server, 'a.bin');
    const file = openSync(path, 'w');
    ftruncateSync(file, PARTS * PART);
    const write = (part: number) => {
      writeSync(file, Buffer.alloc(PART, 1), 0, PART, part * PART);
      utimesSync(path, 1_000, 1_000);
    };
    t.is(await offeredParts(t, share, write), PARTS);
  },
);

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
  toolTest(
    `an original ${what} since it was staged ${isChanged ? 'has changed' : 'is the same'}, also where a share remembers it`,
    (t) => {
      // Longer than the test: attributes of the mount are old, and content alone tells.
      const share = mountShare(t, 600);
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
    },
  );

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

toolTest('a burst of events is followed by a listing, which finds a file whose event was lost', async (t) => {
  const share = mountShare(t, 0);
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

toolTest(
  'a kill in the middle of a job neither publishes half a file of a slow writer on a share nor loses one',
  async (t) => {
    const share = mountShare(t, REMEMBERED);
    const root = await temporaryRoot(t);
    const onServer = (name: string) => join(share.server, name);
    const settings = {
      'Storage:Inputs:0:Name': 'share',
      'Storage:Inputs:0:Path': share.mount,
      'Storage:Inputs:0:StabilitySeconds': 2,
      'Storage:Inputs:0:PollIntervalSeconds': 5,
      'WatchedFolder:StabilityRequiredSamples': 5,
    };
    const whole = Buffer.alloc(PARTS * PART, 'grows ');
    // One writer pauses for so long that its file looks whole, one appends, one has set the size first.
    writeFileSync(onServer('paused.bin'), whole.subarray(0, PART));
    writeFileSync(onServer('appended.bin'), '');
    writeFileSync(onServer('sized.bin'), Buffer.alloc(whole.length));
    const [appended, sized] = ['appended.bin', 'sized.bin'].map((name) => openSync(onServer(name), 'r+'));
    if (appended === undefined || sized === undefined) return t.fail();
    let written = 0;
    const goOn = (to = written + 16) => {
      const more = whole.subarray(written, Math.min(to, whole.length));
      for (const file of [appended, sized]) writeSync(file, more, 0, more.length, written);
      written += more.length;
    };
    let ends = false;
    const writers = reached(() => {
      goOn(ends ? whole.length : undefined);
      return written === whole.length;
    });
    const first = await Service.start(t, { root, settings, faults: 'pool.sign.signed=kill:1' });
    t.is(await first.ended, 'SIGKILL');
    t.deepEqual(readdirSync(join(root, 'output')), []);
    appendFileSync(onServer('paused.bin'), whole.subarray(PART));
    const second = await Service.start(t, { root, settings });
    await second.until('paused.bin', async () => ((await second.count('Completed')) > 0 ? true : undefined));
    t.true(written < whole.length, 'the others are written until now');
    ends = true;
    await writers;
    await second.until('all files', async () => ((await second.count('Completed')) === 3 ? true : undefined));
    await second.until('the originals', async () =>
      readdirSync(share.server).length === 0 ? true : undefined,
    );
    const states = (await second.jobs()).map(({ status }) => status);
    t.deepEqual(states.sort(), ['Completed', 'Completed', 'Completed', 'Failed'], 'one was killed');
    const outputs = readdirSync(join(root, 'output')).sort();
    t.deepEqual(outputs, ['appended.signed.bin', 'paused.signed.bin', 'sized.signed.bin']);
    for (const name of outputs) t.true(readFileSync(join(root, 'output', name)).includes(whole), name);
    await second.kill();
  },
);

/** Reads from system calls what is on the disk at the moment of a promise: a kill loses nothing that the kernel has. */
import { once } from 'node:events';
import { basename, join } from 'node:path';
import ava, { type ExecutionContext } from 'ava';
import { otherDevice } from '../../actors/batch/devices.ts';
import { withTools } from '../../verifiers/tool.ts';
import { folderFor } from '../folder.ts';
import { plainArgs, readCalls, type SystemCall, traced } from '../store/system-calls.ts';

const test = withTools(ava, 'strace', 'device');

const WORKER = new URL('disk-order-worker.js', import.meta.url).pathname;
const CALLS = [
  'link',
  'linkat',
  'unlink',
  'unlinkat',
  'rename',
  'renameat',
  'renameat2',
  'mkdir',
  'fsync',
  'fdatasync',
  'write',
  'writev',
  'pwrite64',
  'pwritev',
  'copy_file_range',
  'sendfile',
];
/** Slow syncs, those of folders the slowest, so that work that does not wait for them overtakes them. */
const SLOW_SYNCS = ['fsync:delay_enter=80000', 'fdatasync:delay_enter=10000'];

interface ReadableCall extends SystemCall {
  /** Arguments with their texts and paths readable. */
  readonly plain: string;
}

const isSync = ({ name }: SystemCall) => name === 'fsync' || name === 'fdatasync';
const isWrite = ({ name }: SystemCall) => /write|copy_file_range|sendfile/.test(name);
const isNaming = ({ name }: SystemCall) => /^(link|rename)/.test(name);
const isRemoval = ({ name }: SystemCall) => name.startsWith('unlink');

class Trace {
  readonly calls: readonly ReadableCall[];
  readonly #t: ExecutionContext;

  constructor(t: ExecutionContext, calls: readonly ReadableCall[]) {
    this.#t = t;
    this.calls = calls;
  }

  first(what: string, isIt: (call: ReadableCall) => boolean, after = 0): ReadableCall {
    const found = this.calls.find((call) => call.begun > after && isIt(call));
    if (found === undefined) throw new Error(`there is no ${what} after line ${after}`);
    return found;
  }

  /** The moment at which the worker said the line. */
  said(line: string, after = 0): ReadableCall {
    return this.first(
      line,
      ({ name, plain }) => name === 'write' && plain.startsWith('1<') && plain.includes(`"${line}`),
      after,
    );
  }

  /** The bytes of the file are durable before the moment. Returns the call that made them so. */
  contentBefore(path: string, moment: ReadableCall): ReadableCall {
    const written = this.calls.findLast(
      (call) => isWrite(call) && call.plain.includes(`${path}>`) && call.ended < moment.begun,
    );
    const synced = this.calls.find(
      (call) =>
        isSync(call) &&
        call.plain.includes(`${path}>`) &&
        call.begun > (written?.ended ?? 0) &&
        call.ended < moment.begun,
    );
    this.#t.truthy(written, `${path} is written before line ${moment.begun}`);
    this.#t.truthy(synced, `${path} is synced before line ${moment.begun}`);
    return synced ?? moment;
  }

  /** The entry that a call made in a folder is durable before the moment. */
  entryBefore(entry: ReadableCall, folder: string, moment: ReadableCall): void {
    const synced = this.calls.find(
      (call) => isSync(call) && call.plain.endsWith(`${folder}>`) && call.begun > entry.ended,
    );
    const isBefore = synced !== undefined && synced.ended < moment.begun;
    this.#t.true(isBefore, `${folder} is synced after line ${entry.ended} and before line ${moment.begun}`);
  }
}

test('keys, copies, uploads and files of documents are durable when they are promised, and what is removed was durably released', async (t) => {
  t.timeout(180_000);
  const root = folderFor(t);
  const device = otherDevice(t);
  const log = join(root, 'calls');
  const worker = traced([WORKER, root, device ?? '-'], {
    log,
    calls: CALLS,
    stdout: 'ignore',
    more: ['-y', ...SLOW_SYNCS.flatMap((sync) => ['-e', `inject=${sync}`])],
  });
  const [code] = (await once(worker, 'exit')) as [number];
  t.is(code, 0);
  const trace = new Trace(
    t,
    (await readCalls(log))
      .filter(({ result }) => result >= 0)
      .map((call) => ({ ...call, plain: plainArgs(call.args) })),
  );

  // Keys of the program, and the folder of keys itself.
  const keys = join(root, 'keys');
  const made = trace.said('keys');
  const replaced = trace.said('keys', trace.said('keys').ended);
  const folderMade = trace.first(
    'keys folder',
    ({ name, plain }) => name === 'mkdir' && plain.includes(`"${keys}"`),
  );
  trace.entryBefore(folderMade, root, made);
  for (const [name, moment] of [
    ['api-key', made],
    ['session.json', replaced],
  ] as const) {
    const named = trace.first(name, (call) => isNaming(call) && call.plain.endsWith(`"${keys}/${name}"`));
    const [, temporary = ''] = /"([^"]*)"/.exec(named.plain) ?? [];
    trace.contentBefore(temporary, named);
    trace.entryBefore(named, keys, moment);
  }

  if (device !== undefined) {
    const moved = trace.first(
      'removal of the source',
      (call) => isRemoval(call) && call.plain.includes('/job/moved.txt"'),
    );
    const renamed = trace.first(
      'copy',
      (call) => isNaming(call) && call.plain.endsWith(`"${device}/moved.txt"`),
    );
    trace.contentBefore(`${device}/.moved.txt.part`, renamed);
    trace.entryBefore(renamed, device, moved);
    const published = trace.first(
      'output',
      ({ name, plain }) => name.startsWith('rename') && plain.endsWith(`"${device}/a.signed.txt"`),
    );
    trace.contentBefore(`${device}/.job.part`, published);
    const note = `${root}/job/job.published-as`;
    trace.contentBefore(note, published);
  }

  // An upload of the batch service: nothing of its job is stored before its bytes and its name are durable.
  const upload = trace.first(
    'upload',
    ({ name, plain }) => name === 'write' && plain.startsWith('1<') && plain.includes('"upload '),
  );
  const input = join(root, 'batch', 'input');
  const [, path = ''] = /"upload (.*)\n/.exec(upload.plain) ?? [];
  const file = trace.first(
    'bytes of the upload',
    (call) => isWrite(call) && call.plain.includes(basename(path)) && call.plain.includes(`<${input}/`),
  );
  const [, temporary = ''] = /<([^>]*)>/.exec(file.plain) ?? [];
  const isBatchStore = ({ plain }: ReadableCall) => plain.includes(`${root}/batch/db/data.mdb>`);
  const stored = trace.first(
    'job',
    (call) => isWrite(call) && isBatchStore(call) && call.plain.includes(basename(path)),
  );
  trace.contentBefore(temporary, stored);
  trace.entryBefore(file, input, stored);
  const jobSynced = trace.first(
    'sync of the job',
    (call) => isSync(call) && isBatchStore(call),
    stored.ended,
  );
  t.true(jobSynced.ended < upload.begun, 'the job is durable before the answer');

  // Every file of the portal: nothing refers to it before its bytes and its name are durable.
  const isPortalStore = ({ plain }: ReadableCall) => plain.includes(`${root}/portal-root/db/data.mdb>`);
  const blobs = trace.calls.filter(
    (call) => isNaming(call) && /"[^"]*\/blobs\/[0-9a-f]{2}\/[0-9a-f]{64}"$/.test(call.plain),
  );
  t.true(blobs.length >= 4, `two uploads, a document and its signed file: ${blobs.length}`);
  for (const named of blobs) {
    const [, from = '', sha256 = ''] = /"([^"]*)".*\/([0-9a-f]{64})"$/.exec(named.plain) ?? [];
    trace.contentBefore(from, named);
    const folder = join(root, 'portal-root/portal/blobs', sha256.slice(0, 2));
    const referred = trace.first(
      `reference to ${sha256}`,
      (call) => isWrite(call) && isPortalStore(call) && call.plain.includes(sha256),
    );
    trace.entryBefore(named, folder, referred);
  }
  for (const { begun, plain } of trace.calls.filter(
    (call) => call.name === 'write' && call.plain.startsWith('1<') && call.plain.includes('"blob '),
  )) {
    const [, sha256 = ''] = /blob ([0-9a-f]{64})/.exec(plain) ?? [];
    const referred = trace.first(
      'reference',
      (call) => isWrite(call) && isPortalStore(call) && call.plain.includes(sha256),
    );
    const synced = trace.first(
      'sync of the upload',
      (call) => isSync(call) && isPortalStore(call),
      referred.ended,
    );
    t.true(synced.ended < begun, 'the upload is durable before the answer');
  }

  // A deletion: files go when the step that released them is durable.
  const deleting = trace.first(
    'deletion',
    ({ name, plain }) => name === 'write' && plain.startsWith('1<') && plain.includes('"deleting '),
  );
  const [, id = ''] = /deleting ([0-9a-f-]{36})/.exec(deleting.plain) ?? [];
  const released = trace.first(
    'step of the deletion',
    (call) => isWrite(call) && isPortalStore(call) && call.plain.includes(id),
    deleting.ended,
  );
  const durable = trace.first(
    'sync of the deletion',
    (call) => isSync(call) && isPortalStore(call),
    released.ended,
  );
  const removed = trace.calls.filter(
    (call) => isRemoval(call) && /\/blobs\/[0-9a-f]{2}\/[0-9a-f]{64}"/.test(call.plain),
  );
  t.true(removed.length >= 2, `the file of the document and the signed one: ${removed.length}`);
  for (const { begun } of removed) t.true(begun > durable.ended, 'files stay until their release is durable');
});

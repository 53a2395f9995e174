/**
 * What must be true of the folders and the jobs once the service has nothing more to do, however it got there.
 * Everything is read from outside: the API and the disk.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { verifyFile } from '@sealwright/signatures';
import { COPIES_FOLDER } from '../../../actors/batch/objects/job-objects.ts';
import { SPARE_PREFIX } from '../../../actors/shared/files/working-folders.ts';
import { parseJobId } from '../../../machines/ids.ts';
import { hasOriginal } from '../../actors/shared/objects/bucket-of-suites.ts';
import { isTerminal, type Job, type Service } from '../service.ts';

export function sha256(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Undefined when nothing has the name. */
async function contentOf(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Every broken promise, in words; none = all is well. */
export async function brokenPromises(
  service: Service,
  given: {
    /** Ids of uploads that were answered 202. */
    readonly accepted: readonly string[];
    /** Digests of the files dropped into the input folder; no two alike, nor like an upload. */
    readonly dropped: readonly string[];
  },
): Promise<readonly string[]> {
  const broken: string[] = [];
  const jobs = await detailsOf(service);
  const byId = new Map(jobs.map((job) => [job.id, job]));
  for (const id of given.accepted) if (!byId.has(id)) broken.push(`the accepted upload ${id} has no job`);

  const kept = new Set<string>();
  for (const name of await readdir(join(service.root, 'input'))) {
    // A file may be taken away between the listing and the reading: then it is not kept.
    const content = await contentOf(join(service.root, 'input', name));
    if (content) kept.add(sha256(content));
  }
  const completed = jobs.filter((job) => job.status === 'Completed');
  for (const digest of given.dropped) {
    const times = completed.filter((job) => job.inputSha256 === digest).length;
    if (times > 1) broken.push(`the dropped file ${digest} was signed ${times} times`);
    if (times === 0 && !kept.has(digest))
      broken.push(`the dropped file ${digest} is neither there nor signed`);
    if (times > 0 && kept.has(digest)) broken.push(`the dropped file ${digest} is signed and still there`);
  }

  const replaced = new Set(completed.map(({ originalPath }) => originalPath));
  const files = await service.files();
  for (const job of jobs) broken.push(...(await brokenInJob(service, files, job, replaced)));
  broken.push(...(await strayFiles(service, files, jobs)));
  return broken;
}

/** Requests at once: thousands would measure the queue, not the service. */
const REQUESTS_AT_ONCE = 32;

/** Every job with its history, oldest first. */
async function detailsOf(service: Service): Promise<readonly Job[]> {
  const found = await service.jobs();
  const jobs: Job[] = [];
  for (let from = 0; from < found.length; from += REQUESTS_AT_ONCE)
    jobs.push(
      ...(await Promise.all(found.slice(from, from + REQUESTS_AT_ONCE).map((job) => service.job(job.id)))),
    );
  return jobs;
}

/**
 * @param files folder of the outputs
 * @param replaced paths of inputs that a later job has completed
 */
async function brokenInJob(
  service: Service,
  files: string,
  job: Job,
  replaced: ReadonlySet<string>,
): Promise<readonly string[]> {
  const broken: string[] = [];
  const say = (what: string) => broken.push(`job ${job.id} (${job.status}): ${what}`);
  if (!isTerminal(job.status)) say('has not ended');
  const ends = new Set(job.history.map((line) => line.status).filter(isTerminal));
  if (ends.size !== 1) say(`has ended ${ends.size} times: ${[...ends].join(', ')}`);
  const path = join(files, 'output', job.outputFileName ?? '');
  const hasInput = await hasOriginal(service.root, job.originalPath);
  if (job.status === 'Completed') {
    const output = await contentOf(path);
    if (!output) say('has no output');
    else {
      if (sha256(output) !== job.outputSha256) say('its output is not what was signed');
      const format = job.format as 'Pades' | 'Cades' | 'Xades';
      const verdict = verdictOf(format, path, output);
      if (!verdict.ok)
        say(`its output does not verify: ${JSON.stringify(verdict.checks.filter((check) => !check.ok))}`);
    }
    if (hasInput) say('its input is still there');
  }
  if (job.status === 'Failed' && !hasInput && !replaced.has(job.originalPath)) say('its input is gone');
  return broken;
}

/** Verdicts by format and content: those who wait for an end ask again and again. */
const verdicts = new Map<string, ReturnType<typeof verifyFile>>();

function verdictOf(format: 'Pades' | 'Cades' | 'Xades', path: string, content: Uint8Array) {
  const key = `${format} ${sha256(content)}`;
  const verdict = verdicts.get(key) ?? verifyFile({ format, path, at: Date.now() });
  verdicts.set(key, verdict);
  return verdict;
}

/** Uncommitted outputs, remaining working folders, partial uploads. */
async function strayFiles(service: Service, files: string, jobs: readonly Job[]): Promise<readonly string[]> {
  const broken: string[] = [];
  const outputs = new Set(jobs.filter((job) => job.status === 'Completed').map((job) => job.outputFileName));
  for (const name of await readdir(join(files, 'output'))) {
    if (!outputs.has(name)) broken.push(`output/${name} belongs to no completed job`);
  }
  const working = (await Promise.all(service.roots.map(workingFolders))).flat();
  for (const name of working) {
    if (name.startsWith(SPARE_PREFIX) || name === COPIES_FOLDER) continue;
    // The jobs were read before: one may have begun or ended since.
    const job = parseJobId(name) && (await service.job(name).catch(() => undefined));
    const lines = job?.history.map(({ status, message }) => `${status}: ${message}`) ?? ['no job'];
    broken.push(`processing/${name} was left behind (${lines.join('; ')})`);
  }
  const failed = new Set(jobs.filter((job) => job.status === 'Failed').map((job) => job.id));
  for (const name of await readdir(join(files, 'error'))) {
    if (!failed.has(name)) broken.push(`error/${name} belongs to no failed job`);
  }
  for (const name of await readdir(join(service.root, 'input'))) {
    if (name.startsWith('.')) broken.push(`input/${name} was left behind`);
  }
  return broken;
}

/** Names of the folders in which jobs are worked on: of all nodes, where these share the root. */
async function workingFolders(root: string): Promise<readonly string[]> {
  const folder = join(root, 'processing');
  const isNode = (name: string) => !name.startsWith(SPARE_PREFIX) && parseJobId(name) === undefined;
  const names = await readdir(folder);
  const inside = names.filter(isNode).map((node) => readdir(join(folder, node)));
  return [...names.filter((name) => !isNode(name)), ...(await Promise.all(inside)).flat()];
}

/** Every job with its history, and every file with its digest: what a second recovery must not change. */
export async function picture(service: Service): Promise<object> {
  const jobs = await detailsOf(service);
  const files: Record<string, string> = {};
  const brought = await service.files();
  for (const [root, folder] of [
    ...['input', 'processing'].map((name) => [service.root, name] as const),
    ...['output', 'error'].map((name) => [brought, name] as const),
  ]) {
    const names = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
    for (const entry of names.filter((found) => found.isFile())) {
      const path = join(entry.parentPath, entry.name);
      // Each start of a thread makes and removes them.
      if (path.includes(`/${SPARE_PREFIX}`)) continue;
      files[path.slice(root.length + 1)] = sha256(await readFile(path));
    }
  }
  return { jobs, files: Object.fromEntries(Object.entries(files).sort()) };
}

/** `Container`: signatures of a profile go into ASiC containers, over one file or over all files of an upload. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { validateFile } from '@sealwright/signatures';
import test from 'ava';
import JSZip from 'jszip';
import { startAuthority } from '../pki/authority.ts';
import { type Job, Service, temporaryRoot } from './service.ts';
import { localProfile, type Settings } from './signing/profiles.ts';

const PROFILES = [
  ['s-cades', { Format: 'Cades', Container: 'AsicS' }],
  ['s-xades', { Format: 'Xades', Container: 'AsicS' }],
  ['e-cades', { Format: 'Cades', Container: 'AsicE', VerifyIndependently: true }],
  ['e-xades', { Format: 'Xades', Container: 'AsicE', Level: 'LTA' }],
  ['e-cades-lta', { Format: 'Cades', Container: 'AsicE', Level: 'LTA' }],
  ['s-cades-lt', { Format: 'Cades', Container: 'AsicS', Level: 'LT' }],
] as const;

test.serial(
  'a profile with a container gives .asics or .asice files at every level, of one file and of several',
  async (t) => {
    const authority = await startAuthority();
    t.teardown(() => authority.close());
    const root = await temporaryRoot(t);
    let settings: Settings = { 'Signing:Trust:Roots:0': authority.pki.rootFile };
    for (const [index, [name, members]] of PROFILES.entries()) {
      const stamp = 'Level' in members ? { 'Timestamp:Url': authority.timestampUrl } : {};
      settings = {
        ...settings,
        ...(await localProfile(root, index, {
          name,
          signer: authority.pki.signer('p-256'),
          members: { ...members, ...stamp },
        })),
      };
    }
    const service = await Service.start(t, { root, settings });
    const headers = { 'X-API-Key': await service.key() };
    const post = (
      path: string,
      files: readonly [string, string][],
      fields: readonly [string, string][] = [],
    ) => {
      const form = new FormData();
      for (const [name, content] of files) form.append('file', new Blob([content]), name);
      for (const [name, value] of fields) form.append(name, value);
      return fetch(`${service.url}${path}`, { method: 'POST', headers, body: form });
    };
    const done = async (answer: Response): Promise<Job> => {
      const { jobId } = (await answer.json()) as { jobId: string };
      return service.finished(jobId);
    };
    const two: readonly [string, string][] = [
      ['contract.txt', 'One hundred barrels.'],
      ['größe & more.xml', '<order/>'],
    ];

    for (const [name, { Format }] of PROFILES) {
      const isE = name.startsWith('e');
      const job = await done(await post(`/api/files?profile=${name}`, isE ? two : two.slice(0, 1)));
      t.is(job.status, 'Completed', `${name}: ${job.errorMessage}`);
      t.is(job.format, Format);
      const path = join(root, 'output', job.outputFileName ?? '');
      t.regex(
        job.outputFileName ?? '',
        isE ? /^contract(-\w{8})?\.txt\.asice$/ : /^contract(-\w{8})?\.txt\.asics$/,
      );
      const trust = {
        anchors: [authority.pki.root.certificate],
        intermediates: [],
        revocation: 'soft',
      } as const;
      const report = await validateFile({ format: 'Asic', path, trust, at: Date.now() + 60_000 });
      t.is(report.indication, 'TOTAL-PASSED', `${name}: ${JSON.stringify(report.results.errors)}`);
      t.is(report.signatures.length, 1);
      const members = Object.keys((await JSZip.loadAsync(await readFile(path))).files).join('\n');
      t.true(members.startsWith('mimetype\n'));
      for (const [file] of isE ? two : two.slice(0, 1)) t.true(members.split('\n').includes(file), members);
      const output = await fetch(`${service.url}/api/jobs/${job.id}/output`, { headers });
      t.is(output.headers.get('content-type'), `application/vnd.etsi.asic-${isE ? 'e' : 's'}+zip`);
      if (name === 'e-cades')
        t.regex(job.history.at(-1)?.message ?? '', /also by an independent implementation/);
    }

    const alone = await done(await post('/api/files?profile=s-cades', two.slice(0, 1)));
    t.is(alone.status, 'Completed', alone.errorMessage ?? '');
    t.like(await (await post('/api/files?profile=s-cades', two)).json(), {
      status: 400,
      code: 'upload.too-many-files',
    });
    // A form field in front of the files serves as well as the query; one behind them comes too late.
    const form = new FormData();
    form.append('profile', 'e-cades');
    for (const [name, content] of two) form.append('file', new Blob([content]), name);
    const before = await fetch(`${service.url}/api/files`, { method: 'POST', headers, body: form });
    t.is((await done(before)).status, 'Completed');
    const late = await post('/api/files', two, [['profile', 'e-cades']]);
    t.is(late.status, 400);
    t.like(await late.json(), { code: 'validation.body-invalid' });
    const twins = await post('/api/files?profile=e-cades', [
      ['a.txt', 'x'],
      ['A.txt', 'y'],
    ]);
    t.like(await twins.json(), { status: 400, code: 'upload.invalid-name' });
    const pdf = await post('/api/files?profile=e-cades&format=Pades', two);
    t.like(await pdf.json(), { status: 400, code: 'upload.format-unsupported' });
  },
);

test.serial(
  'a retry signs the several files of a failed job, and a folder makes containers of one file',
  async (t) => {
    const authority = await startAuthority();
    t.teardown(() => authority.close());
    const root = await temporaryRoot(t);
    const settings = await localProfile(root, 0, {
      name: 'e',
      signer: authority.pki.signer('p-256'),
      members: {
        Format: 'Cades',
        Container: 'AsicE',
      },
    });
    const service = await Service.start(t, {
      root,
      settings: {
        ...settings,
        'Storage:Inputs:0:Name': 'in',
        'Storage:Inputs:0:Path': join(root, 'input'),
        'Storage:Inputs:0:Profile': 'e',
      },
      faults: 'pool.sign.staged=throw:1',
    });
    const headers = { 'X-API-Key': await service.key() };
    const form = new FormData();
    for (const name of ['a.txt', 'b.txt']) form.append('file', new Blob([`content of ${name}`]), name);
    const accepted = await fetch(`${service.url}/api/files?profile=e`, {
      method: 'POST',
      headers,
      body: form,
    });
    const { jobId } = (await accepted.json()) as { jobId: string };
    const jobOf = (id: string) => service.finished(id);
    t.is((await jobOf(jobId)).status, 'Failed');
    const retried = await fetch(`${service.url}/api/jobs/${jobId}/retry`, { method: 'POST', headers });
    const { newJobId } = (await retried.json()) as { newJobId: string };
    const child = await jobOf(newJobId);
    t.is(child.status, 'Completed', child.errorMessage ?? '');
    const bytes = await readFile(join(root, 'output', child.outputFileName ?? ''), 'latin1');
    t.true(bytes.includes('content of a.txt') && bytes.includes('content of b.txt'));
    await writeFile(join(root, 'input', 'dropped.bin'), 'dropped');
    for (;;) {
      const dropped = await readFile(join(root, 'output', 'dropped.bin.asice'), 'latin1').catch(() => '');
      if (dropped.includes('dropped.bin')) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    t.pass();
  },
);

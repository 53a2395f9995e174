/**
 * What a profile says of its signatures, and what an upload may set in its place.
 * Source: docs/decisions/0242-what-uploads-may-set.md.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { validateFile } from '@sealwright/signatures';
import test, { type ExecutionContext } from 'ava';
import { samplePdf } from '../../../bench/samples.ts';
import { declaredProfiles } from '../../../service/declared-profiles.ts';
import { FOUR_COLOURS } from '../../crypto/pades/appearance/appearance-pictures.ts';
import { contract, hiddenLook } from '../../crypto/pades/validation/attack-files.ts';
import { pki } from '../../pki/pki.ts';
import { reached } from '../../project/waiting.ts';
import { accepted } from '../../settings/load.ts';
import { opensslCms, pdfsig, runTool, withTools, xmlsec1 } from '../../verifiers/index.ts';
import { Service, temporaryRoot } from '../service.ts';
import { localProfile, profile, type Settings } from './profiles.ts';

const toolTest = withTools(test, 'pdftotext', 'pdfsig', 'certutil', 'qpdf', 'xmlsec1');

const PLACE: Settings = {
  'Pades:Appearance:Page': 'last',
  'Pades:Appearance:Left': '50%',
  'Pades:Appearance:Top': '80%',
  'Pades:Appearance:Width': 220,
  'Pades:Appearance:Height': '10%',
};

interface Options {
  readonly service: Service;
  readonly root: string;
  upload(
    name: string,
    content: Uint8Array | string,
    profileName: string,
    more?: {
      readonly fields?: Readonly<Record<string, string>>;
      readonly headers?: Readonly<Record<string, string>>;
    },
  ): Promise<{
    readonly status: number;
    readonly body: { jobId: string; code: string; title: string; errors?: unknown };
  }>;
  /** Path of the output. */
  signed(...upload: Parameters<Options['upload']>): Promise<string>;
}

async function start(t: ExecutionContext, settings: Settings, root: string): Promise<Options> {
  const service = await Service.start(t, {
    root,
    faults: 'pool.sign.staged/again.pdf=throw:1,pool.sign.staged/long.xml=throw:1',
    settings: {
      ...settings,
      'RateLimiting:Enabled': false,
      'Signing:Trust:Roots:0': pki().rootFile,
      'Signing:Trust:Revocation': 'None',
    },
  });
  const upload: Options['upload'] = async (
    name,
    content,
    profileName,
    { fields = {}, headers = {} } = {},
  ) => {
    const form = new FormData();
    for (const [field, text] of Object.entries(fields)) form.set(field, text);
    form.set('file', new Blob([content as string]), name);
    const answer = await service.fetch(`/api/files?profile=${profileName}`, {
      method: 'POST',
      body: form,
      headers,
    });
    return {
      status: answer.status,
      body: (await answer.json()) as Awaited<ReturnType<Options['upload']>>['body'],
    };
  };
  return {
    service,
    root,
    upload,
    async signed(...parts) {
      const { status, body } = await upload(...parts);
      t.is(status, 202, JSON.stringify(body));
      const job = await service.finished(body.jobId);
      t.is(job.errorMessage, null, parts[0]);
      return join(root, 'output', job.outputFileName ?? '');
    },
  };
}

async function textOf(path: string, page: number): Promise<string> {
  const { stdout } = await runTool('pdftotext', [
    '-f',
    String(page),
    '-l',
    String(page),
    '-layout',
    path,
    '-',
  ]);
  return stdout;
}

const TRUST = () => ({ anchors: [pki().root.certificate], intermediates: [], revocation: 'none' }) as const;

toolTest.serial(
  'a visible signature shows the lines of its profile in its place, with a picture',
  async (t) => {
    const root = await temporaryRoot(t);
    const image = join(root, 'seal.png');
    await writeFile(image, FOUR_COLOURS);
    const signer = pki().signer('rsa-2048');
    const { signed, upload, service } = await start(
      t,
      {
        ...(await localProfile(root, 0, {
          name: 'stamp',
          signer,
          members: {
            'Pades:Location': 'Lisboa',
            ...PLACE,
            'Pades:Appearance:Lines:0': 'Signed by {signer}',
            'Pades:Appearance:Lines:1': 'Reason: {reason}',
            'Pades:Appearance:Lines:2': '{location}, {date}',
            'Pades:Appearance:Lines:3': '{file} / {profile}',
            'Pades:Appearance:ImagePath': image,
            'Pades:Appearance:TimeZone': 'America/Sao_Paulo',
            'Overrides:0': 'Reason',
            'Overrides:1': 'Page',
          },
        })),
        ...(await localProfile(root, 1, {
          name: 'strict',
          signer: pki().signer('p-256'),
          members: {
            Format: 'Pades',
            ...PLACE,
            'Pades:Location': '𐌰',
            'Pades:Appearance:Lines:0': 'Also by {signer}',
            'Pades:Appearance:Lines:1': '{location}',
          },
        })),
      },
      root,
    );
    t.regex(
      service.printed,
      /Visible signature of profile strict: No font that is installed has 𐌰 \(U\+10330\)/,
    );
    const plain = await signed('año.pdf', samplePdf(4000, 'p', 3), 'stamp');
    const last = await textOf(plain, 3);
    t.regex(last, /Signed by \S+/);
    t.regex(last, /Lisboa, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d -03:00/);
    t.regex(last, /año\.pdf \/ stamp/);
    t.notRegex(last, /Reason:/, 'a line whose placeholder is empty is left out');
    t.notRegex(await textOf(plain, 1), /Signed by/);

    const first = await signed('b.dat', samplePdf(4000, 'p', 3), 'stamp', {
      fields: { page: '1', reason: 'Preço {x}' },
    });
    t.regex(await textOf(first, 1), /Reason: Preço \{x\}/, 'a text is not read for placeholders');
    t.deepEqual(
      (await pdfsig(first, pki())).map(({ ok }) => ok),
      [true],
    );

    const odd = await upload('odd.pdf', contract(hiddenLook), 'stamp', { fields: { page: '1' } });
    const detail = (id: string) => service.fetch(`/api/jobs/${id}`).then((answer) => answer.json());
    await service.finished(odd.body.jobId);
    t.like(await detail(odd.body.jobId), {
      warnings: [{ code: 'pdf.hidden-look', object: 'Approval' }],
    });
    const gothic = await upload('gothic.pdf', samplePdf(4000, 'p', 3), 'stamp', {
      fields: { reason: 'Ok 𐌰' },
    });
    await service.finished(gothic.body.jobId);
    t.like(await detail(gothic.body.jobId), {
      warnings: [{ code: 'pdf.no-glyph', object: '𐌰 (U+10330)' }],
    });

    // Two signatures: the second one moves to a free place, and both stay valid.
    const again = await upload('twice.pdf', await readFile(plain), 'strict');
    const twice = join(root, 'output', (await service.finished(again.body.jobId)).outputFileName ?? '');
    t.deepEqual(
      (await pdfsig(twice, pki())).map(({ okEarlier }) => okEarlier),
      [true, true],
    );
    const report = await validateFile({ format: 'Pades', path: twice, trust: TRUST(), at: Date.now() });
    t.is(report.indication, 'TOTAL-PASSED', JSON.stringify(report, null, 1));
    const both = await textOf(twice, 3);
    t.regex(both, /Signed by/);
    t.regex(both, /Also by/);

    for (const [name, fields, profileName, message] of [
      [
        'location',
        { location: 'Porto' },
        'stamp',
        /does not let an upload set location\. .*Location to the Overrides/,
      ],
      ['reason', { reason: 'x' }, 'strict', /does not let an upload set reason/],
      ['page', { page: '0' }, 'stamp', /page must be a page number, or last/],
      ['reason', { reason: 'x'.repeat(251) }, 'stamp', /at most 250 characters/],
      [
        'reason',
        { reason: 'x', format: 'Cades' },
        'stamp',
        /reason is for the format Pades; this file gets Cades/,
      ],
      ['reason', { reason: 'x', operation: 'Extend' }, 'stamp', /cannot extend/],
    ] as const) {
      const jobs = (await service.jobs()).length;
      const { status, body } = await upload('c.pdf', samplePdf(), profileName, { fields });
      t.is(status, 400, name);
      t.is(body.code, 'validation.body-invalid');
      t.regex(JSON.stringify(body), message);
      t.is((await service.jobs()).length, jobs, 'nothing is queued');
    }
  },
);

toolTest.serial(
  'a profile certifies the first signature at each level, on every page, and pads with PSS',
  async (t) => {
    const root = await temporaryRoot(t);
    const certified = { Format: 'Pades', ...PLACE, 'Pades:Appearance:Lines:0': '{signer}' };
    const { signed, upload, service } = await start(
      t,
      {
        ...(await localProfile(root, 0, {
          name: 'certify',
          signer: pki().signer('rsa-2048'),
          members: {
            ...certified,
            'Pades:Certification': 2,
            RsaPadding: 'Pss',
            VerifyIndependently: true,
            'Overrides:0': 'Certification',
            'Overrides:1': 'Page',
          },
        })),
        ...(await localProfile(root, 1, {
          name: 'approve',
          signer: pki().signer('p-256'),
          members: { Format: 'Pades' },
        })),
        ...(await localProfile(root, 2, {
          name: 'pss',
          signer: pki().signer('rsa-2048'),
          members: {
            Format: 'Cades',
            RsaPadding: 'Pss',
            'Overrides:0': 'RsaPadding',
          },
        })),
        ...(await localProfile(root, 3, {
          name: 'curve',
          signer: pki().signer('p-256'),
          members: {
            Format: 'Cades',
            'Overrides:0': 'RsaPadding',
          },
        })),
      },
      root,
    );
    for (const certification of ['1', '2', '3']) {
      for (const page of ['1', '2', '7', 'last']) {
        const name = `${certification}-${page}.pdf`;
        const path = await signed(name, samplePdf(4000, 'p', 3), 'certify', {
          fields: { certification, page },
        });
        t.deepEqual(
          (await pdfsig(path, pki())).map(({ ok }) => ok),
          [true],
          name,
        );
        const bytes = (await readFile(path)).toString('latin1');
        t.regex(bytes, new RegExp(`/DocMDP.*/P ${certification}`, 's'), name);
        const report = await validateFile({ format: 'Pades', path, trust: TRUST(), at: Date.now() });
        t.is(report.indication, 'TOTAL-PASSED', name);
        t.regex(JSON.stringify(report.signatures[0]), /rsa-pss/, name);
      }
    }
    const level1 = join(root, 'output', '1-1.signed.pdf');
    const level2 = join(root, 'output', '2-1.signed.pdf');
    for (const [name, source, profileName, allowed] of [
      ['forbidden.pdf', level1, 'approve', false],
      ['allowed.pdf', level2, 'approve', true],
      ['certified-twice.pdf', level2, 'certify', false],
    ] as const) {
      const { body } = await upload(name, await readFile(source), profileName);
      const job = await service.finished(body.jobId);
      t.is(job.status, allowed ? 'Completed' : 'Failed', name);
      t.is(job.errorCode, allowed ? null : 'pdf.change-forbidden', name);
    }
    const cms = await signed('a.bin', 'content', 'pss');
    t.true((await opensslCms({ signature: cms, ca: pki().rootFile })).ok);
    const schemeOf = async (path: string) => {
      const report = await validateFile({ format: 'Cades', path, trust: TRUST(), at: Date.now() });
      return /rsa-p\w+/.exec(JSON.stringify(report.signatures[0]))?.[0];
    };
    t.is(await schemeOf(cms), 'rsa-pss');
    t.is(
      await schemeOf(await signed('b.bin', 'content', 'pss', { fields: { rsaPadding: 'pkcs1' } })),
      'rsa-pkcs1',
    );
    t.is(
      await schemeOf(await signed('c.bin', 'content', 'pss', { fields: { rsaPadding: 'Pss' } })),
      'rsa-pss',
    );
    for (const [profileName, rsaPadding, message] of [
      ['pss', 'Oaep', /must be Pkcs1 or Pss/],
      ['curve', 'Pss', /is for RSA keys/],
      ['certify', 'Pkcs1', /is not among the Overrides/],
    ] as const) {
      const { status, body } = await upload('d.pdf', samplePdf(), profileName, { fields: { rsaPadding } });
      t.deepEqual([status, body.code], [400, 'validation.body-invalid']);
      t.regex(JSON.stringify(body.errors), message);
    }
  },
);

toolTest.serial(
  'a retry and a repeated upload keep what the first upload set, a watched folder signs as its profile says',
  async (t) => {
    const root = await temporaryRoot(t);
    const folder = join(root, 'watched');
    await mkdir(folder);
    const { upload, service } = await start(
      t,
      {
        ...(await localProfile(root, 0, {
          name: 'stamp',
          signer: pki().signer('p-256'),
          members: {
            Format: 'Pades',
            ...PLACE,
            'Pades:Reason': 'Routine',
            'Pades:Appearance:Lines:0': 'Reason: {reason}',
            'Overrides:0': 'Reason',
          },
        })),
        'Storage:Inputs:0:Name': 'in',
        'Storage:Inputs:0:Path': folder,
        'Storage:Inputs:0:Profile': 'stamp',
      },
      root,
    );
    const send = (reason: string) =>
      upload('again.pdf', samplePdf(), 'stamp', {
        fields: { reason },
        headers: { 'Idempotency-Key': 'one' },
      });
    const first = await send('Exception');
    t.is((await service.finished(first.body.jobId)).status, 'Failed');
    t.is((await send('Exception')).body.jobId, first.body.jobId);
    const other = await send('Another');
    t.deepEqual([other.status, other.body.code], [422, 'idempotency.mismatch']);
    const { newJobId } = await service.json<{ newJobId: string }>(`/api/jobs/${first.body.jobId}/retry`, {
      method: 'POST',
    });
    const retried = await service.finished(newJobId);
    t.regex(await textOf(join(root, 'output', retried.outputFileName ?? ''), 1), /Reason: Exception/);

    await writeFile(join(folder, 'dropped.pdf'), samplePdf());
    const isSigned = async () =>
      (await service.jobs()).some(
        ({ fileName, status }) => fileName === 'dropped.pdf' && status === 'Completed',
      );
    await reached(isSigned);
    t.regex(await textOf(join(root, 'output', 'dropped.signed.pdf'), 1), /Reason: Routine/);
  },
);

const EXT = 'urn:oasis:names:specification:ubl:schema:xsd:CommonExtensionComponents-2';
const INVOICE =
  `<?xml version="1.0" encoding="UTF-8"?>\n<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2" xmlns:ext="${EXT}">` +
  '<ext:UBLExtensions><ext:UBLExtension><ext:ExtensionContent/></ext:UBLExtension></ext:UBLExtensions><ID>F-1 Ünï</ID></Invoice>';

toolTest.serial(
  'a signature stands in the extension of an invoice, over all of it, and others follow',
  async (t) => {
    const root = await temporaryRoot(t);
    const place = {
      Format: 'Xades',
      'Xades:Place': '//e:UBLExtension[1]/e:ExtensionContent',
      'Xades:Namespaces:0': `e=${EXT}`,
    };
    const { signed, upload, service } = await start(
      t,
      {
        ...(await localProfile(root, 0, {
          name: 'invoice',
          signer: pki().signer('rsa-2048'),
          members: {
            ...place,
            VerifyIndependently: true,
          },
        })),
        ...(await localProfile(root, 1, {
          name: 'shared',
          signer: pki().signer('p-256'),
          members: { ...place, CoSign: true },
        })),
        ...(await localProfile(root, 2, {
          name: 'also',
          signer: pki().signer('rsa-2048'),
          members: { ...place, CoSign: true },
        })),
        ...(await localProfile(root, 3, {
          name: 'plain',
          signer: pki().signer('rsa-2048'),
          members: {
            ...place,
            'Xades:Form': 'XmlDsig',
            'Xades:Canonicalization': 'Inclusive',
            VerifyIndependently: true,
          },
        })),
        ...(await localProfile(root, 4, {
          name: 'chosen',
          signer: pki().signer('rsa-2048'),
          members: {
            Format: 'Xades',
            'Xades:ElementPath': '//ID',
            'Xades:Insertion': 'After',
            'Overrides:0': 'Place',
            'Overrides:1': 'ElementId',
            'Overrides:2': 'CoSign',
          },
        })),
      },
      root,
    );
    const plainOne = await signed('plain.xml', INVOICE, 'plain');
    const plainText = await readFile(plainOne, 'utf8');
    t.regex(plainText, /<ext:ExtensionContent><Signature xmlns=.*<\/Signature><\/ext:ExtensionContent>/);
    t.notRegex(plainText, /QualifyingProperties/);
    t.true((await xmlsec1({ file: plainOne, ca: pki().rootFile })).ok);
    const judge = async (path: string, count: number) => {
      const report = await validateFile({ format: 'Xades', path, trust: TRUST(), at: Date.now() });
      t.is(report.indication, 'TOTAL-PASSED', JSON.stringify(report, null, 1));
      t.is(report.signatures.length, count);
      const verdict = await xmlsec1({ file: path, ca: pki().rootFile });
      t.true(verdict.ok, JSON.stringify(verdict));
    };
    const one = await signed('one.xml', INVOICE, 'invoice');
    t.regex(
      await readFile(one, 'utf8'),
      /<ext:ExtensionContent><ds:Signature .*<\/ds:Signature><\/ext:ExtensionContent>/,
    );
    await judge(one, 1);
    const altered = join(root, 'altered.xml');
    await writeFile(altered, (await readFile(one, 'utf8')).replace('F-1', 'F-2'));
    t.false((await xmlsec1({ file: altered, ca: pki().rootFile })).ok);

    const first = await signed('first.xml', INVOICE, 'shared');
    await judge(await signed('second.xml', await readFile(first), 'also'), 2);

    // The first upload is too long to be released in the signing task, and fails once.
    const long = INVOICE.replace('</Invoice>', `<Note>${'x'.repeat(1_100_000)}</Note></Invoice>`);
    const chosen = { place: '//ext:UBLExtension/ext:ExtensionContent', coSign: 'true' };
    const failed = await upload('long.xml', long, 'chosen', { fields: chosen });
    t.is((await service.finished(failed.body.jobId)).status, 'Failed');
    const { newJobId } = await service.json<{ newJobId: string }>(`/api/jobs/${failed.body.jobId}/retry`, {
      method: 'POST',
    });
    const retried = await service.finished(newJobId);
    t.is(retried.errorMessage, null);
    const placed = join(root, 'output', retried.outputFileName ?? '');
    t.regex(
      await readFile(placed, 'utf8'),
      /<ext:ExtensionContent><ds:Signature .*<\/ds:Signature><\/ext:ExtensionContent>/,
    );
    await judge(placed, 1);
    await judge(await signed('chosen.xml', await readFile(placed), 'also'), 2);
    for (const [fields, message] of [
      [{ ...chosen, elementId: 'a' }, /"place":\["cannot be used with elementId"\]/],
      [{ ...chosen, place: '//a[last()]' }, /"place":\["must be a location path"\]/],
      [{ ...chosen, format: 'Cades' }, /"place":\["is for the format Xades"\]/],
      [{ coSign: 'yes' }, /"coSign":\["must be true or false"\]/],
      [{ rsaPadding: 'Pss' }, /"rsaPadding":\["is not among the Overrides of the profile chosen"\]/],
    ] as const) {
      const { status, body } = await upload('no.xml', INVOICE, 'chosen', { fields });
      t.deepEqual([status, body.code], [400, 'validation.body-invalid']);
      t.regex(JSON.stringify(body.errors), message);
    }

    const { body } = await upload('again.xml', await readFile(one), 'shared');
    t.is((await service.finished(body.jobId)).errorCode, 'xml.existing-signature');
    const other = await upload('other.xml', '<order/>', 'invoice');
    t.regex(
      (await service.finished(other.body.jobId)).errorMessage ?? '',
      /names no element of the document/,
    );
  },
);

test.serial(
  'a signed CMS file and a container get another signature where the profile says so',
  async (t) => {
    const root = await temporaryRoot(t);
    const rsa = pki().signer('rsa-2048');
    const ec = pki().signer('p-256');
    const { signed, upload, service } = await start(
      t,
      {
        ...(await localProfile(root, 0, {
          name: 'first',
          signer: rsa,
          members: { Format: 'Cades', PreserveFileExtension: false },
        })),
        ...(await localProfile(root, 1, {
          name: 'again',
          signer: ec,
          members: {
            Format: 'Cades',
            CoSign: true,
            'Overrides:0': 'CoSign',
          },
        })),
        ...(await localProfile(root, 2, {
          name: 'box',
          signer: rsa,
          members: { Format: 'Xades', Container: 'AsicE' },
        })),
        ...(await localProfile(root, 3, {
          name: 'box-again',
          signer: ec,
          members: {
            Format: 'Xades',
            Container: 'AsicE',
            'Overrides:0': 'CoSign',
          },
        })),
      },
      root,
    );
    const count = async (format: 'Cades' | 'Asic', path: string): Promise<number> => {
      const report = await validateFile({ format, path, trust: TRUST(), at: Date.now() });
      t.is(report.indication, 'TOTAL-PASSED', JSON.stringify(report, null, 1));
      return report.signatures.filter(({ isInContent }) => isInContent !== true).length;
    };
    const cms = await signed('a.txt', 'content', 'first');
    const twice = await signed('a.txt.p7m', await readFile(cms), 'again');
    t.is(twice, join(root, 'output', 'a.txt.signed.p7m'));
    t.is(await count('Cades', twice), 2);
    const out = join(root, 'content');
    t.true((await opensslCms({ signature: twice, ca: pki().rootFile, out })).ok);
    t.is(await readFile(out, 'utf8'), 'content');
    t.is(await count('Cades', await signed('plain.txt', 'content', 'again')), 1);
    t.is(await count('Cades', await signed('wrapped.p7m', await readFile(cms), 'first')), 1);
    const wrapped = await signed('inner.p7m', await readFile(cms), 'again', { fields: { coSign: 'False' } });
    t.is(await count('Cades', wrapped), 1);

    const box = await signed('b.txt', 'content', 'box');
    t.is(await count('Asic', await signed('c.asice', await readFile(box), 'box-again')), 1);
    const both = await signed('b.asice', await readFile(box), 'box-again', { fields: { coSign: 'true' } });
    t.is(both, join(root, 'output', 'b.signed.asice'));
    t.is(await count('Asic', both), 2);
    const several = new FormData();
    several.set('coSign', 'true');
    for (const name of ['d.asice', 'e.txt']) several.append('file', new Blob([await readFile(box)]), name);
    const pair = await service.json<{ jobId: string }>('/api/files?profile=box-again', {
      method: 'POST',
      body: several,
    });
    const made = await service.finished(pair.jobId);
    t.is(made.errorMessage, null, 'a container among others is content');
    t.is(await count('Asic', join(root, 'output', made.outputFileName ?? '')), 1);

    const torn = await readFile(cms);
    torn[torn.indexOf('content')] = 0x43;
    const { body } = await upload('torn.p7m', torn, 'again');
    const job = await service.finished(body.jobId);
    t.is(job.status, 'Failed');
    t.log(job.errorMessage);
  },
);

function faultsOf(members: Settings): readonly string[] {
  const faults: string[] = [];
  const settings = profile(0, { Name: 'a', 'Certificate:Pfx:Path': 'a.pfx', ...members });
  const argv = Object.entries(settings).map(([key, value]) => `--${key}=${value}`);
  declaredProfiles(accepted({ argv }), faults);
  return faults;
}

test('a location path that cannot be read is a fault of the start, with its key', (t) => {
  for (const name of ['Xades:Place', 'Xades:ElementPath']) {
    t.deepEqual(faultsOf({ Format: 'Xades', [name]: '//a[1]' }), []);
    const [fault = '', ...others] = faultsOf({ Format: 'Xades', [name]: '//a[last()]' });
    t.regex(fault, new RegExp(`^Signing:Profiles:0:${name}: The location path has`));
    t.deepEqual(others, []);
  }
});

test('an image that cannot be drawn is a fault of the start, with its key', async (t) => {
  const root = await temporaryRoot(t);
  const files = { 'good.png': FOUR_COLOURS, 'torn.png': FOUR_COLOURS.subarray(0, 20) };
  for (const [name, content] of Object.entries(files)) await writeFile(join(root, name), content);
  const faultsOfImage = (image: string): readonly string[] =>
    faultsOf({ Format: 'Pades', ...PLACE, 'Pades:Appearance:ImagePath': join(root, image) });
  t.deepEqual(faultsOfImage('good.png'), []);
  t.regex(
    faultsOfImage('torn.png').join(),
    /^Signing:Profiles:0:Pades:Appearance:ImagePath: .*torn\.png is no PNG or JPEG/,
  );
  t.regex(
    faultsOfImage('none.png').join(),
    /^Signing:Profiles:0:Pades:Appearance:ImagePath: .*can't be read: ENOENT/,
  );
});

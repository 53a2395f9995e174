import { spawnSync } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import test from 'ava';
import type { XadesFormat } from '#crypto/core/types.js';
import { withTools } from '../../verifiers/index.ts';
import { generateDocument } from '../xml/documents.ts';
import { byXmlsec, failed, newFile, newPath, signDocument, verdict } from './signing.ts';

const toolTest = withTools(test, 'xmlsec1');

const OBJECT_ID = ['Id', 'http://www.w3.org/2000/09/xmldsig#:Object'] as const;
const utf16 = (text: string, mark = '\uFEFF'): Buffer => Buffer.from(`${mark}${text}`, 'utf16le');

const EVERYTHING = `<?xml version="1.0" encoding="ENCODING"?>\r\n<!-- before -->\r\n<?p before?>
<r xmlns="urn:d" xmlns:a="urn:a"\r\n   a:z = '&#65;"' y="\t1"><!-- inside --><x xmlns=""><y xmlns:a="urn:b" a:q="1"/></x>
<![CDATA[<not> & markup]]>ü &amp; &lt; ]]&gt; é<a:b\txmlns:a="urn:c"><?p inside ?></a:b>\r\n</r >\r\n<!-- after --><?p after?>\r\n`;

const as = (encoding: string): string => EVERYTHING.replace('ENCODING', encoding);

const DOCUMENTS: { readonly [name: string]: string | Buffer } = {
  'UTF-8': as('UTF-8'),
  'UTF-8 with a mark': `\uFEFF${as('utf-8')}`,
  'UTF-16LE with a mark': utf16(as('UTF-16')),
  'UTF-16BE with a mark': utf16(as('UTF-16')).swap16(),
  'UTF-16LE without a mark': utf16(as('UTF-16LE'), ''),
  'UTF-16BE without a mark': utf16(as('UTF-16BE'), '').swap16(),
  'ISO-8859-1': Buffer.from(as('ISO-8859-1'), 'latin1'),
};

const FORMS: { readonly [name: string]: XadesFormat } = {
  enveloped: {},
  'enveloped for several signers': { coSignable: true },
  enveloping: { packaging: 'enveloping' },
};

for (const [name, document] of Object.entries(DOCUMENTS)) {
  for (const [form, xades] of Object.entries(FORMS)) {
    toolTest.serial(`a document with every XML construct is signed in ${name}, ${form}`, async (t) => {
      const signed = signDocument(document, { xades });
      t.deepEqual(failed(verdict(signed.path, signed.original)), []);
      const good = await byXmlsec(signed.path, { idAttributes: [OBJECT_ID] });
      t.true(good.ok && good.referencesOk === 2, good.text);
      const changed = Buffer.from(signed.bytes);
      const at = changed.indexOf(name.startsWith('UTF-16') ? Buffer.from('é', 'utf16le') : 'markup');
      changed[at < 0 ? changed.indexOf('m\0a\0r\0k') : at] = 0x6e;
      t.false((await byXmlsec(newFile(changed), { idAttributes: [OBJECT_ID] })).ok);
    });
  }
}

toolTest.serial('the engine and xmlsec1 accept generated documents signed in every packaging', async (t) => {
  for (let seed = 5000; seed < 5030; seed++) {
    const xades = Object.values(FORMS)[1 + (seed % 2)] ?? {};
    const signed = signDocument(generateDocument(seed).text, { xades });
    t.deepEqual(failed(verdict(signed.path, signed.original)), [], `seed ${seed}`);
    const { ok, text } = await byXmlsec(signed.path, { idAttributes: [OBJECT_ID] });
    t.true(ok, `seed ${seed}: ${text}`);
  }
});

/**
 * Returns the peak of resident memory in megabytes of a process that signs the file, and of one that signs a tiny
 * file.
 */
function peakOf(input: string, xades: XadesFormat): number {
  const script = new URL('./peak-memory.js', import.meta.url).pathname;
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [script, input, newPath(), JSON.stringify(xades)],
    {
      encoding: 'utf8',
      timeout: 60_000,
    },
  );
  if (status !== 0) throw new Error(stderr);
  return Number(stdout) / 1024;
}

/** Creates a file of that many megabytes from one repeated line. */
function largeFile(megabytes: number, line: Buffer, head: Buffer, tail: Buffer): string {
  const path = newPath('xml');
  const fd = openSync(path, 'w');
  const block = Buffer.concat(Array.from({ length: Math.ceil((1 << 20) / line.length) }, () => line));
  writeSync(fd, head);
  for (let written = 0; written < megabytes << 20; written += block.length) writeSync(fd, block);
  writeSync(fd, tail);
  closeSync(fd);
  return path;
}

test.serial(
  'a large document takes at most three times its bytes of memory, and a detached large file almost none',
  (t) => {
    const line = '<x a="1">some text &amp; more of it</x>\n';
    const [utf8, wide] = (['utf8', 'utf16le'] as const).map((encoding) => {
      const bytes = (text: string): Buffer => Buffer.from(text, encoding);
      const mark = encoding === 'utf8' ? '' : '\uFEFF';
      return largeFile(40, bytes(line), bytes(`${mark}<r>`), bytes('</r>'));
    });
    const idle = peakOf(newFile('<r/>'), {});
    const most = 3 * 40;
    const within = (input: string | undefined, xades: XadesFormat, limit: number): void => {
      const used = peakOf(input ?? '', xades) - idle;
      t.true(used < limit, `${JSON.stringify(xades)}: ${Math.round(used)} of ${limit} MB`);
    };
    within(utf8, {}, most);
    within(wide, {}, most);
    within(utf8, { packaging: 'enveloping' }, most);
    within(utf8, { packaging: 'detached' }, 40);
    within(
      largeFile(160, Buffer.from('no markup\n'), Buffer.alloc(0), Buffer.alloc(0)),
      { packaging: 'enveloping' },
      most,
    );
  },
);

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { samplePdf } from '../../bench/samples.ts';

const PACKAGE = join(dirname(fileURLToPath(import.meta.resolve('@sealwright/signatures'))), '..');

test('the example of the README of signatures signs a file and finds it valid', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-signatures-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const [, code = ''] = /```js\n(.*?)```/s.exec(readFileSync(join(PACKAGE, 'README.md'), 'utf8')) ?? [];
  writeFileSync(join(folder, 'example.mjs'), code);
  symlinkSync(join(PACKAGE, '..', 'node_modules'), join(folder, 'node_modules'));
  const printed = execFileSync(process.execPath, ['example.mjs'], { cwd: folder, encoding: 'utf8' });
  t.is(printed, 'TOTAL-PASSED\n');
});

/** Packages that the compiled entry imports, directly or through files of its package. */
function packagesOf(entry: string): readonly string[] {
  const packages = new Set<string>();
  const files = new Set([join(PACKAGE, 'dist', `${entry}.js`)]);
  for (const file of files)
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/(?:from |^import )'([^']+)'/gm))
      if (name.startsWith('.')) files.add(join(dirname(file), name));
      else packages.add(name);
  return [...packages];
}

test('the readers of BER and PKCS#12 import nothing that browsers lack', (t) => {
  t.deepEqual(packagesOf('asn1'), []);
  t.deepEqual(packagesOf('pkcs12'), []);
});

test('without font packages a visible signature names the package that it needs, and other files are signed', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-signatures-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const modules = join(folder, 'node_modules');
  const own = join(modules, '@sealwright', 'signatures');
  mkdirSync(own, { recursive: true });
  cpSync(join(PACKAGE, 'package.json'), join(own, 'package.json'));
  cpSync(join(PACKAGE, 'dist'), join(own, 'dist'), { recursive: true });
  const { dependencies } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as {
    readonly dependencies: Record<string, string>;
  };
  const link = (name: string): void => {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(PACKAGE, '..', 'node_modules', name), join(modules, name));
  };
  // What the dependencies need themselves is found beside their real folders.
  for (const name of Object.keys(dependencies)) link(name);
  writeFileSync(
    join(folder, 'sign.mjs'),
    `import { randomBytes } from 'node:crypto';
    import { composePdf, loadSigner, makeDevelopmentCertificates, MemoryOutput, signFile } from '@sealwright/signatures';
    const at = Date.now();
    const made = await makeDevelopmentCertificates({ label: 'Example', now: at, random: randomBytes });
    const signer = await loadSigner({ source: 'Pem', certificatePath: Buffer.from(made.certificate), keyPath: Buffer.from(made.key) });
    const pdf = Buffer.from(process.argv[2], 'base64');
    const place = { page: 1, left: 20, top: 20, width: 200, height: 60 };
    for (const appearance of [undefined, { place, lines: ['Ana'] }, { place, lines: ['สวัสดี'] }]) {
      const output = new MemoryOutput();
      try {
        signFile({ format: 'Pades', input: pdf, output, signer, at, ...(appearance && { pades: { appearance } }) });
        console.log('signed');
      } catch ({ code, message }) {
        console.log(code, /@fontsource[a-z/-]+/.exec(message)?.[0]);
      }
    }`,
  );
  const run = () =>
    execFileSync(process.execPath, ['sign.mjs', samplePdf().toString('base64')], {
      cwd: folder,
      encoding: 'utf8',
    }).split('\n');
  const european = '@fontsource/dejavu-sans';
  t.deepEqual(run(), ['signed', `font.missing ${european}`, `font.missing ${european}`, '']);
  link(european);
  t.deepEqual(run(), ['signed', 'signed', 'font.missing @fontsource-variable/noto-sans-thai', '']);
});

/**
 * What do signing libraries of others make of the same jobs, with the same key and the same files?
 *
 *   npm ci --prefix bench/peers && npm run build && node bench/peers/run.js [--seconds 1] [--dist dist]
 *
 * One thread, bytes in memory to bytes in memory, RSA-2048 with SHA-256. Figures are jobs per second of processor time.
 * The engine makes baseline signatures; of the others, only those said so here do.
 *
 * Signers in other languages run in processes of their own where they are installed, else their rows are left out:
 * - pyHanko, if `--python` (python3) can import it;
 * - PDFBox with Bouncy Castle, if `--jars` (/usr/share/java, where Debian's libpdfbox2-java and libbcpkix-java put them) has
 *   them and `java` of 11 or newer is there. Its processor time includes the compiler and collector threads of its machine.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { webcrypto } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { P12Signer as LibPdfSigner, PDF } from '@libpdf/core';
import { plainAddPlaceholder } from '@signpdf/placeholder-plain';
import { P12Signer } from '@signpdf/signer-p12';
import { SignPdf } from '@signpdf/signpdf';
import * as xmldom from '@xmldom/xmldom';
import * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';
import * as xadesjs from 'xadesjs';
import { SignedXml } from 'xml-crypto';
import xpath from 'xpath';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '1' },
    dist: { type: 'string', default: 'dist' },
    python: { type: 'string', default: 'python3' },
    jars: { type: 'string', default: '/usr/share/java' },
  },
});
const seconds = Number(values.seconds);
const own = (path) =>
  import(pathToFileURL(resolve(import.meta.dirname, '..', '..', values.dist, path)).href);
const { samplePdf, sampleXml, noise } = await own('bench/samples.js');
const { makeAuthorityPki } = await own('test/pki/authority-pki.js');
const { keyPemOf } = await own('test/pki/pki.js');
const { certificatePem } = await own('../crypto/dist/x509/certificate.js');
const { envelopBytes } = await own('../crypto/dist/cades/sign.js');
const { MemoryOutput, signFile } = await own('../crypto/dist/index.js');

const at = Date.now();
// Some of the libraries read no certificate that anything but RSA signed.
const pki = makeAuthorityPki({ baseUrl: 'http://authority.invalid', now: at, caKey: 'rsa-2048' });
const signer = pki.signer('rsa-2048');
const keyPem = keyPemOf(signer.key.keyObject);
const certificate = certificatePem(signer.certificate);
const pfx = containerOf(keyPem, certificate);
const options = { signer, at, digest: 'sha256' };

const signed = (format) => (input) => {
  const output = new MemoryOutput();
  signFile({ ...options, format, input, output });
  return output.bytes;
};

const files = {
  'PDF 28 KB': samplePdf(28_000),
  'PDF 5 MB, 100 pages': samplePdf(5 << 20, 'pdf', 100),
  'CMS 28 KB': noise(28_000, 'binary'),
  'XML 2 KB': sampleXml(2000),
  'XML 200 KB': sampleXml(200_000),
};

pkijs.setEngine('node', new pkijs.CryptoEngine({ name: 'node', crypto: webcrypto }));
xadesjs.Application.setEngine('node', webcrypto);
xadesjs.setNodeDependencies({
  DOMParser: xmldom.DOMParser,
  XMLSerializer: xmldom.XMLSerializer,
  DOMImplementation: xmldom.DOMImplementation,
  xpath,
});
const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
const webKey = await webcrypto.subtle.importKey(
  'pkcs8',
  signer.key.keyObject.export({ type: 'pkcs8', format: 'der' }),
  algorithm,
  false,
  ['sign'],
);
const webPublic = await webcrypto.subtle.importKey(
  'spki',
  publicDer(),
  algorithm,
  true,
  ['verify'],
);
const libPdfSigner = await LibPdfSigner.create(new Uint8Array(pfx), 'word');

const PEERS = {
  PDF: {
    'sealwright (PAdES-B-B)': signed('Pades'),
    '@libpdf/core (PAdES, as it says)': async (file) => {
      const pdf = await PDF.load(new Uint8Array(file));
      return (await pdf.sign({ signer: libPdfSigner, reason: 'bench' })).bytes;
    },
    '@signpdf (adbe.pkcs7.detached)': (file) =>
      new SignPdf().sign(
        plainAddPlaceholder({ pdfBuffer: file, reason: 'bench', contactInfo: '', name: '', location: '' }),
        new P12Signer(pfx, { passphrase: 'word' }),
      ),
  },
  CMS: {
    'sealwright (CAdES-B-B)': (file) => envelopBytes(file, options),
    'pkijs (plain CMS)': cmsByPkijs,
  },
  XML: {
    'sealwright (XAdES-B-B)': signed('Xades'),
    'xml-crypto (plain XMLDSig)': (file) => {
      const xml = new SignedXml({
        privateKey: keyPem,
        publicCert: certificate,
        signatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
        canonicalizationAlgorithm: 'http://www.w3.org/2001/10/xml-exc-c14n#',
      });
      xml.addReference({
        xpath: '/*',
        isEmptyUri: true,
        uri: '',
        transforms: [
          'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
          'http://www.w3.org/2001/10/xml-exc-c14n#',
        ],
        digestAlgorithm: 'http://www.w3.org/2001/04/xmlenc#sha256',
      });
      xml.computeSignature(file.toString());
      return xml.getSignedXml();
    },
    'xadesjs (XAdES-BES)': async (file) => {
      const document = xadesjs.Parse(file.toString());
      const xml = new xadesjs.SignedXml();
      await xml.Sign(algorithm, webKey, document, {
        keyValue: webPublic,
        references: [{ hash: 'SHA-256', transforms: ['enveloped', 'exc-c14n'] }],
        x509: [signer.certificate.toString('base64')],
        signingCertificate: signer.certificate.toString('base64'),
      });
      return xml.toString();
    },
  },
};

const rows = {};
for (const [name, file] of Object.entries(files)) {
  const [kind] = name.split(' ');
  for (const [peer, sign] of Object.entries(PEERS[kind])) {
    try {
      rows[`${name}: ${peer}`] = await measure(() => sign(file));
    } catch (error) {
      rows[`${name}: ${peer}`] = { 'per CPU second': `failed: ${error.message}`.slice(0, 60) };
    }
  }
}
Object.assign(rows, await measurePrograms());
console.log(
  `date    ${new Date(at).toISOString()}\nnode    ${process.version}\nmachine ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}\nkey     RSA-2048, SHA-256\n`,
);
console.table(rows);

/** Rows of the signers in other languages that are installed, each with its output checked by pdfsig where that is installed. */
async function measurePrograms() {
  const jars = ['pdfbox2', 'fontbox2', 'commons-logging', 'bcprov', 'bcpkix', 'bcutil'].map((name) =>
    join(values.jars, `${name}.jar`),
  );
  const localPath = (name) => join(import.meta.dirname, name);
  const programs = [];
  if (spawnSync(values.python, ['-c', 'import pyhanko']).status === 0)
    programs.push({
      name: 'pyHanko (PAdES-B-B)',
      suffix: 'pyhanko',
      command: [values.python, localPath('pyhanko_signer.py')],
    });
  if (jars.every((jar) => existsSync(jar)) && spawnSync('java', ['--version']).status === 0)
    programs.push({
      name: 'PDFBox and Bouncy Castle (PAdES-B-B)',
      suffix: 'pdfbox',
      command: ['java', '-cp', jars.join(':'), localPath('PdfBoxSigner.java')],
    });
  const found = {};
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-peers-'));
  try {
    writeFileSync(join(folder, 'signer.pfx'), pfx);
    const pdfs = Object.entries(files).filter(([name]) => name.startsWith('PDF'));
    for (const [name, file] of pdfs) writeFileSync(join(folder, `${name}.pdf`), file);
    for (const { name, suffix, command } of programs) {
      const [program, ...words] = command;
      const { status, stdout, stderr } = spawnSync(program, [...words, folder, values.seconds], {
        encoding: 'utf8',
      });
      if (status !== 0) {
        console.error(`${name} failed: ${stderr.slice(-400)}`);
        continue;
      }
      for (const line of stdout.trim().split('\n')) {
        const { file, calls, cpuSeconds, p50Millis, version } = JSON.parse(line);
        assertSigned(join(folder, `${file}.pdf.${suffix}`));
        found[`${file}: ${name.replace(' (', ` ${version} (`)}`] = rowOf(calls / cpuSeconds, p50Millis);
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return found;
}

function assertSigned(file) {
  const { status, stdout } = spawnSync('pdfsig', ['-nocert', file], { encoding: 'utf8' });
  if (status === null) return;
  if (!stdout.includes('Signature is Valid')) throw new Error(`pdfsig does not accept ${file}: ${stdout}`);
}

function rowOf(rate, median) {
  return {
    'per CPU second': rate < 100 ? Number(rate.toFixed(1)) : Math.round(rate),
    'p50 ms': Number(median.toFixed(2)),
  };
}

/** Calls in a second of processor time, warmed up; at least three. */
async function measure(work) {
  const warm = performance.now() + seconds * 300;
  do await work();
  while (performance.now() < warm);
  const took = [];
  const before = process.cpuUsage();
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end || took.length < 3) {
    const from = performance.now();
    await work();
    took.push(performance.now() - from);
  }
  const { user, system } = process.cpuUsage(before);
  took.sort((one, other) => one - other);
  return rowOf(took.length / ((user + system) / 1e6), took[took.length >> 1] ?? 0);
}

async function cmsByPkijs(file) {
  const digest = await webcrypto.subtle.digest('SHA-256', file);
  const parsed = pkijs.Certificate.fromBER(signer.certificate);
  const attribute = (type, value) => new pkijs.Attribute({ type, values: [value] });
  const signedData = new pkijs.SignedData({
    version: 1,
    encapContentInfo: new pkijs.EncapsulatedContentInfo({ eContentType: '1.2.840.113549.1.7.1' }),
    signerInfos: [
      new pkijs.SignerInfo({
        version: 1,
        sid: new pkijs.IssuerAndSerialNumber({ issuer: parsed.issuer, serialNumber: parsed.serialNumber }),
        signedAttrs: new pkijs.SignedAndUnsignedAttributes({
          type: 0,
          attributes: [
            attribute('1.2.840.113549.1.9.3', new asn1js.ObjectIdentifier({ value: '1.2.840.113549.1.7.1' })),
            attribute('1.2.840.113549.1.9.5', new asn1js.UTCTime({ valueDate: new Date(at) })),
            attribute('1.2.840.113549.1.9.4', new asn1js.OctetString({ valueHex: digest })),
          ],
        }),
      }),
    ],
    certificates: [parsed],
  });
  await signedData.sign(webKey, 0, 'SHA-256', file);
  const content = signedData.toSchema(true);
  return new pkijs.ContentInfo({ contentType: '1.2.840.113549.1.7.2', content }).toSchema().toBER(false);
}

function publicDer() {
  const parsed = pkijs.Certificate.fromBER(signer.certificate);
  return parsed.subjectPublicKeyInfo.toSchema().toBER(false);
}

/** PKCS#12 in the old encryption, which every library reads. */
function containerOf(key, crt) {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-peers-'));
  try {
    const [keyFile, crtFile] = [join(folder, 'key'), join(folder, 'crt')];
    writeFileSync(keyFile, key);
    writeFileSync(crtFile, crt);
    const out = join(folder, 'pfx');
    const pbe = 'PBE-SHA1-3DES';
    execFileSync('openssl', [
      ...['pkcs12', '-export', '-inkey', keyFile, '-in', crtFile, '-passout', 'pass:word', '-out', out],
      ...['-keypbe', pbe, '-certpbe', pbe, '-macalg', 'sha1'],
    ]);
    return readFileSync(out);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

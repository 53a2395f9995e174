/**
 * Signs a PDF with a visible line, and says what a validation finds.
 *
 * KEY_PASSWORD=… node sign-pdf.mjs contract.pdf key.p12 roots.pem [http://timestamps.example]
 * Writes contract.signed.pdf beside the file. Needs @sealwright/signatures and @fontsource/dejavu-sans.
 */
import { readFileSync } from 'node:fs';
import {
  CryptoError,
  certificatesIn,
  createTimestampAuthority,
  loadSigner,
  signFileAtLevel,
  validateFile,
} from '@sealwright/signatures';

const [input = '', key = '', roots = '', url] = process.argv.slice(2);
const output = input.replace(/\.pdf$/i, '.signed.pdf');
const at = Date.now();

try {
  const signer = await loadSigner({ source: 'Pfx', path: key, password: process.env.KEY_PASSWORD ?? '' });
  for (const { text } of signer.warnings) console.error(text);
  const place = { page: null, left: 40, top: 720, width: 220, height: 40 };
  const pades = { reason: 'Agreed', appearance: { place, lines: [`Signed: ${signer.subject}`] } };
  const services = url === undefined ? {} : { timestamps: createTimestampAuthority({ url }) };
  const level = url === undefined ? 'B' : 'T';
  await signFileAtLevel({ format: 'Pades', input, output, signer, at, level, pades }, services);
  const trust = { anchors: certificatesIn(readFileSync(roots)), revocation: 'none' };
  const report = await validateFile({ format: 'Pades', path: output, trust, at: Date.now() });
  console.log(`${output}: ${report.indication}, level ${report.signatures.at(-1)?.level}`);
} catch (error) {
  if (!(error instanceof CryptoError)) throw error;
  console.error(`${error.message} (${error.code})`);
  process.exitCode = 1;
}

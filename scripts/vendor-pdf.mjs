/**
 * Copies what the service runs and serves of pdf.js into dist/vendor/, a seventh of the package, so that the package
 * and its native canvas are needed by the build only. Page texts are read without a canvas: pdf.js asks for its classes
 * while it loads, and gets empty ones.
 *
 * Beside each script that browsers load is its text in the best Brotli, `.br`, which takes seconds: made once for a version.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

const ROOT = join(import.meta.dirname, '..');
const FILES = [
  'LICENSE',
  'build/pdf.min.mjs',
  'build/pdf.worker.min.mjs',
  'legacy/build/pdf.mjs',
  'legacy/build/pdf.worker.mjs',
  'legacy/build/pdf.min.mjs',
  'legacy/build/pdf.worker.min.mjs',
  'cmaps',
  'wasm',
  'iccs',
  'standard_fonts',
];
const CANVAS = 'exports.DOMMatrix = class {};\nexports.ImageData = class {};\nexports.Path2D = class {};\n';

export function vendorPdf() {
  const vendor = join(ROOT, 'dist', 'vendor');
  const stamp = join(vendor, '.made');
  const { version } = JSON.parse(
    readFileSync(join(ROOT, 'node_modules', 'pdfjs-dist', 'package.json'), 'utf8'),
  );
  const wanted = `${version}\n${readFileSync(import.meta.filename, 'utf8')}`;
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  rmSync(vendor, { recursive: true, force: true });
  for (const name of FILES)
    cpSync(join(ROOT, 'node_modules', 'pdfjs-dist', name), join(vendor, 'pdfjs-dist', name), {
      recursive: true,
    });
  for (const name of FILES.filter((file) => file.endsWith('.min.mjs'))) {
    const path = join(vendor, 'pdfjs-dist', name);
    const text = readFileSync(path);
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: text.length };
    writeFileSync(`${path}.br`, brotliCompressSync(text, { params }));
  }
  const canvas = join(vendor, 'node_modules', '@napi-rs', 'canvas');
  mkdirSync(canvas, { recursive: true });
  writeFileSync(join(canvas, 'package.json'), '{ "name": "@napi-rs/canvas", "main": "index.js" }\n');
  writeFileSync(join(canvas, 'index.js'), CANVAS);
  writeFileSync(stamp, wanted);
}

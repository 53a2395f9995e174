/**
 * Copies what the service runs and serves of pdf.js into dist/vendor/, a seventh of the package, so that the package
 * and its native canvas are needed by the build only. Page texts are read without a canvas: pdf.js asks for its classes
 * while it loads, and gets empty ones.
 */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

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
  rmSync(vendor, { recursive: true, force: true });
  for (const name of FILES)
    cpSync(join(ROOT, 'node_modules', 'pdfjs-dist', name), join(vendor, 'pdfjs-dist', name), {
      recursive: true,
    });
  const canvas = join(vendor, 'node_modules', '@napi-rs', 'canvas');
  mkdirSync(canvas, { recursive: true });
  writeFileSync(join(canvas, 'package.json'), '{ "name": "@napi-rs/canvas", "main": "index.js" }\n');
  writeFileSync(join(canvas, 'index.js'), CANVAS);
}

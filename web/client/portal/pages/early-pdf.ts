/** Loads pdf.js, the largest of all files of a page, as soon as the picture of the first page is there; selects one of its two builds. */
import { createElement, delay, findElement } from '../../dom.ts';
import type { LoadedLibrary, PdfLibrary } from '../pdf-library.ts';

/** Features of the modern build that browsers older than about a year lack; the legacy build polyfills them. */
function isNew(): boolean {
  const has = (owner: object, name: string) => name in owner;
  return (
    has(Promise, 'try') &&
    has(Promise, 'withResolvers') &&
    has(URL, 'parse') &&
    has(Math, 'sumPrecise') &&
    has(Uint8Array, 'fromBase64') &&
    has(Uint8Array.prototype, 'toHex') &&
    has(Map.prototype, 'getOrInsertComputed')
  );
}

function address(path: string): string {
  return new URL(path, import.meta.url).href;
}

/** Time for which the library waits for the picture of the first page, milliseconds. */
const MAX_PICTURE_MS = 5_000;

/** The picture of the first page shares a slow network with nothing: it has a tenth of the bytes of the library. */
async function firstPicture(): Promise<void> {
  const asked = findElement('link[rel="preload"][as="image"]', HTMLLinkElement);
  if (asked === undefined) return;
  const late = new Promise<void>((resolve) => delay(MAX_PICTURE_MS, resolve));
  await Promise.race([createElement('img', { src: asked.href }).decode(), late]).catch(() => undefined);
}

async function load(): Promise<LoadedLibrary> {
  await firstPicture();
  const old = isNew() ? '' : 'old-';
  // Started before the library is there, so that both are loaded at the same time.
  const worker = new Worker(address(`${old}pdf.worker.min.mjs`), { type: 'module' });
  const workerFailed = new Promise<never>((_, reject) => {
    worker.addEventListener('error', () => reject(new Error('The worker of pdf.js was not loaded.')));
  });
  workerFailed.catch(() => undefined);
  const usesFonts = import(address('font-probe.js'))
    .then((probe: { canUseFonts(): Promise<boolean> }) => probe.canUseFonts())
    .catch(() => false);
  const pdf = (await import(address(`${old}pdf.min.mjs`))) as PdfLibrary;
  pdf.GlobalWorkerOptions.workerPort = worker;
  return { pdf, usesFonts: await usesFonts, workerFailed };
}

export const library = load();
// Who opens a file reports it.
library.catch(() => undefined);

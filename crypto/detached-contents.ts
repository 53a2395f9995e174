/** Matches a detached signature with its content among several files: by name in XML, by digest in CMS. */
import { basename } from 'node:path';
import { inspectCades } from './cades/validate.ts';
import type { Source } from './files/source.ts';
import { type FileSignatures, UNUSED_CONTENT } from './validation/signature-info.ts';
import { type ContentFinder, inspectXades, type SignedContent } from './xades/validate.ts';

/** Inspects a CMS signature with the first file whose digest is the signed one. */
export function inspectCadesWithContents(source: Source, contents: readonly Source[]): FileSignatures {
  const [first, ...more] = contents;
  if (first === undefined) return inspectCades(source);
  let inspected = inspectCades(source, { content: first });
  if (more.length === 0) return inspected;
  for (const content of more) {
    if (hasContent(inspected)) break;
    const other = inspectCades(source, { content });
    if (hasContent(other)) inspected = other;
  }
  // The signature is over at most one of them.
  return { ...inspected, findings: [...inspected.findings, unused(more.length)] };
}

function hasContent({ signatures }: FileSignatures): boolean {
  return signatures.some(({ findings }) =>
    findings.some(({ type, status }) => type === 'digest.content' && status === 'passed'),
  );
}

/** Inspects an XML signature whose references name its files; other files are ignored. */
export function inspectXadesWithContents(source: Source, contents: readonly Source[]): FileSignatures {
  const [first, ...more] = contents;
  if (first === undefined) return inspectXades(source);
  const used = new Set<SignedContent>();
  const content: ContentFinder = (uri) => (uri === undefined ? undefined : contentNamedBy(uri, contents));
  const inspected = inspectXades(source, { content: more.length === 0 ? first : content, used });
  const left = contents.length - used.size;
  if (left === 0) return inspected;
  const finding = more.length === 0 ? UNUSED_CONTENT : unused(left);
  return { ...inspected, findings: [...inspected.findings, finding] };
}

function unused(count: number) {
  return { ...UNUSED_CONTENT, message: `No signature is over ${count} of the files given beside it.` };
}

/** Returns the one file whose path ends with the reference; else the one whose name is its last segment. */
function contentNamedBy(uri: string, contents: readonly Source[]): Source | undefined {
  const path = decoded(uri.split(/[?#]/, 1)[0] ?? '').replace(/^\.\//, '');
  const whole = contents.filter((content) => content.path === path || content.path.endsWith(`/${path}`));
  const named = contents.filter((content) => basename(content.path) === basename(path));
  const [found, another] = whole.length > 0 ? whole : named;
  return another === undefined ? found : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

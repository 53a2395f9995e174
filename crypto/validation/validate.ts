/** One door to validation: a file and what is trusted in, a report with reasons out. */
import { asicFacts, mayBeContainer } from '../asic/facts.ts';
import { cadesFacts } from '../cades/facts.ts';
import { joinEvidence } from '../cms/facts-evidence.ts';
import { openSource, type Source } from '../files/source.ts';
import { padesFacts } from '../pades/validate.ts';
import { Work } from '../work.ts';
import { xadesFacts } from '../xades/validate.ts';
import type { FileFacts } from './facts.ts';
import { judgeFile } from './judge-file.ts';
import { gatherFor, isOpen } from './online.ts';
import type { ValidationReport } from './report.ts';
import type { ValidationRequest } from './trust.ts';
import { UNUSED_CONTENT } from './unused-content.ts';

export interface ValidateFileRequest extends ValidationRequest {
  /** A container is known by its first bytes where `Cades` or `Xades` is said, neither of which begins so. */
  readonly format: ValidationReport['format'];
  /** Path of the signed file, or of the signature when it is detached. Read afresh from disk. */
  readonly path: string;
  /** Path of what a detached signature is over. */
  readonly content?: string;
}

/**
 * Everything there is to say about the signatures of one file. Bad bytes and bad signatures are a report, never an
 * exception. When `trust.online` is given and what the file embeds leaves something open, it is asked once.
 * @throws {CryptoError} `input.unreadable`, `input.changed`, `input.too-large`; `certificate.malformed` for a trust
 *   anchor that can't be read
 */
export async function validateFile(request: ValidateFileRequest): Promise<ValidationReport> {
  const { format, facts } = factsOf(request);
  const { trust } = request;
  const report = judgeFile(format, facts, request);
  const open = report.signatures.some(({ results }) => isOpen(results));
  if (trust.online === undefined || trust.revocation === 'none' || !open) return report;
  const { evidence, signatures } = await gatherFor(facts.signatures, report.signatures, trust.online);
  const known = trust.evidence === undefined ? evidence : joinEvidence(trust.evidence, evidence);
  return judgeFile(format, { ...facts, signatures }, { ...request, trust: { ...trust, evidence: known } });
}

/** Opens the files, and closes them again before anybody is asked. */
function factsOf({ format: said, path, content }: ValidateFileRequest): {
  readonly format: ValidationReport['format'];
  readonly facts: FileFacts;
} {
  const sources: Source[] = [];
  try {
    const open = (name: string): Source => {
      const source = openSource(name);
      sources.push(source);
      return source;
    };
    const source = open(path);
    const beside = content === undefined ? {} : { content: open(content) };
    const format = said !== 'Pades' && mayBeContainer(source) ? 'Asic' : said;
    const facts = READ[format](source, beside);
    for (const one of sources) one.assertUnchanged();
    const findings = [
      ...facts.findings,
      ...(beside.content && HOLDS_ITS_CONTENT[format] ? [UNUSED_CONTENT] : []),
    ];
    return { format, facts: { work: Work.forFile(source.size), ...facts, findings } };
  } finally {
    for (const source of sources) source.close();
  }
}

/** Formats whose signatures are over nothing outside of the file. */
const HOLDS_ITS_CONTENT: { readonly [format in ValidationReport['format']]: boolean } = {
  Asic: true,
  Pades: true,
  Cades: false,
  Xades: false,
};

type Reader = (source: Source, beside: { readonly content?: Source }) => FileFacts;

const READ: { readonly [format in ValidationReport['format']]: Reader } = {
  Asic: asicFacts,
  Pades: (source) => padesFacts(source),
  Cades: cadesFacts,
  Xades: (source, beside) => xadesFacts(source, { ...beside, contentCounts: beside.content !== undefined }),
};

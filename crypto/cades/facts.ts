/** What is to be found out about a CAdES file: enveloping or detached, in DER, BER or PEM, of any size (EN 319 122-1). */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { Asn1Error } from '../asn1/error.ts';
import { cmsFacts } from '../cms/facts.ts';
import type { HashName } from '../cms/hashes.ts';
import type { Source } from '../files/source.ts';
import { CryptoError } from '../types.ts';
import type { FileFacts, Finding, SignatureFacts } from '../validation/facts.ts';
import { armoredSource, isArmored } from './armor-reader.ts';
import { type ContentFacts, type Detached, detachContent } from './detach.ts';

export interface CadesFactsOptions {
  /** What a detached signature is over. */
  readonly content?: Source;
}

/**
 * Reads the file once, and its content again only for a digest that it didn't announce. Bad bytes are findings.
 * @throws {CryptoError} `input.unreadable`, `input.changed`
 */
export function cadesFacts(file: Source, { content }: CadesFactsOptions = {}): FileFacts {
  const read = readable(() => {
    const source = isArmored(file) ? armoredSource(file) : file;
    return { source, detached: detachContent(source) };
  });
  if ('because' in read) return { signatures: [], findings: [unreadable(read.because)] };
  const { source, detached } = read;
  const digests = new ContentDigests(source, detached, content);
  const signatures = cmsFacts(detached.der, {
    format: 'Cades',
    scope: digests.scope,
    signingTime: 'present',
    contentDigest: (hash) => digests.of(hash),
  });
  const findings = content === undefined ? [] : digests.compare();
  return { signatures, findings };
}

/** Digests of the signed content, wherever it is. */
class ContentDigests {
  readonly scope: SignatureFacts['scope'];
  readonly #source: Source;
  readonly #inside: ContentFacts | undefined;
  readonly #beside: Source | undefined;
  readonly #made: Map<HashName, Buffer>;

  constructor(source: Source, { content }: Detached, beside: Source | undefined) {
    this.#source = source;
    this.#inside = content;
    this.#beside = beside;
    this.#made = new Map(content?.digests);
    const description =
      content === undefined ? nameOf(beside) : `the content inside, ${content.length} bytes`;
    this.scope = { kind: 'content', description };
  }

  /** Undefined when the content is not at hand. */
  of(hash: HashName): Buffer | undefined {
    let digest = this.#made.get(hash);
    if (digest === undefined) {
      digest = this.#inside === undefined ? digestOf(this.#beside, hash) : this.#again(hash);
      if (digest !== undefined) this.#made.set(hash, digest);
    }
    return digest;
  }

  /** Who names a file beside a signature that holds its content has to be told when they differ. */
  compare(): Finding[] {
    const inside = this.#inside?.digests.get('sha256');
    if (inside === undefined) return [];
    const same = digestOf(this.#beside, 'sha256')?.equals(inside) === true;
    return [
      {
        status: same ? 'passed' : 'failed',
        type: 'content.given',
        message: same
          ? 'The given content is the one inside the signature.'
          : 'The signature holds other content than the given one.',
        ...(same ? {} : { subIndication: 'HASH_FAILURE' }),
      },
    ];
  }

  #again(hash: HashName): Buffer | undefined {
    return detachContent(this.#source, { digests: [hash] }).content?.digests.get(hash);
  }
}

function nameOf(beside: Source | undefined): string {
  return beside === undefined ? 'content that is not at hand' : basename(beside.path);
}

function digestOf(source: Source | undefined, hash: HashName): Buffer | undefined {
  if (source === undefined) return undefined;
  const made = createHash(hash);
  for (const piece of source.chunks()) made.update(piece);
  return made.digest();
}

function readable<T extends object>(read: () => T): T | { readonly because: string } {
  try {
    return read();
  } catch (error) {
    if (error instanceof Asn1Error) return { because: `${error.message}.` };
    if (error instanceof CryptoError && error.code === 'cms.malformed') return { because: error.message };
    throw error;
  }
}

function unreadable(because: string): Finding {
  return {
    status: 'failed',
    type: 'structure.cms',
    message: `This is no CMS signature: ${because}`,
    subIndication: 'FORMAT_FAILURE',
  };
}

/** DistributionPoint (RFC 5280 §4.2.1.13, §5.2.5): names under which a CA publishes partial revocation lists. */
import { Asn1Error, Cursor, contents, type Element, enter, readWhole, TAG } from '../asn1/read.ts';
import { sequence, tlv } from '../asn1/write.ts';
import { elementsOf } from './extension-values.ts';
import { type GeneralName, httpUrls, nameKey, readGeneralNames } from './names.ts';

/** DistributionPointName: full names, or a name relative to the issuer of the CRL. */
interface PointName {
  readonly full: readonly GeneralName[];
  /** Content of the RelativeDistinguishedName. */
  readonly relative: Buffer | undefined;
}

export interface CrlPoint {
  /** Undefined: the CRL issuer alone identifies the point. */
  readonly name: PointName | undefined;
  /** Bits of ReasonFlags, the first one highest; undefined: all. */
  readonly reasons: number | undefined;
  /** DER of the names of its CRL issuers; empty: the issuer of the certificate. */
  readonly crlIssuers: readonly Buffer[];
}

/** All reasons of a list: bits 1 to 8; bit 0 is unused. */
export const ALL_REASONS = 0x7f80;
/** ReasonFlags certificateHold (RFC 5280 §4.2.1.13). */
export const HOLD_REASON = 0x0200;

/**
 * Reads cRLDistributionPoints. @throws {Asn1Error}
 *     CRLDistributionPoints ::= SEQUENCE OF DistributionPoint
 *     DistributionPoint ::= SEQUENCE {
 *      distributionPoint  [0] EXPLICIT DistributionPointName OPTIONAL,
 *      reasons            [1] IMPLICIT ReasonFlags OPTIONAL,
 *      cRLIssuer          [2] IMPLICIT GeneralNames OPTIONAL }
 */
export function readCrlPoints(value: Element): CrlPoint[] {
  return elementsOf(value).map((point) => {
    const fields = enter(point, TAG.sequence);
    const name = fields.nextIf(TAG.context0Constructed);
    const reasons = fields.nextIf(0x81);
    const issuers = fields.nextIf(0xa2);
    fields.end();
    return {
      name: name === undefined ? undefined : readPointName(name),
      reasons: reasons === undefined ? undefined : readReasonFlags(reasons),
      crlIssuers: (issuers === undefined ? [] : readGeneralNames(issuers)).flatMap((one) =>
        one.kind === 'directory' ? [one.name] : [],
      ),
    };
  });
}

/**
 * Reads a DistributionPointName. @param element the [0] around the choice. @throws {Asn1Error}
 *     DistributionPointName ::= CHOICE {
 *      fullName                 [0] IMPLICIT GeneralNames,
 *      nameRelativeToCRLIssuer  [1] IMPLICIT RelativeDistinguishedName }
 */
export function readPointName(element: Element): PointName {
  const cursor = new Cursor(element);
  const full = cursor.nextIf(TAG.context0Constructed);
  if (full !== undefined) return { full: readGeneralNames(full), relative: undefined };
  const relative = cursor.nextIf(TAG.context1Constructed);
  if (relative === undefined) throw new Asn1Error('a distribution point has no name', element.start);
  return { full: [], relative: contents(relative) };
}

/** Returns the BIT STRING as a number. */
export function readReasonFlags(element: Element): number {
  const [, first = 0, second = 0] = contents(element);
  return ((first << 8) | second) & ALL_REASONS;
}

/** Returns the addresses of points without a separate CRL issuer. */
export function pointUrls(points: readonly CrlPoint[]): string[] {
  return points.flatMap(({ name, reasons, crlIssuers }) =>
    reasons === undefined && crlIssuers.length === 0 ? httpUrls(name?.full ?? []) : [],
  );
}

/** Returns keys that are equal for matching names. @param issuer DER of the name that completes relative ones */
export function comparableNames({ full, relative }: PointName, issuer: Buffer): string[] {
  if (relative !== undefined) return [directory(completed(issuer, relative))];
  return full.flatMap((name) =>
    name.kind === 'directory' ? [directory(name.name)] : name.kind === 'uri' ? [`uri ${name.text}`] : [],
  );
}

export function directory(name: Buffer): string {
  return `directory ${nameKey(name)}`;
}

function completed(issuer: Buffer, relative: Buffer): Buffer {
  return sequence(contents(readWhole(issuer)), tlv(TAG.set, relative));
}

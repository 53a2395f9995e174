/** Times in ASN.1, always UTC and in whole seconds (RFC 5280 §4.1.2.5). */
import { Asn1Error, contents, type Element, TAG } from './read.ts';
import { tlv } from './write.ts';

/** End of the range of UTCTime: 2050-01-01T00:00:00Z, milliseconds since the epoch. */
const UTC_TIME_ENDS = Date.UTC(2050, 0, 1);
const UTC_TIME_STARTS = Date.UTC(1950, 0, 1);

/** True when RFC 5280 §4.1.2.5 encodes a time as UTCTime. */
export function fitsUtcTime(at: number): boolean {
  return at >= UTC_TIME_STARTS && at < UTC_TIME_ENDS;
}

/** Formats a time in milliseconds since the epoch as `YYYYMMDDHHMMSSZ`; drops the fraction of the second. */
export function timeText(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`;
}

/**
 * Encodes a Time (RFC 5280 §4.1.2.5): UTCTime for the years 1950 to 2049, GeneralizedTime for all others.
 *     Time ::= CHOICE { utcTime UTCTime, generalTime GeneralizedTime }
 */
export function time(at: number): Buffer {
  const text = timeText(at);
  return fitsUtcTime(at)
    ? tlv(TAG.utcTime, Buffer.from(text.slice(2), 'latin1'))
    : tlv(TAG.generalizedTime, Buffer.from(text, 'latin1'));
}

const FIELDS = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/;

/** Reads a Time; returns milliseconds since the epoch. @throws {Asn1Error} for anything but whole seconds in UTC */
export function readTime(element: Element): number {
  let text = contents(element).toString('latin1');
  if (element.tag === TAG.utcTime) text = (Number(text.slice(0, 2)) < 50 ? '20' : '19') + text;
  else if (element.tag !== TAG.generalizedTime) throw new Asn1Error('expected a time', element.start);
  const fields = FIELDS.exec(text);
  if (fields === null) throw new Asn1Error('time is not whole seconds in UTC', element.start);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = fields.slice(1).map(Number);
  const at = Date.UTC(year, month - 1, day, hour, minute, second);
  if (timeText(at) !== text) throw new Asn1Error('no such time', element.start);
  return at;
}

/**
 * Reads a GeneralizedTime that may have a fraction of the second (RFC 3161 §2.4.2); cuts it below a millisecond.
 * @throws {Asn1Error}
 */
export function readFractionalTime(element: Element): number {
  if (element.tag !== TAG.generalizedTime) throw new Asn1Error('expected a time', element.start);
  const found = /^(\d{14})\.(\d{1,9})Z$/.exec(contents(element).toString('latin1'));
  if (found === null) return readTime(element);
  const [, seconds = '', fraction = ''] = found;
  const bytes = Buffer.from(`${seconds}Z`, 'latin1');
  const whole = { bytes, tag: element.tag, start: 0, from: 0, to: bytes.length, next: bytes.length };
  return readTime(whole) + Number(fraction.slice(0, 3).padEnd(3, '0'));
}

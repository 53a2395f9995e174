/** SigningTime is an xs:dateTime (EN 319 132-1 §5.2.1). */
const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)?$/;

export interface ClaimedTime {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** False: the text has no time zone, and UTC is assumed. */
  readonly zoned: boolean;
}

/** Parses an xs:dateTime; undefined for anything that is not a time between the years 0 and 9999. */
export function parseDateTime(text: string): ClaimedTime | undefined {
  const found = DATE_TIME.exec(text);
  if (found === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', zone] = found;
  const at = Date.parse(
    `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction.slice(0, 4)}${zone ?? 'Z'}`,
  );
  return Number.isNaN(at) ? undefined : { at, zoned: zone !== undefined };
}

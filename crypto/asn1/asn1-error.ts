/** Malformed or unexpected ASN.1. Callers turn it into the error code of the structure they read. */
export class Asn1Error extends Error {
  readonly code = 'asn1.malformed';
  /** Offset of the element in the buffer being read, in bytes. */
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(`${message} (at byte ${offset})`);
    this.name = 'Asn1Error';
    this.offset = offset;
  }
}

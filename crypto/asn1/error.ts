/** Bytes that are not the ASN.1 they should be. Callers turn it into the code of what they were reading. */
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

/** Reads certificate files: PEM, DER, and CMS without a signer (.p7b, .p7c). */
import { Asn1Error } from '../asn1/asn1-error.ts';
import { encoded, readElement } from '../asn1/read.ts';
import { CryptoError } from '../core/types.ts';
import { readableCertificates } from '../x509/certificate.ts';
import { certificatesIn } from '../x509/pem.ts';
import { parseSignedData } from './parse.ts';

const PKCS7 = /-----BEGIN (PKCS7|CMS)-----([A-Za-z0-9+/=\s]+)-----END \1-----/;

/** Returns the DER of every readable certificate in one file; empty when there is none. */
export function certificatesInBundle(file: Buffer): readonly Buffer[] {
  const plain = certificatesIn(file).flatMap(readableCertificates);
  if (plain.length > 0) return plain.map(({ der }) => der);
  const armoured = PKCS7.exec(file.toString('latin1'))?.[2];
  const bytes = armoured === undefined ? file : Buffer.from(armoured, 'base64');
  try {
    const { certificates } = parseSignedData(encoded(readElement(bytes)));
    return certificates.flatMap(readableCertificates).map(({ der }) => der);
  } catch (error) {
    if (error instanceof Asn1Error || error instanceof CryptoError) return [];
    throw error;
  }
}

const BLOCK = /-----BEGIN (?:X509 )?CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END (?:X509 )?CERTIFICATE-----/g;

/**
 * Returns the DER of each certificate in a file that is PEM (with any text around the blocks) or one DER certificate.
 */
export function certificatesIn(file: Buffer): Buffer[] {
  const blocks = [...file.toString('latin1').matchAll(BLOCK)];
  if (blocks.length === 0) return file[0] === 0x30 ? [file] : [];
  return blocks.map(([, base64 = '']) => Buffer.from(base64, 'base64'));
}

/** Formats one DER certificate as PEM, lines of 64 characters (RFC 7468 §5). */
export function certificatePem(der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

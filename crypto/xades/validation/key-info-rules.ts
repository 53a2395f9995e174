/**
 * Rules of what ds:KeyInfo says beside certificates, closed (XML Signature 1.1 §4.5). Nothing signs it, and programs show
 * it: what the table does not name, and what names another signer, is named in the report.
 */
import { childrenOf, contents, readWhole } from '../../asn1/read.ts';
import { type Finding, warned } from '../../core/validation-report.ts';
import type { Certificate } from '../../x509/certificate.ts';
import { DS, DSIG11 } from '../elements/identifiers.ts';
import { serialText } from '../elements/signature-text.ts';
import { printable } from './reference-data.ts';
import { base64Of, childrenNamed, FormFault, type SignatureNode } from './signature-node.ts';
import { isNameText } from './signer-certificate.ts';

/** True when the element agrees with one of the certificates. */
type Agreement = (node: SignatureNode, certificates: readonly Certificate[]) => boolean;

/** Read elsewhere. */
const isMaterial: Agreement = () => true;

/** By parent and local name, in the namespace of XML Signature. */
export const KEY_INFO_RULES: {
  readonly [parent in 'KeyInfo' | 'X509Data']: { readonly [local: string]: Agreement };
} = {
  KeyInfo: {
    X509Data: isMaterial,
    KeyValue: (node, certificates) => certificates.some((certificate) => isKeyOf(node, certificate)),
  },
  X509Data: {
    X509Certificate: isMaterial,
    X509CRL: isMaterial,
    X509SubjectName: ({ text }, certificates) =>
      certificates.some(({ subject }) => isNameText(text, subject)),
    X509IssuerSerial: (node, certificates) => {
      const [serial] = childrenNamed(node, DS, 'X509SerialNumber');
      const text = serial?.text.trim().replace(/^0+(?=\d)/, '');
      return certificates.some((certificate) => serialText(certificate) === text);
    },
    X509SKI: (node, certificates) =>
      certificates.some(({ subjectKeyId }) => subjectKeyId?.equals(base64Of(node)) === true),
  },
};

/** Most names in the message. */
const MAX_LISTED = 10;

/** Warning `certificate.key-info`; none without a certificate, which has a finding of its own. */
export function keyInfoWarnings(
  keyInfo: SignatureNode | undefined,
  certificates: readonly Certificate[],
): Finding[] {
  if (certificates.length === 0) return [];
  const said = [
    ...strange('KeyInfo', keyInfo, certificates),
    ...childrenNamed(keyInfo, DS, 'X509Data').flatMap((data) => strange('X509Data', data, certificates)),
  ];
  if (said.length === 0) return [];
  const message = 'KeyInfo says more of the signer than the certificate. Nothing signs or proves it.';
  return [warned('certificate.key-info', message, [...new Set(said)].slice(0, MAX_LISTED).join(', '))];
}

function strange(
  parent: keyof typeof KEY_INFO_RULES,
  node: SignatureNode | undefined,
  certificates: readonly Certificate[],
): string[] {
  const rules = KEY_INFO_RULES[parent];
  return (node?.children ?? []).flatMap((child) => {
    const { namespace, local } = child;
    const agrees = namespace === DS && Object.hasOwn(rules, local) ? rules[local] : undefined;
    return agrees !== undefined && isAgreed(() => agrees(child, certificates)) ? [] : [printable(local)];
  });
}

/** False for what cannot be read. */
function isAgreed(compare: () => boolean): boolean {
  try {
    return compare();
  } catch (error) {
    if (error instanceof FormFault) return false;
    throw error;
  }
}

/** Compares RSAKeyValue { Modulus, Exponent } or ECKeyValue { …, PublicKey } with a key; others are not compared. */
function isKeyOf(keyValue: SignatureNode, { publicKey, publicKeyBits }: Certificate): boolean {
  const bytesOf = (list: SignatureNode | undefined, namespace: string, local: string): Buffer | undefined => {
    const [found] = childrenNamed(list, namespace, local);
    return found && base64Of(found);
  };
  switch (publicKey.asymmetricKeyType) {
    case 'rsa': {
      const [list] = childrenNamed(keyValue, DS, 'RSAKeyValue');
      const numbers = childrenOf(readWhole(publicKeyBits)).map((number) => withoutZeros(contents(number)));
      return ['Modulus', 'Exponent'].every((local, index) => {
        const value = bytesOf(list, DS, local);
        return value !== undefined && numbers[index]?.equals(withoutZeros(value)) === true;
      });
    }
    case 'ec': {
      const [list] = childrenNamed(keyValue, DSIG11, 'ECKeyValue');
      return bytesOf(list, DSIG11, 'PublicKey')?.equals(publicKeyBits) === true;
    }
    default:
      return false;
  }
}

function withoutZeros(number: Buffer): Buffer {
  const first = number.findIndex((octet) => octet !== 0);
  return number.subarray(Math.max(first, 0));
}

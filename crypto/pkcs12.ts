/** Reader of PKCS#12 containers, and the shown names of their holders, for browsers too; the caller passes the cryptographic functions. */
export type { CipherName, HashName, Pkcs12Primitives } from './pkcs12/password-derivation.ts';
export { type Pkcs12Contents, Pkcs12Error, type Pkcs12Fault, readPkcs12 } from './pkcs12/pkcs12-reader.ts';
export { shownName } from './x509/display-name.ts';

/** Reader of PKCS#12 containers, which runs in browsers too; the caller passes the cryptographic functions. */
export type { CipherName, HashName, Pkcs12Primitives } from './pkcs12/password-derivation.ts';
export { type Pkcs12Contents, Pkcs12Error, type Pkcs12Fault, readPkcs12 } from './pkcs12/pkcs12-reader.ts';

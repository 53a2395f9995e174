/** Signing profiles for the real program: certificates in files, settings as command-line words. */
import { X509Certificate } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { keyPemOf, type TestSigner } from '../../pki/pki.ts';

export type Settings = Readonly<Record<string, string | number | boolean>>;

/** Settings of the `index`th profile, whose certificate and key are written to `folder`. */
export async function localProfile(
  folder: string,
  index: number,
  {
    name,
    signer,
    members,
  }: { readonly name: string; readonly signer: TestSigner; readonly members: Settings },
): Promise<Settings> {
  const certificate = join(folder, `${name}.crt.pem`);
  const key = join(folder, `${name}.key.pem`);
  const chain = [signer.certificate, ...signer.chain];
  await writeFile(certificate, chain.map((der) => `${new X509Certificate(der)}`).join(''));
  await writeFile(key, keyPemOf(signer.key.keyObject), { mode: 0o600 });
  return profile(index, {
    Name: name,
    'Certificate:Source': 'Pem',
    'Certificate:Pem:CertificatePath': certificate,
    'Certificate:Pem:KeyPath': key,
    ...members,
  });
}

export function profile(index: number, members: Settings): Settings {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [`Signing:Profiles:${index}:${name}`, value]),
  );
}
